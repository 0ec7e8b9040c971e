// Gates and installation: numerics, the manifest's own test command on a copy, and the files that finalize writes.
#include <algorithm>

#include <fmt/format.h>

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "model/version.hpp"
#include "repository/manifest/manifest_session.hpp"
#include "repository/manifest/test_command.hpp"

namespace hone::repository::manifest {

namespace {

constexpr std::int64_t kReferenceDeadlineNs = 120'000'000'000;

std::string words_of(const std::map<std::string, std::string>& by_pass) {
  std::vector<std::string> parts;
  for (const auto& [pass, words] : by_pass) parts.push_back(pass + " " + words);
  return base::join_text(parts, ", ");
}

}  // namespace

std::string ManifestSession::reference_words() const {
  std::map<std::string, std::string> by_pass;
  for (const PassDecl& pass : manifest_->passes)
    by_pass[pass.name] =
        pass.reference ? "compared with " + manifest_->reference + " in double precision"
                       : "compared with the original; no reference is given, so a fault of the original is not seen";
  return words_of(by_pass);
}

base::Result<void> ManifestSession::run_reference(const Problem& problem, const PassDecl& pass,
                                                  std::map<std::string, std::vector<double>>& values) {
  if (context_.host == nullptr)
    return base::Error{base::ErrorKind::preflight, "a CPU with a C++ compiler for the reference", "none",
                       manifest_->path, "apt-get install g++, or name a compiler with HONE_CXX"};
  device::Device& host = *context_.host;
  if (!reference_) {
    auto source = reference_source(sources_, *manifest_);
    if (!source) return source.error();
    auto compiled = host.compile(*source);
    if (!compiled) {
      // A gate's word for the kernel; here it is the manifest that has to be corrected.
      base::Error error = compiled.error();
      if (error.kind == base::ErrorKind::gate) error.kind = base::ErrorKind::usage;
      return error;
    }
    reference_ = std::move(*compiled);
  }
  auto planned = arguments_of(*manifest_, problem, pass.reference->arguments, {});
  if (!planned) return planned.error();
  std::map<std::string, std::unique_ptr<device::Buffer>> buffers;
  device::Launch launch;
  launch.program = reference_.get();
  launch.entry = reference_entry(pass.name);
  launch.programs = launch.threads = 1;
  for (const PlannedArgument& argument : *planned) {
    if (const auto* name = std::get_if<std::string>(&argument)) {
      const std::vector<double>& content = values.at(*name);
      auto& buffer = buffers[*name];
      if (!buffer) {
        auto made = host.allocate(std::max<std::size_t>(content.size() * sizeof(double), 1));
        if (!made) return made.error();
        buffer = std::move(*made);
        if (auto sent = host.upload({buffer.get(), 0}, content.data(), content.size() * sizeof(double)); !sent)
          return sent;
      }
      launch.arguments.emplace_back(device::BufferView{buffer.get(), 0});
    } else if (const auto* i32 = std::get_if<std::int32_t>(&argument)) {
      launch.arguments.emplace_back(*i32);
    } else if (const auto* i64 = std::get_if<std::int64_t>(&argument)) {
      launch.arguments.emplace_back(*i64);
    } else {
      launch.arguments.emplace_back(std::get<float>(argument));
    }
  }
  if (auto ran = host.try_run({launch}, kReferenceDeadlineNs); !ran) {
    if (ran.error().kind == base::ErrorKind::interrupted) return ran;
    return base::Error{base::ErrorKind::usage, "a reference that runs: " + pass.reference->function, ran.error().found,
                       manifest_->full(manifest_->reference),
                       "correct the reference, or its arguments in the manifest"};
  }
  for (auto& [name, buffer] : buffers) {
    std::vector<double>& content = values.at(name);
    if (auto read = host.download(content.data(), {buffer.get(), 0}, content.size() * sizeof(double)); !read)
      return read;
  }
  return {};
}

Bind ManifestSession::bind_of(const model::Variant& variant) {
  return [this, variant](const Problem& problem, const PassDecl& pass,
                         const TensorViews& tensors) -> base::Result<BoundLaunches> {
    auto planned = plan(variant, pass, problem);
    if (!planned) return planned.error();
    return bind(*planned, variant.edits, tensors, nullptr);
  };
}

base::Result<GateResult> ManifestSession::numerics(const model::Variant& variant, GateLevel level) {
  const bool full = level == GateLevel::full;
  std::vector<const DTypeDecl*> dtypes = {dtype_};
  if (full)
    for (const DTypeDecl& dtype : manifest_->dtypes)
      if (&dtype != dtype_) dtypes.push_back(&dtype);
  const Verification verification{
      context_.device, *manifest_, bind_of(variant), bind_of({}),
      [this](const auto& problem, const auto& pass, auto& values) { return run_reference(problem, pass, values); }};
  GateResult gate;
  for (const Problem& problem :
       verification_problems(*manifest_, full ? Extent::full : Extent::smoke, dtypes, sizes_)) {
    auto cases = verify_problem(verification, problem, request_.seed + 17);
    if (!cases) return cases.error();
    for (const VerifiedCase& done : *cases) {
      gate.largest_error_over_bound = std::max(gate.largest_error_over_bound, done.result.error);
      const std::string why = done.result.passed ? done.worse : done.result.failure;
      ++(why.empty() ? gate.passed : gate.failed);
      if (!why.empty() && gate.first_failure.empty())
        gate.first_failure = fmt::format("{} {}: {}", done.result.mode, done.result.label, why);
    }
    // A smoke gate is there to be quick: the first failure decides.
    if (!full && gate.failed > 0) break;
  }
  gate.detail =
      fmt::format("{} cases, {}: {} passed, {} failed; largest error {:.2f} of its bound", gate.passed + gate.failed,
                  reference_words(), gate.passed, gate.failed, gate.largest_error_over_bound);
  if (gate.passed + gate.failed == 0)
    gate.detail = gate.first_failure =
        "no case that the kernel can run: name sizes under [verify] for which 'valid' holds";
  return gate;
}

base::Result<GateResult> ManifestSession::gate(const model::Variant& variant, GateLevel level) {
  auto gate = numerics(variant, level);
  if (!gate || level != GateLevel::full || !gate->ok() || manifest_->test.empty()) return gate;
  auto changes = installation(variant);
  if (!changes) return changes.error();
  auto tested = run_test_command(context_.files, context_.processes, *manifest_, *changes);
  if (!tested) return tested.error();
  gate->passed += tested->passed;
  gate->failed += tested->failed;
  gate->detail += "; " + tested->detail;
  if (tested->failed > 0) gate->first_failure = tested->detail;
  return gate;
}

base::Result<std::vector<CaseResult>> ManifestSession::verify(Extent extent, bool all_dtypes, const Each& each) {
  std::vector<const DTypeDecl*> dtypes = {dtype_};
  if (all_dtypes)
    for (const DTypeDecl& dtype : manifest_->dtypes)
      if (&dtype != dtype_) dtypes.push_back(&dtype);
  const Verification verification{
      context_.device, *manifest_, bind_of({}), nullptr,
      [this](const auto& problem, const auto& pass, auto& values) { return run_reference(problem, pass, values); }};
  const std::vector<Problem> problems = verification_problems(*manifest_, extent, dtypes, sizes_);
  std::vector<CaseResult> all;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    auto cases = verify_problem(verification, problems[i], request_.seed + 17);
    if (!cases) return cases.error();
    for (VerifiedCase& done : *cases) {
      if (!each(static_cast<int>(i) + 1, static_cast<int>(problems.size()), done.result))
        return base::Error{base::ErrorKind::interrupted, "to finish the matrix", "an interrupt", "hone verify",
                           "run it again; nothing was written"};
      all.push_back(std::move(done.result));
    }
  }
  return all;
}

base::Result<std::vector<FileChange>> ManifestSession::installation(const model::Variant& variant) {
  std::vector<FileChange> changes;
  const auto current = [&](const std::string& path) -> base::Result<std::string> {
    if (!context_.files.exists(path)) return std::string();
    return base::read_regular(context_.files, path);
  };
  for (const model::SourceEdit& edit : variant.edits) {
    const std::string path = manifest_->full(edit.file);
    auto before = current(path);
    if (!before) return before.error();
    changes.push_back({path, *before, edit.content, true});
  }
  const std::string path = manifest_->full(manifest_->settings);
  auto before = current(path);
  if (!before) return before.error();
  SettingsEntry entry;
  entry.device = context_.device.info().name;
  entry.dtype = dtype_->name;
  entry.reason = variant.title.empty() ? variant.strategy : variant.title;
  entry.created = context_.clock.utc();
  entry.hone_version = model::hone_version();
  for (const PassDecl& pass : manifest_->passes) {
    if (manifest_->knobs_of(pass.name).empty()) continue;
    if (const auto own = variant.settings.find(pass.name); own != variant.settings.end() && !own->second.rules.empty())
      entry.settings[pass.name] = own->second;
    else if (installed_ && installed_->settings.count(pass.name))
      entry.settings[pass.name] = installed_->settings.at(pass.name);
  }
  if (entry.settings.empty()) return changes;
  auto after = text_with(*before, path, manifest_->name, entry);
  if (!after) return after.error();
  changes.push_back({path, *before, *after, context_.files.exists(path)});
  return changes;
}

}  // namespace hone::repository::manifest
