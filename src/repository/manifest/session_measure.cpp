// Tensors that stay on the device, the subjects that are timed on them, and their memory.
#include <algorithm>

#include <fmt/format.h>

#include "repository/launch_subject.hpp"
#include "repository/manifest/manifest_session.hpp"

namespace hone::repository::manifest {

namespace {

// Of a kernel's first run at a size that is measured: only one that hangs gets there.
constexpr std::int64_t untried_deadline_ns = 60'000'000'000;

base::Error no_provider(const std::string& provider) {
  return {base::ErrorKind::usage, "a provider of the manifest's repository: it has none", "'" + provider + "'",
          "provider", "leave it out"};
}

}  // namespace

base::Result<std::shared_ptr<ManifestSession::Resident>> ManifestSession::resident(const std::string& x_value) {
  for (auto it = residents_.begin(); it != residents_.end(); ++it)
    if (it->first == x_value) {
      std::rotate(it, it + 1, residents_.end());
      return residents_.back().second;
    }
  auto at = problem(x_value);
  if (!at) return at.error();
  auto tensors = tensors_of(*manifest_, *at);
  if (!tensors) return tensors.error();
  std::vector<ResidentSpec> specs;
  double needed = 0;
  std::uint64_t stream = 0;
  for (const Tensor& tensor : *tensors) {
    ++stream;
    ResidentSpec spec{tensor.name, static_cast<std::size_t>(tensor.elements), tensor.bytes(), std::nullopt, false};
    if (is_given(*manifest_, tensor.name)) {
      auto values = input_of(*manifest_, *at, *manifest_->find_tensor(tensor.name), request_.seed * 1000 + stream);
      if (!values) return values.error();
      spec.values = *values;
    }
    for (const PassDecl& pass : manifest_->passes) {
      const std::vector<std::string> overwritten = overwritten_in(pass);
      spec.restorable |= std::find(overwritten.begin(), overwritten.end(), tensor.name) != overwritten.end();
    }
    needed += static_cast<double>(tensor.bytes()) * (spec.restorable ? 2 : 1);
    specs.push_back(std::move(spec));
  }
  // Subjects keep the tensors they were made with; dropping one here frees it when its last subject goes.
  const double limit = 0.4 * static_cast<double>(context_.device.info().total_memory_bytes);
  while (!residents_.empty() && static_cast<double>(context_.device.allocated_bytes()) + needed > limit)
    residents_.erase(residents_.begin());
  auto placed = ResidentTensors::create(context_.device, specs);
  if (!placed) return placed.error();
  auto made = std::make_shared<Resident>(Resident{std::move(*at), std::move(*placed)});
  if (manifest_->passes.size() > 1) {
    // What forward leaves for backward is the same for every variant: the kernel in force writes it once.
    const PassDecl& forward = manifest_->passes.front();
    auto planned = plan({}, forward, made->problem);
    if (!planned) return planned.error();
    auto bound = bind(*planned, {}, made->tensors->views(), nullptr);
    if (!bound) return bound.error();
    if (auto ran = context_.device.run(bound->launches); !ran) return ran.error();
    const std::vector<std::string> by_forward = overwritten_in(forward);
    for (const std::string& tensor : overwritten_in(manifest_->passes.back()))
      if (std::find(by_forward.begin(), by_forward.end(), tensor) == by_forward.end())
        if (auto kept = made->tensors->keep(tensor); !kept) return kept.error();
    if (auto restored = made->tensors->restore(by_forward); !restored) return restored.error();
  }
  residents_.emplace_back(x_value, made);
  return made;
}

base::Result<std::unique_ptr<measure::Subject>> ManifestSession::make_subject(
    const std::string& name, const std::string& x_value, const std::vector<std::pair<const PassDecl*, Plan>>& plans,
    const std::vector<model::SourceEdit>& edits) {
  auto tensors = resident(x_value);
  if (!tensors) return tensors.error();
  auto subject = std::make_unique<LaunchSubject>(name, context_.device);
  for (const auto& [pass, planned] : plans) {
    auto bound = bind(planned, edits, (*tensors)->tensors->views(), &scratch_);
    if (!bound) return bound.error();
    // What is timed runs in hone's own process, and the gates' shapes are small: a kernel that exits, aborts or has no end at this size
    // alone must not be met there first. A GPU's launches can not end the process.
    if (manifest_->language == Language::cpp) {
      if (auto restored = (*tensors)->tensors->restore(overwritten_in(*pass)); !restored) return restored.error();
      if (auto tried = context_.device.try_run(bound->launches, untried_deadline_ns); !tried) return tried.error();
    }
    subject->add(
        bound->launches,
        [resident = *tensors, overwritten = overwritten_in(*pass)] { return resident->tensors->restore(overwritten); },
        bound->owned);
  }
  return std::unique_ptr<measure::Subject>(std::move(subject));
}

base::Result<std::unique_ptr<measure::Subject>> ManifestSession::subject(const model::Variant& variant,
                                                                         const Cell& cell) {
  auto at = problem(cell.x_value);
  if (!at) return at.error();
  std::vector<std::pair<const PassDecl*, Plan>> plans;
  for (const PassDecl* pass : passes_of(cell.mode)) {
    auto planned = plan(variant, *pass, *at);
    if (!planned) return planned.error();
    plans.emplace_back(pass, std::move(*planned));
  }
  return make_subject(variant.id.empty() ? "v0" : variant.id, cell.x_value, plans, variant.edits);
}

base::Result<std::unique_ptr<measure::Subject>> ManifestSession::subject_with(const Cell& cell,
                                                                              const model::Settings& settings) {
  auto at = problem(cell.x_value);
  if (!at) return at.error();
  std::vector<std::pair<const PassDecl*, Plan>> plans;
  for (const PassDecl* pass : passes_of(cell.mode)) {
    auto planned = plan_of(*manifest_, *at, *pass, settings);
    if (!planned) return planned.error();
    plans.emplace_back(pass, std::move(*planned));
  }
  return make_subject("settings", cell.x_value, plans, {});
}

base::Result<std::unique_ptr<measure::Subject>> ManifestSession::provider_subject(const std::string& provider,
                                                                                  const Cell&) {
  return no_provider(provider);
}

base::Result<MemoryUse> ManifestSession::provider_memory(const std::string& provider, const std::string&) {
  return no_provider(provider);
}

base::Result<MemoryUse> ManifestSession::memory(const model::Variant& variant, const std::string& x_value) {
  auto at = problem(x_value);
  if (!at) return at.error();
  auto tensors = tensors_of(*manifest_, *at);
  if (!tensors) return tensors.error();
  double given = 0, made = 0, saved = 0, peak = 0;
  for (const Tensor& tensor : *tensors) {
    const auto bytes = static_cast<double>(tensor.bytes());
    if (is_given(*manifest_, tensor.name)) {
      given += bytes;
      continue;
    }
    made += bytes;
    // Of forward's results those that backward reads.
    if (manifest_->passes.size() > 1) {
      const auto role = manifest_->passes.back().roles.find(tensor.name);
      if (role != manifest_->passes.back().roles.end() && role->second != Role::output) saved += bytes;
    }
  }
  for (const PassDecl& pass : manifest_->passes) {
    auto planned = plan(variant, pass, *at);
    if (!planned) return planned.error();
    double scratch = 0;
    for (const Tensor& tensor : planned->scratch) scratch += static_cast<double>(tensor.bytes());
    peak = std::max(peak, made + scratch);
  }
  return MemoryUse{peak / 1e6, saved / 1e6, (given + peak) / 1e6};
}

}  // namespace hone::repository::manifest
