#include "repository/python/python_session.hpp"

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "repository/python/proposals.hpp"
#include "repository/python/reproduction.hpp"
#include "repository/python/style.hpp"

namespace hone::repository::python {

PythonSession::PythonSession(const Context& context, OperatorSource source, Cases cases,
                             std::vector<source::rewrite::Finding> rewrites, std::unique_ptr<Records> records)
    : context_(context),
      source_(std::move(source)),
      cases_(std::move(cases)),
      rewrites_(std::move(rewrites)),
      records_(std::move(records)),
      implementations_(std::make_unique<Implementations>(context_, source_)),
      knobs_(rewrites_, source_.audited, cases_.passes(), cases_.request().scope),
      variants_(context_.files, source_, cases_, knobs_, *implementations_),
      builds_(std::make_unique<Builds>(cases_, *implementations_, variants_, knobs_)),
      timings_(cases_, *implementations_, variants_),
      survey_(cases_, *implementations_, variants_, knobs_, *builds_, timings_),
      bounds_(context_.clock, source_, cases_, *implementations_),
      gate_(context_, source_, cases_, *implementations_) {}

base::Result<std::unique_ptr<Session>> PythonSession::open(const Context& context, OperatorSource source,
                                                           const PythonEnvironment& environment,
                                                           const model::Request& request,
                                                           std::unique_ptr<Records> records) {
  std::string why = obstacle(environment, context.device);
  if (why.empty() && !source.description) why = "hone does not know how to build inputs for " + source.identity.kernel;
  // Where python is asked it says this itself, and better; where it is not, a profile must not read as if the source were whole.
  if (!why.empty() && !source.problems.empty())
    why += "; and the source is no whole Python: " + source.problems.front();
  if (base::starts_with(context.device, "cuda") && environment.problem.empty() && environment.cuda_devices == 0)
    return base::Error{base::ErrorKind::preflight, "the GPU " + context.device, "none that torch can use", "--device",
                       "leave --device out: without a GPU there is the profile from source"};
  HONE_TRY(cases, Cases::of(source, request, context.device));
  auto rewrites = source::rewrite::survey(context.files, source.path, source.text);
  std::unique_ptr<PythonSession> session(
      new PythonSession(context, std::move(source), std::move(*cases), std::move(rewrites), std::move(records)));
  session->unmeasurable_ = std::move(why);
  session->source_.identity.source_hash = session->source_hash();
  return std::unique_ptr<Session>(std::move(session));
}

model::Request PythonSession::resolved(const model::Request& asked) const {
  model::Request request = asked;
  request.dtype = cases_.request().dtype;
  request.options = cases_.request().options;
  request.sizes = cases_.size_names();
  return request;
}

model::DeviceInfo PythonSession::device() const {
  model::DeviceInfo info;
  if (unmeasurable_.empty()) {
    const auto held = implementations_->hold();
    if (auto running = implementations_->worker())
      info = (*running)->started().device;
    else
      info.name = "the worker does not start: " + running.error().found;
  } else {
    info.name = "no GPU used: " + unmeasurable_;
    info.kind = "none";
    info.id = "none";
  }
  info.target_gpu = cases_.request().target_gpu;
  info.hardware_match = info.target_gpu == "auto" || info.target_gpu == info.architecture;
  return info;
}

std::vector<model::Settings> PythonSession::space(const std::string& pass, const std::string& x_value) const {
  const auto held = implementations_->hold();
  return knobs_.space(pass, x_value);
}

model::Variant PythonSession::original() const {
  const auto held = implementations_->hold();
  if (unmeasurable_.empty()) builds_->learn_shipped();
  return variants_.original();
}

base::Result<model::Configuration> PythonSession::configuration() {
  model::Configuration configuration = source_.audited.configuration;
  if (!unmeasurable_.empty()) return configuration;
  const auto held = implementations_->hold();
  survey_.add_to(configuration);
  return configuration;
}

std::vector<std::pair<std::string, std::string>> PythonSession::snapshot() const {
  return {{"original_" + source_.identity.kernel + ".py", source_.text}};
}

std::string PythonSession::source_hash() const {
  auto now = base::read_regular(context_.files, source_.path);
  return base::content_hash(source_.hash_scheme + "\n" + source_.relative + "\n" + (now ? *now : ""));
}

std::vector<model::StrategyStep> PythonSession::source_strategies() const { return strategies_of(source_, rewrites_); }

std::vector<std::string> PythonSession::remarks() {
  const auto held = implementations_->hold();
  std::vector<std::string> all = source_.problems;
  const std::vector<std::string> more = records_->remarks();
  all.insert(all.end(), more.begin(), more.end());
  if (const auto cells = timings_.cells_with_gaps(); !cells.empty())
    all.push_back(
        "the host was still queueing when the device was free, so gaps of the host are in the kernel time of " +
        base::join_text(cells, ", "));
  if (unmeasurable_.empty() && cases_.rows() > 0)
    all.push_back(fmt::format("every size has {} rows (tokens)", cases_.rows()));
  return all;
}

base::Result<Built> PythonSession::build(const model::Variant& variant) {
  const auto held = implementations_->hold();
  survey_.make();
  return builds_->build(variant);
}

base::Result<BuiltPart> PythonSession::build_settings(const std::string& pass, const std::string& x_value,
                                                      const model::Settings& settings) {
  const auto held = implementations_->hold();
  return builds_->build_settings(pass, x_value, settings);
}

void PythonSession::build_ahead(const std::string& pass, const std::vector<std::string>& x_values,
                                const std::vector<model::Settings>& settings) {
  const auto held = implementations_->hold();
  builds_->build_ahead(pass, x_values, settings);
}

base::Result<std::unique_ptr<measure::Subject>> PythonSession::subject(const model::Variant& variant,
                                                                       const Cell& cell) {
  const auto held = implementations_->hold();
  return timings_.subject(variant, cell);
}

base::Result<std::unique_ptr<measure::Subject>> PythonSession::subject_with(const Cell& cell,
                                                                            const model::Settings& settings) {
  const auto held = implementations_->hold();
  return timings_.subject_with(cell, settings);
}

base::Result<std::unique_ptr<measure::Subject>> PythonSession::provider_subject(const std::string& provider,
                                                                                const Cell& cell) {
  const auto held = implementations_->hold();
  return timings_.provider_subject(provider, cell);
}

base::Result<std::optional<PassParts>> PythonSession::parts(const model::Variant& variant, const Cell& cell) {
  const auto held = implementations_->hold();
  return timings_.parts(variant, cell);
}

base::Result<MemoryUse> PythonSession::memory(const model::Variant& variant, const std::string& x_value) {
  const auto held = implementations_->hold();
  return timings_.memory(variant, x_value);
}

base::Result<MemoryUse> PythonSession::provider_memory(const std::string& provider, const std::string& x_value) {
  const auto held = implementations_->hold();
  return timings_.provider_memory(provider, x_value);
}

base::Result<model::Ceilings> PythonSession::ceilings() {
  const auto held = implementations_->hold();
  return bounds_.ceilings();
}

void PythonSession::take_ceilings(const model::Ceilings& ceilings) {
  const auto held = implementations_->hold();
  bounds_.take(ceilings);
}

base::Result<model::Ceilings> PythonSession::ceilings_again() {
  const auto held = implementations_->hold();
  return bounds_.ceilings_again();
}

PassFloor PythonSession::floor(const Cell& cell) {
  const auto held = implementations_->hold();
  return bounds_.floor(cell);
}

base::Result<GateResult> PythonSession::gate(const model::Variant& variant, GateLevel level) {
  const auto held = implementations_->hold();
  HONE_TRY(text, variants_.text_of(variant));
  return gate_.judge(*text, level);
}

std::vector<Proposal> PythonSession::propose(const std::string& strategy, const model::Profile& profile,
                                             const model::Variant& best) {
  const auto held = implementations_->hold();
  const auto spills = [&](const std::string& pass) {
    const BuiltPart* part = sizes().empty() ? nullptr : builds_->original(pass, sizes().back());
    return part && part->spill_bytes > 0;
  };
  return proposals_for(strategy, profile, best, {context_.files, source_, cases_.request().scope, spills});
}

base::Result<std::vector<FileChange>> PythonSession::installation(const model::Variant& variant) {
  const auto held = implementations_->hold();
  HONE_TRY(text, variants_.text_of(variant));
  style_.reset();
  if (!source_.style_configuration.empty()) {
    HONE_TRY(checked, styled(context_, source_, *text));
    *text = std::move(checked->text);
    style_ = std::move(checked->checks);
  }
  HONE_TRY(now, base::read_regular(context_.files, source_.path));
  return std::vector<FileChange>{{source_.path, *now, *text, true}};
}

base::Result<model::Counters> PythonSession::counters() {
  const auto held = implementations_->hold();
  return capture_counters(context_, source_, cases_, implementations_->device());
}

}  // namespace hone::repository::python
