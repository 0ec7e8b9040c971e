#include "repository/python/timings.hpp"

#include <fmt/format.h>

namespace hone::repository::python {

namespace {

base::Error unknown_provider(const std::string& provider) {
  return {base::ErrorKind::usage, "a provider of an operator that Python calls: torch", "'" + provider + "'",
          "provider", "choose torch"};
}

class ImplementationSubject final : public measure::Subject {
 public:
  ImplementationSubject(std::string name, Timings& timings, std::string implementation, Cell cell)
      : name_(std::move(name)), timings_(timings), implementation_(std::move(implementation)), cell_(std::move(cell)) {}
  std::string name() const override { return name_; }
  base::Result<model::Sample> sample() override { return timings_.sample(implementation_, cell_); }

 private:
  std::string name_;
  Timings& timings_;
  std::string implementation_;
  Cell cell_;
};

}  // namespace

base::Result<model::Sample> Timings::sample(const std::string& implementation, const Cell& cell) {
  const auto held = implementations_.hold();
  HONE_TRY(spec, cases_.at(cell.x_value));
  HONE_TRY(reply, implementations_.ask(
                      implementation, [&](Worker& worker) { return worker.sample(implementation, *spec, cell.mode); }));
  auto& [with_gaps, all] = gaps_[cell.mode + " at " + cell.x_value];
  with_gaps += reply->blocked ? 1 : 0;
  ++all;
  // Work on another stream would go on after the timed one has ended. An idle device answers within a tenth of this.
  constexpr double kLongestEcho_ns = 1e6;
  if (reply->outside_ns > kLongestEcho_ns && reply->outside_ns > reply->sample.device_ns)
    return base::Error{base::ErrorKind::gate, "all work of the pass on the stream it was given",
                       fmt::format("the device was busy for {:.2f} ms after it", reply->outside_ns / 1e6),
                       cell.mode + " at " + cell.x_value, "the variant can not be timed"};
  return reply->sample;
}

base::Result<std::unique_ptr<measure::Subject>> Timings::subject_of(const std::string& name,
                                                                    const std::string& implementation,
                                                                    const Cell& cell) {
  HONE_PROPAGATE(implementations_.with(implementation));
  return std::unique_ptr<measure::Subject>(std::make_unique<ImplementationSubject>(name, *this, implementation, cell));
}

base::Result<std::unique_ptr<measure::Subject>> Timings::subject(const model::Variant& variant, const Cell& cell) {
  HONE_TRY(implementation, variants_.implementation_of(variant));
  return subject_of(variant.id.empty() ? kOriginal : variant.id, *implementation, cell);
}

base::Result<std::unique_ptr<measure::Subject>> Timings::subject_with(const Cell& cell,
                                                                      const model::Settings& settings) {
  HONE_TRY(implementation, variants_.implementation_with(cell.mode, cell.x_value, settings));
  return subject_of("settings", *implementation, cell);
}

base::Result<std::unique_ptr<measure::Subject>> Timings::provider_subject(const std::string& provider,
                                                                          const Cell& cell) {
  if (provider != kTorchProvider) return unknown_provider(provider);
  return subject_of(provider, kFormula, cell);
}

base::Result<std::optional<PassParts>> Timings::parts(const model::Variant& variant, const Cell& cell) {
  HONE_TRY(implementation, variants_.implementation_of(variant));
  HONE_TRY(spec, cases_.at(cell.x_value));
  constexpr int kSamples = 15;
  HONE_TRY(reply, implementations_.ask(*implementation, [&](Worker& worker) {
    return worker.parts(*implementation, *spec, cell.mode, kSamples);
  }));
  PassParts parts;
  parts.pass_ms = reply->device_ns / 1e6;
  parts.samples = kSamples;
  for (const auto& [name, ns] : reply->kernels) parts.kernels_ms.emplace_back(name, ns / 1e6);
  return std::optional(std::move(parts));
}

base::Result<MemoryUse> Timings::memory_of(const std::string& implementation, const std::string& x_value) {
  HONE_TRY(spec, cases_.at(x_value));
  auto reply =
      implementations_.ask(implementation, [&](Worker& worker) { return worker.memory(implementation, *spec); });
  if (!reply) return reply.error();
  return MemoryUse{reply->peak_bytes / 1e6, reply->saved_bytes / 1e6, (reply->peak_bytes + reply->input_bytes) / 1e6};
}

base::Result<MemoryUse> Timings::memory(const model::Variant& variant, const std::string& x_value) {
  HONE_TRY(implementation, variants_.implementation_of(variant));
  return memory_of(*implementation, x_value);
}

base::Result<MemoryUse> Timings::provider_memory(const std::string& provider, const std::string& x_value) {
  if (provider != kTorchProvider) return unknown_provider(provider);
  return memory_of(kFormula, x_value);
}

std::vector<std::string> Timings::cells_with_gaps() const {
  std::vector<std::string> cells;
  for (const auto& [cell, count] : gaps_)
    if (2 * count.first > count.second) cells.push_back(cell);
  return cells;
}

}  // namespace hone::repository::python
