// An operator that Python calls, with one request. The engine decides; its worker process executes. Each concern is a class of
// its own; this one gives them to each other and holds the worker for whoever asks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "repository/python/bounds.hpp"
#include "repository/python/builds.hpp"
#include "repository/python/cases.hpp"
#include "repository/python/context.hpp"
#include "repository/python/environment.hpp"
#include "repository/python/gate.hpp"
#include "repository/python/implementations.hpp"
#include "repository/python/knob_space.hpp"
#include "repository/python/operator_source.hpp"
#include "repository/python/survey.hpp"
#include "repository/python/timings.hpp"
#include "repository/python/variants.hpp"
#include "repository/repository.hpp"

namespace hone::repository::python {

class PythonSession final : public Session {
 public:
  // Usage errors: what the request asks for and the operator does not have. A preflight error: a GPU that is not there.
  static base::Result<std::unique_ptr<Session>> open(const Context& context, OperatorSource source,
                                                     const PythonEnvironment& environment,
                                                     const model::Request& request, std::unique_ptr<Records> records);

  const model::Identity& identity() const override { return source_.identity; }
  model::DeviceInfo device() const override;
  model::Request resolved(const model::Request& asked) const override;
  std::string unmeasurable() const override { return unmeasurable_; }
  std::string x_name() const override { return cases_.x_name(); }
  std::vector<std::string> sizes() const override { return cases_.size_names(); }
  std::vector<std::string> held_out_sizes() const override { return cases_.held_out_names(); }
  std::vector<std::string> modes() const override { return cases_.modes(); }
  std::string own_provider() const override { return source_.provider; }
  std::vector<std::string> baseline_providers() const override { return {kTorchProvider}; }
  std::vector<Knob> knobs() const override { return knobs_.knobs(); }
  std::vector<model::Settings> space(const std::string& pass, const std::string& x_value) const override;
  std::optional<double> search_share() const override { return 1.0; }
  model::Variant original() const override;
  base::Result<model::Configuration> configuration() override;
  std::vector<std::pair<std::string, std::string>> snapshot() const override;
  std::string source_hash() const override;
  std::vector<model::Opportunity> source_opportunities() const override { return source_.audited.opportunities; }
  std::vector<model::StrategyStep> source_strategies() const override;
  std::vector<model::BaselineRow> recorded() override { return records_->recorded(); }
  base::Result<std::vector<model::BaselineRow>> repository_benchmark(const std::string& folder) override {
    return records_->benchmark(folder);
  }
  std::vector<std::string> remarks() override;

  base::Result<Built> build(const model::Variant& variant) override;
  base::Result<BuiltPart> build_settings(const std::string& pass, const std::string& x_value,
                                         const model::Settings& settings) override;
  void build_ahead(const std::string& pass, const std::vector<std::string>& x_values,
                   const std::vector<model::Settings>& settings) override;

  base::Result<std::unique_ptr<measure::Subject>> subject(const model::Variant& variant, const Cell& cell) override;
  base::Result<std::unique_ptr<measure::Subject>> subject_with(const Cell& cell,
                                                               const model::Settings& settings) override;
  base::Result<std::unique_ptr<measure::Subject>> provider_subject(const std::string& provider,
                                                                   const Cell& cell) override;
  base::Result<std::optional<PassParts>> parts(const model::Variant& variant, const Cell& cell) override;
  base::Result<MemoryUse> memory(const model::Variant& variant, const std::string& x_value) override;
  base::Result<MemoryUse> provider_memory(const std::string& provider, const std::string& x_value) override;
  base::Clock& clock() override { return context_.clock; }
  base::Result<model::Ceilings> ceilings() override;
  void take_ceilings(const model::Ceilings& ceilings) override;
  base::Result<model::Ceilings> ceilings_again() override;
  PassFloor floor(const Cell& cell) override;

  base::Result<GateResult> gate(const model::Variant& variant, GateLevel level) override;

  std::vector<Proposal> propose(const std::string& strategy, const model::Profile& profile,
                                const model::Variant& best) override;
  base::Result<model::Variant> variant_from_source(const std::string& text, const model::Variant& best) override {
    return variants_.from_text(text, best);
  }
  std::string variant_file_extension() const override { return "py"; }
  base::Result<std::vector<FileChange>> installation(const model::Variant& variant) override;
  std::optional<model::GateCount> style() const override { return style_; }

  base::Result<model::Counters> counters() override;

 private:
  PythonSession(const Context& context, OperatorSource source, Cases cases,
                std::vector<source::rewrite::Finding> rewrites, std::unique_ptr<Records> records);

  Context context_;
  OperatorSource source_;
  Cases cases_;
  std::vector<source::rewrite::Finding> rewrites_;  // of the original's text
  std::unique_ptr<Records> records_;
  std::string unmeasurable_;
  // Behind pointers: functions that only look may have to ask the worker first.
  std::unique_ptr<Implementations> implementations_;
  KnobSpace knobs_;
  Variants variants_;
  std::unique_ptr<Builds> builds_;
  Timings timings_;
  Survey survey_;
  Bounds bounds_;
  Gate gate_;
  std::optional<model::GateCount> style_;
};

}  // namespace hone::repository::python
