// One operation of a checkout with one request. Decides; the worker executes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "repository/liger/liger_repository.hpp"
#include "repository/liger/operators.hpp"
#include "repository/liger/test_run.hpp"
#include "repository/liger/worker.hpp"
#include "source/triton/rewrite/rewrite.hpp"

namespace hone::repository::liger {

// Options of every operation: rows of the inputs, and the longest time of the checkout's own benchmark script.
inline constexpr const char *kTokens = "tokens", *kBenchmarkSeconds = "benchmark_seconds";

class LigerSession final : public Session {
 public:
  static base::Result<std::unique_ptr<Session>> open(const LigerContext& context, const model::AuditedOp& op,
                                                     const PythonEnvironment& environment, const GitState& git,
                                                     const model::Request& request);

  const model::Identity& identity() const override { return identity_; }
  model::Request resolved(const model::Request& asked) const override;
  model::DeviceInfo device() const override;
  std::string unmeasurable() const override { return unmeasurable_; }
  std::string own_provider() const override { return "liger"; }
  std::vector<model::BaselineRow> recorded() override;
  std::vector<std::string> remarks() override;
  base::Result<std::vector<model::BaselineRow>> repository_benchmark(const std::string& folder) override;
  std::vector<model::Opportunity> source_opportunities() const override { return op_.opportunities; }
  std::vector<model::StrategyStep> source_strategies() const override;
  base::Result<model::Ceilings> ceilings() override;
  void take_ceilings(const model::Ceilings& ceilings) override;
  base::Result<model::Ceilings> ceilings_again() override;
  std::string x_name() const override { return facts_ ? facts_->x_name : "size"; }
  std::vector<std::string> sizes() const override;
  std::vector<std::string> held_out_sizes() const override;
  std::vector<std::string> modes() const override {
    return facts_ ? facts_->modes : std::vector<std::string>{"forward", "backward", "full"};
  }
  std::vector<std::string> baseline_providers() const override { return {"torch"}; }
  std::vector<std::pair<std::string, std::string>> snapshot() const override;
  std::string source_hash() const override;

  base::Result<model::Configuration> configuration() override;
  PassFloor floor(const Cell& cell) override;
  std::vector<Knob> knobs() const override;
  std::vector<model::Settings> space(const std::string& pass, const std::string& x_value) const override;
  std::optional<double> search_share() const override { return 1.0; }
  model::Variant original() const override;

  base::Result<Built> build(const model::Variant& variant) override;
  void build_ahead(const std::string& pass, const std::vector<std::string>& x_values,
                   const std::vector<model::Settings>& settings) override;
  base::Result<BuiltPart> build_settings(const std::string& pass, const std::string& x_value,
                                         const model::Settings& settings) override;
  base::Result<std::unique_ptr<measure::Subject>> subject(const model::Variant& variant, const Cell& cell) override;
  base::Result<std::unique_ptr<measure::Subject>> subject_with(const Cell& cell,
                                                               const model::Settings& settings) override;
  base::Result<std::unique_ptr<measure::Subject>> provider_subject(const std::string& provider,
                                                                   const Cell& cell) override;
  base::Result<std::optional<PassParts>> parts(const model::Variant& variant, const Cell& cell) override;
  base::Result<MemoryUse> memory(const model::Variant& variant, const std::string& x_value) override;
  base::Result<MemoryUse> provider_memory(const std::string& provider, const std::string& x_value) override;
  base::Clock& clock() override { return context_.clock; }

  base::Result<model::Counters> counters() override;
  base::Result<GateResult> gate(const model::Variant& variant, GateLevel level) override;
  std::vector<Proposal> propose(const std::string& strategy, const model::Profile& profile,
                                const model::Variant& best) override;
  base::Result<model::Variant> variant_from_source(const std::string& text, const model::Variant& best) override;
  base::Result<std::vector<FileChange>> installation(const model::Variant& variant) override;
  std::optional<model::GateCount> style() const override { return style_; }
  std::string variant_file_extension() const override { return "py"; }

  // Of the subjects: one sample of a loaded implementation. `text`: the module's text, empty for the original, "formula".
  base::Result<model::Sample> sample(const std::string& implementation, const Cell& cell);

 private:
  LigerSession(const LigerContext& context, const model::AuditedOp& op) : context_(context), op_(op) {}

  CaseSpec case_of(const std::string& x_value) const;
  std::vector<std::string> passes() const;  // modes without "full"

  // The text of the operation's file under a variant; the original's own bytes where nothing differs.
  base::Result<std::string> text_of(const model::Variant& variant) const;
  base::Result<std::string> with_settings(const std::string& text,
                                          const std::map<std::string, model::SettingsFunction>& settings) const;

  // The implementation that has these settings in one pass at every size; the original where they are the shipped ones.
  base::Result<std::string> implementation_with(const std::string& pass, const std::string& x_value,
                                                const model::Settings& settings);
  // A name for the implementation of this text; its file is in the overlay. "v0" for the original.
  base::Result<std::string> implementation_of(const std::string& text);
  base::Result<Worker*> worker();
  // A worker that holds the implementation. What ended the process once is not loaded again.
  base::Result<Worker*> worker_with(const std::string& implementation);
  base::Error failed(const std::string& implementation, base::Error error);
  // Ends the process whose memory an implementation has spoilt; that one is not loaded again.
  void abandon(const std::string& implementation, const std::string& why);

  base::Result<BuiltPart> build_part(const std::string& implementation, const std::string& pass,
                                     const std::string& x_value);
  base::Result<std::unique_ptr<measure::Subject>> subject_of(const std::string& name, const std::string& text,
                                                             const Cell& cell);
  base::Result<model::Ceilings> look_at_ceilings();
  base::Result<MemoryUse> memory_of(const std::string& implementation, const std::string& x_value);
  // `after_first_pass` is called once, when a case has passed.
  base::Result<GateResult> numerics(const std::string& implementation, GateLevel level,
                                    const std::function<void()>& after_first_pass);
  base::Result<GateResult> gate_of(const std::string& implementation, const std::string& text, GateLevel level);
  std::size_t test_shares() const;
  std::vector<base::Result<TestResults>> run_together(const std::vector<TestRun>& runs);
  TestRun test_run(GateLevel level, const std::string& name, const std::string& text) const;
  base::Result<TestResults> run_own_tests(GateLevel level, const std::string& text);
  base::Result<std::string> styled(const std::string& text);
  bool spills(const std::vector<source::rewrite::Site>& touched) const;
  // Compiles on all cores what running these passes will ask for.
  void compile_ahead(const std::vector<std::string>& implementations, const std::vector<CaseSpec>& cases,
                     const std::vector<std::string>& passes);
  void learn_shipped();
  void probe_memory_of_programs();

  LigerContext context_;
  model::AuditedOp op_;
  const OperatorFacts* facts_ = nullptr;  // none: the operation can be read and not measured
  PythonEnvironment environment_;
  GitState git_;
  model::Request request_;
  model::Identity identity_;
  std::string path_, relative_, module_,
      text_;                  // of the operation's file: absolute, below the root, as a module; its bytes
  std::string unmeasurable_;  // why nothing can be measured here; empty where it can
  std::string worker_device_;
  std::vector<std::int64_t> sizes_;
  std::int64_t rows_ = 0;       // 0: the operation's own
  std::int64_t script_s_ = 75;  // of the benchmark script; what it has written by then is kept
  std::vector<source::rewrite::Finding> rewrites_;

  std::recursive_mutex mutex_;  // builds are asked for on several threads
  std::unique_ptr<Worker> worker_;
  std::set<std::string> loaded_;
  std::map<std::string, std::string> overlay_;                                 // implementation -> file
  std::map<std::pair<std::string, model::Settings>, std::string> configured_;  // pass, settings -> implementation
  std::map<std::string, base::Error> ended_;  // implementations that took the worker with them
  std::map<std::string, BuiltPart> built_;    // by implementation, pass, size
  std::map<std::pair<std::string, std::string>, model::Settings> shipped_;  // by pass and size
  std::map<std::string, std::map<std::int64_t, double>>
      too_much_memory_;  // by pass, programs per SM -> memory over the original's
  bool memory_probed_ = false;
  std::map<std::string, std::pair<int, int>> blocked_;  // cells whose passes wait for the host
  std::optional<model::Ceilings> ceilings_;
  std::map<GateLevel, TestResults> original_tests_;
  std::map<std::pair<std::string, GateLevel>, GateResult> gates_;  // by implementation
  std::unique_ptr<TestServers> tests_;
  std::vector<std::string> script_remarks_;
  std::optional<model::GateCount> style_;
};

}  // namespace hone::repository::liger
