#include "repository/python/survey.hpp"

#include <set>

#include <fmt/format.h>

#include "base/text.hpp"

namespace hone::repository::python {

void Survey::make() {
  builds_.learn_shipped();
  probe_memory_of_programs();
}

// More programs mean more partial results. Values that need more memory than a variant may are no use to anybody: they are
// left out of the sweep, by one measurement each at the largest size.
void Survey::probe_memory_of_programs() {
  if (memory_probed_ || implementations_.interpreted() || cases_.sizes().empty()) return;
  memory_probed_ = true;
  constexpr double kMostMemory = 1.05;  // the guardrail of optimize
  const std::string x = cases_.size_names().back();
  auto before = timings_.memory_of(kOriginal, x);
  if (!before || !(before->peak_over_inputs_mb > 0)) return;
  for (const Knob& knob : knobs_.knobs()) {
    if (knob.name != kProgramsKnob) continue;
    std::vector<model::Settings> each;
    for (const std::int64_t value : knob.values) {
      model::Settings settings = knobs_.shipped(knob.pass, x);
      if (value == 1 || settings.empty()) continue;
      settings[kProgramsKnob] = value;
      each.push_back(std::move(settings));
    }
    builds_.build_ahead(knob.pass, std::vector<std::string>(each.size(), x), each);
    for (const model::Settings& settings : each) {
      auto implementation = variants_.implementation_with(knob.pass, x, settings);
      if (!implementation) continue;
      auto after = timings_.memory_of(*implementation, x);
      if (after && after->peak_over_inputs_mb > kMostMemory * before->peak_over_inputs_mb)
        knobs_.leave_out(knob.pass, settings.at(kProgramsKnob),
                         after->peak_over_inputs_mb / before->peak_over_inputs_mb);
    }
  }
}

// Whether a knob does anything shows at any size. At the largest its extreme values, which no sweep would try there, take
// longer to compile than everything else of the profile (rms_norm, one warp for 16384 columns: half a minute).
void Survey::judge_liveness(const Knob& knob, model::Parameter& parameter) {
  const std::vector<std::string> sizes = cases_.size_names();
  const std::string x = sizes[sizes.size() / 2];
  std::vector<model::Settings> each;
  for (const std::int64_t value : knob.values) {
    each.push_back(knobs_.shipped(knob.pass, x));
    each.back()[knob.name] = value;
  }
  builds_.build_ahead(knob.pass, std::vector<std::string>(each.size(), x), each);
  std::set<std::string> codes, launches;
  int tried = 0;
  for (const model::Settings& settings : each) {
    auto part = builds_.build_settings(knob.pass, x, settings);
    if (!part) continue;
    codes.insert(part->machine_code_hash);
    launches.insert(part->machine_code_hash + part->launch_hash);
    ++tried;
  }
  if (tried > 1) parameter.live = launches.size() > 1 ? model::Liveness::live : model::Liveness::dead;
  parameter.live_evidence =
      tried > 1 ? fmt::format("{} values give {} distinct machine codes and {} distinct launches at {} = {}", tried,
                              codes.size(), launches.size(), cases_.x_name(), x)
                : fmt::format("{} of its values could be built at {} = {}", tried, cases_.x_name(), x);
}

model::Parameter Survey::parameter_of(const Knob& knob) {
  model::Parameter parameter;
  parameter.name = fmt::format("{} ({})", knob.name, knob.pass);
  parameter.how_set = model::HowSet::settings_function;
  parameter.notes = knob.help;
  if (knob.name == kProgramsKnob)
    for (const auto& [value, ratio] : knobs_.left_out(knob.pass))
      parameter.notes += fmt::format("; {} needs {:.2f} x the memory and is left out", value, ratio);
  std::vector<std::string> values;
  std::set<std::int64_t> different;
  for (const std::string& x : cases_.size_names()) {
    const model::Settings shipped = knobs_.shipped(knob.pass, x);
    const auto value = shipped.find(knob.name);
    if (value == shipped.end()) continue;
    values.push_back(fmt::format("{}: {}", x, value->second));
    different.insert(value->second);
  }
  parameter.value = different.size() == 1 ? std::to_string(*different.begin()) : base::join_text(values, ", ");
  judge_liveness(knob, parameter);
  return parameter;
}

void Survey::add_to(model::Configuration& configuration) {
  make();
  const std::string largest = cases_.size_names().back();
  for (const Knob& knob : knobs_.knobs()) configuration.parameters.push_back(parameter_of(knob));
  for (const std::string& pass : cases_.passes()) {
    const BuiltPart* part = builds_.original(pass, largest);
    if (!part) continue;
    model::Parameter registers;
    registers.name = fmt::format("registers a thread ({})", pass);
    registers.value = std::to_string(part->registers_per_thread);
    registers.notes = fmt::format("{} bytes spilled, {} bytes of instructions, at {} = {}", part->spill_bytes,
                                  part->code_bytes, cases_.x_name(), largest);
    registers.how_set = model::HowSet::default_value;
    registers.live_evidence = "of the compiled kernel";
    configuration.parameters.push_back(std::move(registers));
  }
}

}  // namespace hone::repository::python
