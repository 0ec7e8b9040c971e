// A manifest's kernel on one device with one request.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "repository/manifest/manifest_repository.hpp"
#include "repository/manifest/problem.hpp"
#include "repository/manifest/settings_file.hpp"
#include "repository/manifest/sources.hpp"
#include "repository/manifest/verification.hpp"
#include "repository/resident_tensors.hpp"

namespace hone::repository::manifest {

class ManifestSession final : public Session {
 public:
  static base::Result<std::unique_ptr<Session>> open(const ManifestContext& context,
                                                     std::shared_ptr<const Manifest> manifest,
                                                     const model::Request& request);

  const model::Identity& identity() const override { return identity_; }
  model::Request resolved(const model::Request& asked) const override;
  std::string unmeasurable() const override { return why_not_on(*manifest_, context_.device.info()); }
  std::string own_provider() const override { return "original"; }
  std::vector<std::string> remarks() override;
  std::vector<model::Opportunity> source_opportunities() const override;
  model::DeviceInfo device() const override;
  base::Result<model::Ceilings> ceilings() override { return context_.ceilings->ceilings(request_.quick); }
  void take_ceilings(const model::Ceilings& ceilings) override { context_.ceilings->take(ceilings); }
  base::Result<model::Ceilings> ceilings_again() override { return context_.ceilings->again(); }
  base::Result<CeilingSubject> ceiling_subject(const Cell& cell) override {
    return context_.ceilings->beside(floor(cell));
  }
  std::string x_name() const override { return manifest_->x_name; }
  std::vector<std::string> sizes() const override;
  std::vector<std::string> held_out_sizes() const override;
  std::vector<std::string> modes() const override;
  std::vector<std::string> baseline_providers() const override { return {}; }
  std::vector<std::pair<std::string, std::string>> snapshot() const override { return snapshot_; }
  std::string source_hash() const override { return identity_.source_hash; }

  base::Result<model::Configuration> configuration() override;
  PassFloor floor(const Cell& cell) override;
  std::vector<Knob> knobs() const override;
  std::vector<model::Settings> space(const std::string& pass, const std::string& x_value) const override;
  std::optional<double> search_share() const override;
  model::Variant original() const override;

  base::Result<Built> build(const model::Variant& variant) override;
  base::Result<BuiltPart> build_settings(const std::string& pass, const std::string& x_value,
                                         const model::Settings& settings) override;
  base::Result<std::unique_ptr<measure::Subject>> subject(const model::Variant& variant, const Cell& cell) override;
  base::Result<std::unique_ptr<measure::Subject>> subject_with(const Cell& cell,
                                                               const model::Settings& settings) override;
  base::Result<std::unique_ptr<measure::Subject>> provider_subject(const std::string& provider,
                                                                   const Cell& cell) override;
  base::Result<MemoryUse> memory(const model::Variant& variant, const std::string& x_value) override;
  base::Result<MemoryUse> provider_memory(const std::string& provider, const std::string& x_value) override;
  base::Clock& clock() override { return context_.clock; }

  base::Result<model::Counters> counters() override;
  base::Result<GateResult> gate(const model::Variant& variant, GateLevel level) override;
  std::vector<Proposal> propose(const std::string& strategy, const model::Profile& profile,
                                const model::Variant& best) override;
  base::Result<model::Variant> variant_from_source(const std::string& text, const model::Variant& best) override;
  base::Result<std::vector<FileChange>> installation(const model::Variant& variant) override;
  std::string variant_file_extension() const override;

  // The kernel in force against its reference, case by case; `each` returns false to stop.
  using Each = std::function<bool(int done, int total, const CaseResult&)>;
  base::Result<std::vector<CaseResult>> verify(Extent extent, bool all_dtypes, const Each& each);
  // Each pass of the request's scope `launches` times at each size, from restored inputs: what a profiler is shown.
  base::Result<void> run_passes(int launches);
  // What results are held against, in words.
  std::string reference_words() const;

 private:
  struct Resident {
    Problem problem;
    std::unique_ptr<ResidentTensors> tensors;
  };
  ManifestSession(const ManifestContext& context, std::shared_ptr<const Manifest> manifest)
      : context_(context), manifest_(std::move(manifest)), sources_(context.files, *manifest_) {}

  base::Result<void> read_files();
  // The knobs' values, installed or the manifest's, run every pass at every size: they are the original that all is compared with.
  base::Result<void> check_values_in_force() const;
  base::Result<void> choose_sizes(const model::Request& request);
  base::Result<Problem> problem(const std::string& x_value) const;
  const PassDecl& pass_of(const std::string& name) const { return *manifest_->find_pass(name); }
  std::vector<const PassDecl*> passes_of(const std::string& mode) const;
  std::vector<const PassDecl*> passes_in_scope() const;

  // Settings of a pass at a problem: the variant's, else those of the settings file, else the manifest's, else the first that are
  // valid there. An error where none is.
  base::Result<model::Settings> resolve(const model::Variant& variant, const PassDecl& pass,
                                        const Problem& problem) const;
  base::Result<Plan> plan(const model::Variant& variant, const PassDecl& pass, const Problem& problem) const;
  base::Result<std::shared_ptr<device::Program>> program(const Plan& plan, const std::vector<model::SourceEdit>& edits);
  base::Result<BuiltPart> build_part(const Plan& plan, const Problem& problem,
                                     const std::vector<model::SourceEdit>& edits);
  base::Result<BoundLaunches> bind(const Plan& plan, const std::vector<model::SourceEdit>& edits,
                                   const TensorViews& tensors, ScratchPool* pool);
  Bind bind_of(const model::Variant& variant);
  // The resident tensors of a size; the least recently used ones go when memory runs short.
  base::Result<std::shared_ptr<Resident>> resident(const std::string& x_value);
  base::Result<std::unique_ptr<measure::Subject>> make_subject(
      const std::string& name, const std::string& x_value, const std::vector<std::pair<const PassDecl*, Plan>>& plans,
      const std::vector<model::SourceEdit>& edits);
  base::Result<void> run_reference(const Problem& problem, const PassDecl& pass,
                                   std::map<std::string, std::vector<double>>& values);
  base::Result<model::Parameter> parameter_of(const Knob& knob);
  base::Result<GateResult> numerics(const model::Variant& variant, GateLevel level);

  base::Result<model::Counters> captured_counters();
  base::Result<std::vector<model::Experiment>> experiments(std::string& left_out);
  base::Result<void> add_experiment(const std::string& name, const std::string& parameter, const std::string& sentence,
                                    const std::string& pass, measure::Subject& changed,
                                    std::vector<model::Experiment>& found, std::string& left_out);

  ManifestContext context_;
  std::shared_ptr<const Manifest> manifest_;
  model::Request request_;
  model::Identity identity_;
  const DTypeDecl* dtype_ = nullptr;
  std::vector<std::int64_t> sizes_;
  mutable Sources sources_;
  std::string settings_before_;             // the settings file as it was when the session was opened
  std::optional<SettingsEntry> installed_;  // of this device and element type
  std::vector<std::pair<std::string, std::string>> snapshot_;

  std::mutex mutex_;  // of the programs: builds run on several threads
  std::map<std::string, std::shared_ptr<device::Program>> programs_;
  std::shared_ptr<device::Program> reference_;
  ScratchPool scratch_;  // of the subjects that are timed against each other
  std::vector<std::pair<std::string, std::shared_ptr<Resident>>> residents_;  // most recently used last
};

}  // namespace hone::repository::manifest
