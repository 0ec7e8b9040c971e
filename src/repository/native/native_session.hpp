// One built-in kernel on one device with one request.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "repository/native/bound_plan.hpp"
#include "repository/native/experiments.hpp"
#include "repository/native/native_repository.hpp"
#include "repository/native/settings_store.hpp"
#include "repository/native/workload.hpp"

namespace hone::repository::native {

class NativeSession final : public Session {
 public:
  static base::Result<std::unique_ptr<Session>> open(NativeContext& context, const kernels::Operation& operation,
                                                     const model::Request& request, kernels::DType dtype,
                                                     const kernels::Options& options, const kernels::Target& target,
                                                     const std::vector<std::int64_t>& sizes);

  const model::Identity& identity() const override { return identity_; }
  model::Request resolved(const model::Request& asked) const override;
  model::DeviceInfo device() const override;
  base::Result<model::Ceilings> ceilings() override { return context_.ceilings->ceilings(request_.quick); }
  void take_ceilings(const model::Ceilings& ceilings) override { context_.ceilings->take(ceilings); }
  base::Result<model::Ceilings> ceilings_again() override { return context_.ceilings->again(); }
  base::Result<CeilingSubject> ceiling_subject(const Cell& cell) override {
    return context_.ceilings->beside(floor(cell));
  }
  std::vector<std::string> remarks() override;
  std::string x_name() const override { return operation_.x_name(); }
  std::vector<std::string> sizes() const override;
  std::vector<std::string> held_out_sizes() const override;
  std::vector<std::string> modes() const override { return {"forward", "backward", "full"}; }
  std::vector<std::string> baseline_providers() const override { return {"eager"}; }
  std::vector<std::pair<std::string, std::string>> snapshot() const override;
  std::string source_hash() const override;

  base::Result<model::Configuration> configuration() override;
  PassFloor floor(const Cell& cell) override;
  std::vector<Knob> knobs() const override;
  std::vector<model::Settings> space(const std::string& pass, const std::string& x_value) const override;
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
  std::string variant_file_extension() const override { return "hpp"; }

  // Each pass of the request's scope `launches` times at each size, from restored inputs: what a profiler is shown.
  base::Result<void> run_passes(int launches);

 private:
  // The settings in force of a pass, compiled and bound to the resident tensors of a size.
  struct BoundPass {
    std::shared_ptr<Workload> workload;
    std::shared_ptr<device::Program> program;
    std::unique_ptr<BoundPlan> plan;
  };
  NativeSession(NativeContext& context, const kernels::Operation& operation)
      : context_(context), operation_(operation), store_(context.files, context.settings_directory) {}

  kernels::Problem problem_at(std::int64_t x) const { return operation_.problem_at(x, target_, dtype_, options_); }
  // Settings of a pass at a problem: the variant's, else the installed ones, else the heuristic's; the heuristic's too where
  // the others are not valid for the problem.
  kernels::Settings resolve(const model::Variant& variant, kernels::Pass pass, const kernels::Problem& problem) const;
  std::vector<model::SourceEdit> edits_of(const model::Variant& variant) const;

  // Compiles the plan of one pass; the same program is compiled and loaded once.
  base::Result<std::shared_ptr<device::Program>> program(const kernels::Plan& plan, const std::string& name,
                                                         const std::vector<model::SourceEdit>& edits);
  void compile_knobs(std::int64_t x);
  base::Result<BuiltPart> build_part(kernels::Pass pass, std::int64_t x, const kernels::Settings& settings,
                                     const std::vector<model::SourceEdit>& edits);

  // The resident tensors of a size; the least recently used ones go when memory runs short.
  base::Result<std::shared_ptr<Workload>> workload(std::int64_t x);
  base::Result<std::unique_ptr<measure::Subject>> make_subject(
      const std::string& name, std::int64_t x, const std::vector<std::pair<kernels::Pass, kernels::Plan>>& passes,
      const std::vector<model::SourceEdit>& edits);
  MemoryUse memory_of(const kernels::Problem& problem, const kernels::Plan& forward,
                      const kernels::Plan& backward) const;
  base::Result<model::Parameter> parameter(const std::string& name, std::int64_t representative);
  base::Result<BoundPass> bind_pass(kernels::Pass pass, std::int64_t x);
  base::Result<model::Counters> system_counters();
  base::Result<model::Counters> gpu_counters();
  std::vector<Change> changes_of(kernels::Pass pass, std::int64_t x) const;
  base::Result<model::Comparison> compare_with(const Change& change, kernels::Pass pass, std::int64_t x);
  base::Result<std::vector<model::Experiment>> experiments(std::string& left_out);
  std::vector<kernels::Pass> passes_in_scope() const;

  NativeContext& context_;
  const kernels::Operation& operation_;
  SettingsStore store_;
  model::Request request_;
  model::Identity identity_;
  kernels::DType dtype_ = kernels::DType::fp32;
  kernels::Options options_;
  kernels::Target target_;
  std::vector<std::int64_t> sizes_;
  std::optional<InstalledEntry> installed_;

  std::mutex mutex_;  // of the two caches: builds run on several threads
  std::map<std::string, std::shared_ptr<device::Program>> programs_;
  ScratchPool scratch_;  // of the subjects that are timed against each other
  std::vector<std::pair<std::int64_t, std::shared_ptr<Workload>>> workloads_;  // most recently used last
};

// "forward" and "backward" as passes; "full" as both, in order.
std::vector<kernels::Pass> passes_of(const std::string& mode);

}  // namespace hone::repository::native
