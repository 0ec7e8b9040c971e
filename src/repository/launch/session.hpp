// One operation on one device with one request: what the stages ask of a kernel that hone compiles and launches itself.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "measure/protocol.hpp"
#include "repository/device_ceilings.hpp"
#include "repository/launch/experiments.hpp"
#include "repository/launch/launcher.hpp"
#include "repository/launch/verification.hpp"

namespace hone::repository::launch {

struct Context {
  device::Device& device;
  base::FileSystem& files;
  base::Clock& clock;
  // For Nsight Compute, the disassembler and the author's own tests; none: nothing of that is run.
  base::Processes* processes = nullptr;
  // Starts a program that takes a device and the words of a CounterPass behind this, and runs it.
  std::vector<std::string> counter_command = {};
  // This process runs the passes for a profiler and nothing else: a kernel that faults ends it alone.
  bool is_isolated = false;
  // Measured once for all sessions of the device.
  std::shared_ptr<DeviceCeilings> ceilings = std::make_shared<DeviceCeilings>(device, files, clock);
};

// A size as typed: a positive integer. Usage error with what is allowed.
base::Result<std::int64_t> parse_size(const std::string& text);

// Checks that every repository of the engine makes: a compiler, and the GPU that was asked for.
PreflightCheck compiler_check(const model::DeviceInfo& device);
PreflightCheck target_check(const model::DeviceInfo& device, const model::Request& request);

class LaunchSession final : public Session {
 public:
  // At the sizes of the request, else the operation's own. Usage errors: sizes that are none, that the operation can not run, or
  // whose tensors the device can not hold.
  static base::Result<std::unique_ptr<Session>> open(const Context& context, std::unique_ptr<Operation> operation,
                                                     const model::Request& request);
  LaunchSession(const Context& context, std::unique_ptr<Operation> operation, const model::Request& request,
                std::vector<std::int64_t> sizes);

  const model::Identity& identity() const override { return identity_; }
  model::Request resolved(const model::Request& asked) const override;
  std::string unmeasurable() const override { return operation_->unmeasurable(); }
  std::string own_provider() const override { return operation_->own_provider(); }
  std::vector<std::string> remarks() override;
  std::vector<model::Opportunity> source_opportunities() const override { return operation_->source_opportunities(); }
  model::DeviceInfo device() const override;
  base::Result<model::Ceilings> ceilings() override { return context_.ceilings->ceilings(request_.quick); }
  void take_ceilings(const model::Ceilings& ceilings) override { context_.ceilings->take(ceilings); }
  base::Result<model::Ceilings> ceilings_again() override { return context_.ceilings->again(); }
  base::Result<CeilingSubject> ceiling_subject(const Cell& cell) override {
    return context_.ceilings->beside(floor(cell));
  }
  std::string x_name() const override { return operation_->x_name(); }
  std::vector<std::string> sizes() const override;
  std::vector<std::string> held_out_sizes() const override;
  std::vector<std::string> modes() const override;
  std::vector<std::string> baseline_providers() const override { return operation_->providers(); }
  std::vector<std::pair<std::string, std::string>> snapshot() const override {
    return operation_->snapshot(plans_in_force());
  }
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
  std::string variant_file_extension() const override { return operation_->main_file_extension(); }

  // The kernel in force against its reference, case by case; `each` is told of every finished case with the number done and the
  // total, and returns false to stop.
  using Each = std::function<bool(int done, int total, const CaseResult&)>;
  base::Result<std::vector<CaseResult>> verify(Extent extent, bool all_dtypes, const Each& each);
  std::string reference_words() const { return operation_->reference_words(); }
  // Each pass of the request's scope `launches` times at each size, from restored inputs: what a profiler is shown.
  base::Result<void> run_passes(int launches);

 private:
  base::Result<ProblemPtr> problem(const std::string& x_value) const;
  std::vector<std::string> passes_of(const std::string& mode) const;
  std::vector<std::string> passes_in_scope() const;
  std::vector<Planned> plans_in_force() const;
  base::Result<std::vector<Planned>> plans(const model::Variant& variant, const std::vector<std::string>& passes,
                                           const Problem& problem) const;
  base::Result<std::vector<Planned>> provider_plans(const std::string& provider, const std::string& mode,
                                                    const Problem& problem) const;
  base::Result<BuiltPart> build_part(const Planned& planned, const Problem& problem,
                                     const std::vector<model::SourceEdit>& edits);
  base::Result<MemoryUse> memory_of(const Problem& problem, const std::vector<Planned>& plans) const;
  void compile_knobs(const Problem& problem);
  void compile_cases(const std::vector<ProblemPtr>& problems, const model::Variant& variant);
  std::string correctness();
  base::Result<void> original_compiles(const std::vector<ProblemPtr>& problems);
  base::Result<model::Parameter> parameter_of(const Knob& knob);
  // The knob of a pass at one value at every size where that is valid and new; nothing where it is so nowhere.
  std::optional<Proposal> proposal_of(const OperationKnob& knob, std::int64_t value, const model::Profile& profile,
                                      const model::Variant& best) const;

  base::Result<model::Counters> system_counters();
  base::Result<model::Counters> counters_of_gpu();
  std::vector<Change> changes_of(const std::string& pass, const Problem& problem) const;
  base::Result<model::Comparison> compare_with(const Change& change, const std::string& pass);
  base::Result<std::vector<model::Experiment>> experiments(std::string& left_out);

  Context context_;
  Isolation device_;  // the way to context_.device
  std::unique_ptr<Operation> operation_;
  model::Request request_;
  std::vector<std::int64_t> sizes_;
  model::Identity identity_;
  Launcher launcher_;
};

}  // namespace hone::repository::launch
