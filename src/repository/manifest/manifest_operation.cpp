#include "repository/manifest/manifest_operation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "repository/document/expression_parser.hpp"
#include "repository/manifest/describe_source.hpp"
#include "repository/manifest/manifest_problem.hpp"
#include "repository/manifest/manifest_repository.hpp"
#include "repository/manifest/settings_file.hpp"
#include "repository/manifest/test_command.hpp"
#include "repository/manifest/verification_cases.hpp"

namespace hone::repository::manifest {

namespace {

base::Error usage(std::string expected, std::string found, std::string where, std::string remedy) {
  return {base::ErrorKind::usage, std::move(expected), std::move(found), std::move(where), std::move(remedy)};
}

std::string extension_of(const std::string& path) {
  const std::string name = base::file_name(path);
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot + 1 == name.size() ? "txt" : name.substr(dot + 1);
}

base::Result<const DTypeDecl*> choose_dtype(const Manifest& manifest, const std::string& wanted) {
  if (wanted.empty()) return &manifest.dtypes.front();
  std::vector<std::string> names;
  for (const DTypeDecl& dtype : manifest.dtypes) {
    if (dtype.name == wanted) return &dtype;
    names.push_back(dtype.name);
  }
  return usage("an element type of " + manifest.name + ": " + base::join_text(names, ", "), "'" + wanted + "'",
               "--dtype", nearest_remedy(wanted, names));
}

class ManifestOperation final : public launch::Operation {
 public:
  ManifestOperation(const launch::Context& context, device::Device* host, std::shared_ptr<const Manifest> manifest,
                    const DTypeDecl& dtype, std::string scope)
      : context_(context),
        manifest_(std::move(manifest)),
        dtype_(dtype),
        scope_(std::move(scope)),
        sources_(context_.files, *manifest_),
        reference_(host, sources_, *manifest_) {}

  base::Result<void> read_files() {
    HONE_TRY(source, sources_.read(manifest_->source));
    HONE_TRY(gathered, sources_.gather(manifest_->source, {}));
    for (const auto& [path, content] : *gathered) files_hash_ += path + base::content_hash(content);
    if (!manifest_->reference.empty()) HONE_PROPAGATE(sources_.read(manifest_->reference));
    snapshot_ = {{"original_" + manifest_->name + "." + main_file_extension(), *source},
                 {"original_" + manifest_->name + ".toml", manifest_->text}};
    const std::string settings = manifest_->full(manifest_->settings);
    if (!context_.files.exists(settings)) return {};
    HONE_TRY(text, base::read_regular(context_.files, settings, kLargestDocumentBytes));
    HONE_TRY(entries, parse_settings(*text, settings));
    for (launch::InstalledEntry& entry : *entries)
      if (entry.device == context_.device.info().name)
        if (const auto type = kernels::parse_dtype(entry.dtype)) installed_[*type] = std::move(entry);
    settings_before_ = std::move(*text);
    return {};
  }

  model::Identity identity() const override {
    model::Identity identity;
    identity.kernel = manifest_->name;
    identity.repository = repository();
    identity.source_file = {manifest_->full(manifest_->source), true, "described by " + manifest_->path};
    identity.benchmark_script = {"", false, "hone launches the kernel as the manifest says"};
    identity.test_file = {
        "", false, manifest_->test.empty() ? "the manifest has no 'test'" : base::join_text(manifest_->test, " ")};
    identity.tier = manifest_->tier;
    identity.tier_description = manifest_->tier_reason.empty() ? "as the manifest says" : manifest_->tier_reason;
    return identity;
  }
  std::string source_hash(const std::vector<launch::Planned>&) const override {
    std::string material = "hone.manifest/1\n";
    for (const auto& [name, content] : snapshot_) material += name + "\n" + content + "\n";
    // No part of the snapshot: it is not there yet when most originals are taken, and finalize asks for the whole snapshot.
    if (!settings_before_.empty()) material += manifest_->settings + "\n" + settings_before_ + "\n";
    return base::content_hash(material + files_hash_);
  }
  std::vector<std::pair<std::string, std::string>> snapshot(const std::vector<launch::Planned>&) const override {
    return snapshot_;
  }
  std::string main_file() const override { return manifest_->source; }
  std::string main_file_extension() const override { return extension_of(manifest_->source); }
  std::string own_provider() const override { return "original"; }
  std::string unmeasurable() const override { return why_not_on(*manifest_, context_.device.info()); }
  bool is_for_gpu() const override { return manifest_->language == Language::cuda; }
  std::vector<model::Opportunity> source_opportunities() const override {
    return opportunities_of(*manifest_, snapshot_.front().second);
  }
  std::vector<std::string> remarks(const std::vector<launch::ProblemPtr>&) const override {
    std::vector<std::string> remarks;
    for (const PassDecl& pass : manifest_->passes)
      if (!pass.bytes_read || !pass.bytes_written) {
        remarks.emplace_back(
            "minimum traffic: where the manifest does not state it, each input read once and each output written once");
        break;
      }
    return remarks;
  }
  void describe(const launch::Problem&, model::Configuration& configuration) const override {
    describe_source(*manifest_, dtype_, snapshot_.front().second, configuration);
  }

  std::vector<std::string> passes() const override { return pass_names(*manifest_); }
  std::string x_name() const override { return manifest_->x_name; }
  kernels::DType dtype() const override { return dtype_.type; }
  std::vector<std::int64_t> default_sizes() const override { return manifest_->sizes; }
  base::Result<launch::ProblemPtr> problem_at(std::int64_t x) const override {
    HONE_TRY(problem, manifest::problem_at(*manifest_, x, dtype_));
    return made(std::move(*problem));
  }

  // Tolerances, and the values in force: they are the original that all is compared with.
  base::Result<void> check(const launch::Problem& at) const override {
    const ProblemSizes& problem = dynamic_cast<const ManifestProblem&>(at).evaluated();
    for (const PassDecl& pass : manifest_->passes) {
      for (const auto& [name, role] : pass.roles) HONE_PROPAGATE(tolerance_of(problem, *manifest_->find_tensor(name)));
      const launch::InstalledEntry* entry = installed(dtype_.type);
      const bool is_installed = entry != nullptr && entry->variant.settings.count(pass.name) > 0;
      const auto runs = at.plan(
          pass.name,
          is_installed ? entry->variant.settings.at(pass.name).at(at.x()) : current_settings(*manifest_, pass.name),
          kernels::Ablation::none);
      const bool in_scope = pass.name != (scope_ == "forward" ? "backward" : scope_ == "backward" ? "forward" : "");
      if (runs || (!in_scope && at.shipped(pass.name))) continue;
      base::Error error = runs.error();
      if (error.kind == base::ErrorKind::gate)
        error.remedy = "correct it or the knob's 'value', or leave the size out of 'sizes'";
      error.kind = base::ErrorKind::usage;
      error.expected += fmt::format(
          ", with the values in force for {} at {} = {}: what they take is what others are "
          "compared with",
          pass.name, manifest_->x_name, at.x());
      if (is_installed) error.where = manifest_->full(manifest_->settings);
      return error;
    }
    return {};
  }

  std::vector<launch::OperationKnob> knobs(const std::string& pass) const override {
    std::vector<launch::OperationKnob> knobs;
    for (const KnobDecl* knob : manifest_->knobs_of(pass))
      knobs.push_back({{knob->name, pass, knob->help, knob->strategy, knob->values}});
    return knobs;
  }
  bool times_few_in_full() const override { return true; }
  const launch::InstalledEntry* installed(kernels::DType dtype) const override {
    const auto found = installed_.find(dtype);
    return found == installed_.end() ? nullptr : &found->second;
  }
  model::HowSet how_shipped() const override { return model::HowSet::default_value; }
  std::string shipped_title() const override { return "as found"; }
  std::string shipped_words() const override { return "the values of the manifest"; }

  base::Result<device::ProgramSource> source(const kernels::Plan& plan, const std::string& pass,
                                             const std::vector<model::SourceEdit>& edits) const override {
    for (const model::SourceEdit& edit : edits)
      if (edit.file != manifest_->source)
        return base::Error{base::ErrorKind::gate, "an edit of " + manifest_->source, edit.file, manifest_->name,
                           "change the manifest's source file"};
    return program_source(sources_, *manifest_, *manifest_->find_pass(pass), plan, edits);
  }
  base::Error told(base::Error error) const override {
    return in_users_files(std::move(error), *manifest_, context_.files);
  }
  bool is_trusted(const std::vector<model::SourceEdit>&) const override { return false; }
  bool can_ablate() const override { return false; }

  std::vector<launch::ProblemPtr> cases(launch::Extent extent, bool all_dtypes,
                                        const std::vector<std::int64_t>& sizes) const override {
    std::vector<const DTypeDecl*> dtypes = {&dtype_};
    if (all_dtypes)
      for (const DTypeDecl& dtype : manifest_->dtypes)
        if (&dtype != &dtype_) dtypes.push_back(&dtype);
    std::vector<launch::ProblemPtr> problems;
    for (ProblemSizes& problem : verification_problems(*manifest_, extent, dtypes, sizes))
      problems.push_back(made(std::move(problem)));
    return problems;
  }
  std::string reference_words() const override { return reference_.words(); }
  bool is_deterministic() const override { return manifest_->deterministic; }
  std::string unsteady_remedy() const override {
    return "; where that is meant (atomics), the manifest says deterministic = false";
  }
  std::string bound_remedy() const override { return ": widen 'tolerance', or correct the reference"; }
  base::Result<std::optional<launch::OwnTests>> own_tests(const std::vector<FileChange>& changes) const override {
    if (manifest_->test.empty()) return std::optional<launch::OwnTests>();
    HONE_TRY(tested, run_test_command(context_.files, context_.processes, *manifest_, changes));
    return std::optional(std::move(*tested));
  }

  base::Result<std::vector<FileChange>> installation(const launch::InstalledEntry& made) const override {
    std::vector<FileChange> changes;
    const auto current = [&](const std::string& path) -> base::Result<std::string> {
      if (!context_.files.exists(path)) return std::string();
      return base::read_regular(context_.files, path);
    };
    for (const model::SourceEdit& edit : made.variant.edits) {
      const std::string path = manifest_->full(edit.file);
      HONE_TRY(before, current(path));
      changes.push_back({path, *before, edit.content, true});
    }
    const std::string path = manifest_->full(manifest_->settings);
    HONE_TRY(before, current(path));
    launch::InstalledEntry entry = made;
    entry.variant = {};
    for (const PassDecl& pass : manifest_->passes) {
      if (manifest_->knobs_of(pass.name).empty()) continue;
      const launch::InstalledEntry* old = installed(dtype_.type);
      if (const auto own = made.variant.settings.find(pass.name);
          own != made.variant.settings.end() && !own->second.rules.empty())
        entry.variant.settings[pass.name] = own->second;
      else if (old != nullptr && old->variant.settings.count(pass.name))
        entry.variant.settings[pass.name] = old->variant.settings.at(pass.name);
    }
    if (entry.variant.settings.empty()) return changes;
    HONE_TRY(after, text_with(*before, path, manifest_->name, entry));
    changes.push_back({path, *before, *after, context_.files.exists(path)});
    return changes;
  }
  std::string repository() const override { return "manifest"; }
  std::string place() const override { return manifest_->path; }

 private:
  launch::ProblemPtr made(ProblemSizes problem) const {
    return std::make_shared<ManifestProblem>(*manifest_, reference_, std::move(problem));
  }

  const launch::Context context_;
  const std::shared_ptr<const Manifest> manifest_;
  const DTypeDecl& dtype_;
  const std::string scope_;
  mutable Sources sources_;
  mutable Reference reference_;
  std::string settings_before_, files_hash_;  // the settings file as it was when it was read; the sources
  std::map<kernels::DType, launch::InstalledEntry> installed_;  // for this device
  std::vector<std::pair<std::string, std::string>> snapshot_;
};

}  // namespace

base::Result<std::unique_ptr<launch::Operation>> manifest_operation(const launch::Context& context,
                                                                    device::Device* host,
                                                                    std::shared_ptr<const Manifest> manifest,
                                                                    const model::Request& request) {
  if (!request.options.empty())
    return usage("no options, because a manifest has none", "'" + request.options.begin()->first + "'", "--option",
                 "leave it out; 'defines' and [scalar] of the manifest hold such choices");
  HONE_TRY(dtype, choose_dtype(*manifest, request.dtype));
  if (request.scope == "backward" && !manifest->find_pass("backward"))
    return usage("--scope general or forward, because the manifest has no [pass.backward]", "backward", "--scope",
                 "leave it out");
  auto operation = std::make_unique<ManifestOperation>(context, host, std::move(manifest), **dtype, request.scope);
  HONE_PROPAGATE(operation->read_files());
  return std::unique_ptr<launch::Operation>(std::move(operation));
}

}  // namespace hone::repository::manifest
