// A repository for tests: one kernel whose true speed is known to the test and hidden from the stage, on a clock moved by hand.
// Times carry noise, dead knobs change nothing, gates and compilers answer as told, and production is a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "repository/repository.hpp"

namespace hone::test {

// What a variant's source text does. Texts that are not described behave as the original does.
struct SourceBehaviour {
  double forward_factor = 1, backward_factor = 1;  // of the time
  double memory_factor = 1;
  bool compiles = true, runs = true;
  bool same_code = false;                   // the compiler makes the original's machine code of it
  std::string smoke_failure, full_failure;  // empty: the gate passes
};

struct FakeWorld {
  explicit FakeWorld(base::FileSystem& file_system) : files(file_system) {}

  base::FileSystem& files;
  base::ManualClock clock;
  std::string kernel = "rms_norm", x_name = "hidden_size", device_name = "Test CPU";
  std::vector<std::string> sizes = {"1024", "2048", "4096"}, held_out = {"1536", "3072"};
  std::vector<std::string> modes = {"forward", "backward", "full"};
  std::vector<repository::Knob> knobs;
  std::set<std::string> dead_knobs;
  std::vector<std::string> coupled;
  // True time in ms of one pass at one size.
  std::function<double(const std::string& pass, std::int64_t x, const model::Settings& settings)> time_ms;
  std::function<model::Settings(const std::string& pass, std::int64_t x)> shipped;
  std::function<bool(const std::string& pass, std::int64_t x, const model::Settings& settings)> valid;
  std::function<bool(const model::Settings& settings)> compiles;
  std::function<double(const std::string& pass, std::int64_t x)> floor_ms;
  // What a second look at the ceilings finds: floors are this factor of floor_ms from then on.
  double floor_of_second_look = 1;
  double ceiling_ms = 0;  // of the ceiling's program beside a kernel, at the ceilings; 0: there is none
  double noise = 0.003;   // standard deviation of log(time)
  std::map<std::string, SourceBehaviour> sources;                                            // by content of an edit
  std::map<std::string, std::vector<repository::Proposal>> proposals;                        // by strategy
  std::function<repository::GateResult(const model::Variant&, repository::GateLevel)> gate;  // overrules `sources`
  std::string production_file = "production/settings.json", production_source = "the original text\n";

  // What happened, in order: "sample forward 1024 v1", "build v1", "gate smoke v1"; documents add theirs.
  std::vector<std::string> events;
  std::atomic<int> settings_built{0};
  int samples = 0;
  std::function<void(int samples)> on_sample;  // to interrupt in the middle
  std::function<double(int samples)> load;     // factor on the time of the n-th sample: what else the machine does
  double eager_factor = 3;                     // of the shipped kernel's time
  // Whether a call fails: "build v2", "subject v2", "sample v2", "memory v2", "parts v2", and the same of a provider.
  std::function<bool(const std::string& call)> fails;
};

// The world as a session. `production_file` is written by an installation; source_hash() follows it and production_source.
std::unique_ptr<repository::Session> open_session(FakeWorld& world);

// Three knobs (ROWS, WIDTH, STREAM) and one dead one, an optimum that moves with the size, 30 % to gain.
void make_tunable(FakeWorld& world);

// A profile of the world as stage 1 would make it, without measuring: figures are the true ones.
model::Profile profile_of(FakeWorld& world, const std::vector<std::string>& strategies);

// A proposal that replaces the source by `text`.
repository::Proposal source_proposal(const FakeWorld& world, const std::string& text,
                                     const std::vector<model::Prediction>& predictions = {});

}  // namespace hone::test
