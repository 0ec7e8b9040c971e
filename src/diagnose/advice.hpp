// Strategies and architecture advice as data: what each can do, on what, at what risk, and who says so.
#pragma once

#include <string>
#include <vector>

#include "model/device_info.hpp"
#include "model/values.hpp"

namespace hone::diagnose {

enum class Family { x86, arm, ampere, ada, hopper, blackwell, other_gpu, other_cpu };

// From compute capability, else from the architecture's name; `target_gpu` other than "auto" decides where it is set. A device of
// kind "none" is the GPU that a kernel is for and that is not here.
Family family_of(const model::DeviceInfo& device);
bool is_gpu(Family family);
const char* name_of(Family family);

// A stable word that knobs of a repository carry, with what it does on a processor and on a GPU.
struct Strategy {
  const char* word;
  const char* title;
  const char* on_cpu;  // how it can help, one sentence
  const char* on_gpu;
  const char* risk;
  const char* knobs;  // parts of knob names it turns, lower case, separated by spaces
};
const Strategy* find_strategy(const std::string& word);
const std::vector<Strategy>& all_strategies();

// Which strategies serve a class, best first. `limiter` moves the ones that lift it to the front.
std::vector<std::string> strategies_for(model::BottleneckClass cls, const std::vector<std::string>& limiters, bool gpu);

// Whether the limiter is one of those that the strategy lifts.
bool lifts(const std::string& strategy, const std::string& limiter);

struct Advice {
  Family family;
  const char* strategy;
  const char* text;
  const char* source;
};
std::vector<const Advice*> advice_for(Family family, const std::string& strategy);

}  // namespace hone::diagnose
