#include "repository/launch/verification.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "measure/inputs.hpp"
#include "repository/launch/guarded_run.hpp"

namespace hone::repository::launch {

namespace {

// A variant may round differently from the original, but not worse than this many times its error in norm and in the worst
// element.
constexpr double kErrorFactor = 4.0;

class CaseRun {
 public:
  CaseRun(const Verification& verification, const Problem& problem)
      : verification_(verification), operation_(verification.operation), problem_(problem) {}

  base::Result<std::vector<VerifiedCase>> run(std::uint64_t seed) {
    HONE_PROPAGATE(generate(seed));
    std::vector<VerifiedCase> cases;
    for (const std::string& pass : operation_.passes()) {
      if (!cases.empty() && !cases.back().result.passed && !go_on_after(cases.back().result.mode)) break;
      HONE_TRY(done, one_pass(pass));
      cases.push_back(std::move(*done));
      if (cases.back().result.hung) break;
    }
    return cases;
  }

 private:
  // Whether it is known what a pass that failed should have left for the next one: its reference tells.
  bool go_on_after(const std::string& failed) {
    return problem_.has_reference(failed) && (is_expected_ || problem_.reference(failed, values_).ok());
  }

  base::Result<void> generate(std::uint64_t seed) {
    HONE_TRY(tensors, problem_.tensors());
    for (TensorSpec& tensor : *tensors) {
      std::string name = tensor.name;
      tensors_.emplace(std::move(name), std::move(tensor));
    }
    std::uint64_t stream = 0;
    for (const auto& [name, tensor] : tensors_) {
      ++stream;
      if (!is_given(problem_, operation_.passes(), name)) continue;
      given_.insert(name);
      const auto elements = static_cast<std::size_t>(tensor.rows * tensor.columns);
      std::vector<std::uint8_t> raw(elements * static_cast<std::size_t>(kernels::size_of(tensor.dtype)));
      measure::fill(input_of(tensor, seed * 1000 + stream), raw.data(), elements, 1);
      values_[name] = measure::decode(tensor.dtype, raw.data(), elements);
    }
    return {};
  }

  // Every tensor as it is before the pass: inputs have their values, the rest is poisoned.
  std::map<std::string, GuardedTensor> guarded(const PassSpec& spec, const Values& before) const {
    std::map<std::string, GuardedTensor> tensors;
    for (const auto& [name, tensor] : tensors_) {
      GuardedTensor guarded;
      guarded.shape = {tensor.dtype, tensor.rows, tensor.columns, tensor.row_stride};
      guarded.output = base::contains(spec.outputs, name) || base::contains(spec.saved, name);
      guarded.may_change = base::contains(spec.overwritten, name);
      if (base::contains(spec.inputs, name) || (given_.count(name) > 0 && !guarded.output))
        guarded.values = before.at(name);
      tensors.emplace(name, std::move(guarded));
    }
    return tensors;
  }

  base::Result<GuardedOutcome> outcome_of(const Bind& bind, const std::string& pass, const Values& before) {
    return run_guarded(verification_.device, guarded(problem_.pass(pass), before), problem_.misaligned_bytes(),
                       [&](const TensorViews& views) { return bind(problem_, pass, views); });
  }

  base::Result<VerifiedCase> one_pass(const std::string& pass) {
    VerifiedCase done;
    CaseResult& result = done.result;
    result.kernel = operation_.identity().kernel;
    result.mode = pass;
    result.dtype = kernels::name_of(problem_.dtype());
    result.shape = problem_.shape();
    result.label = problem_.label();
    result.bound = 1;
    const Values before = values_;
    is_expected_ = false;
    auto candidate = outcome_of(verification_.candidate, pass, before);
    if (!candidate && candidate.error().kind == base::ErrorKind::gate) {
      result.failure = candidate.error().found;
      return done;
    }
    if (!candidate) return candidate.error();
    result.hung = candidate->hung;
    if (result.failure = candidate->fault; !result.failure.empty()) return done;
    Values original = candidate->outputs;
    if (verification_.original) {
      HONE_TRY(outcome, outcome_of(verification_.original, pass, before));
      if (!outcome->fault.empty()) {
        result.failure = "the original itself fails: " + outcome->fault;
        result.hung = outcome->hung;
        return done;
      }
      original = std::move(outcome->outputs);
    }
    if (!problem_.has_reference(pass)) {
      for (const auto& [name, values] : original) values_[name] = values;
    } else if (auto computed = problem_.reference(pass, values_); !computed) {
      return computed.error();
    }
    is_expected_ = true;
    for (const auto& [name, values] : candidate->outputs) {
      HONE_TRY(wrong, judge(pass, name, values, original.at(name), before, done));
      if (result.failure = *wrong; !result.failure.empty()) return done;
    }
    if (operation_.is_deterministic() && !candidate->unsteady.empty()) {
      result.failure = candidate->unsteady + operation_.unsteady_remedy();
      return done;
    }
    // The next pass starts from what this implementation left, and so does its reference: errors are judged once.
    for (auto& [name, values] : candidate->outputs) values_[name] = std::move(values);
    result.passed = true;
    return done;
  }

  // What is wrong with an output; empty where nothing is.
  base::Result<std::string> judge(const std::string& pass, const std::string& name, const std::vector<double>& found,
                                  const std::vector<double>& original, const Values& before, VerifiedCase& done) {
    const auto computed = values_.find(name);
    if (computed == values_.end()) return name + ": the reference computes no such tensor";
    const std::vector<double>& reference = computed->second;
    if (reference.size() != found.size())
      return fmt::format("{}: {} elements where the reference has {}", name, found.size(), reference.size());
    const kernels::DType dtype = tensors_.at(name).dtype;
    HONE_TRY(tolerance, problem_.tolerance(pass, name, before, values_));
    const measure::Deviation deviation = measure::deviation_from(reference, found, tolerance->bound, dtype);
    done.result.error = std::max(done.result.error, deviation.worst_over_bound);
    const bool is_compared = verification_.original && problem_.has_reference(pass);
    const auto of_original = [&] { return measure::deviation_from(reference, original, tolerance->bound, dtype); };
    if (!deviation.within_bound()) {
      std::string wrong = name + ": " + measure::describe(deviation, reference, found, tolerance->bound);
      if (is_compared && !of_original().within_bound())
        wrong += "; the original is outside its bound as well" + operation_.bound_remedy();
      return wrong;
    }
    if (is_compared && done.worse.empty() && !tolerance->is_stated)
      if (std::string worse = measure::worse_than_baseline(deviation, of_original(), kErrorFactor, dtype);
          !worse.empty())
        done.worse = name + ": " + worse;
    return std::string();
  }

  const Verification& verification_;
  const Operation& operation_;
  const Problem& problem_;
  std::map<std::string, TensorSpec> tensors_;
  std::set<std::string> given_;
  bool is_expected_ = false;  // values_ holds what the pass should have left
  Values values_;             // inputs as generated; what the passes before left; outputs of the pass as they should be
};

}  // namespace

base::Result<std::vector<VerifiedCase>> verify(const Verification& verification, const Problem& problem,
                                               std::uint64_t seed) {
  return CaseRun(verification, problem).run(seed);
}

}  // namespace hone::repository::launch
