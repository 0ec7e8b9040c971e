#include "repository/manifest/verification.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace hone::repository::manifest {

namespace {

// A variant may round differently from the original, but not worse than this many times its error.
constexpr double kErrorFactor = 4.0;

using Values = std::map<std::string, std::vector<double>>;

class CaseRun {
 public:
  CaseRun(const Verification& verification, const Problem& problem)
      : verification_(verification), manifest_(verification.manifest), problem_(problem) {}

  base::Result<std::vector<VerifiedCase>> run(std::uint64_t seed) {
    if (auto generated = generate(seed); !generated) return generated.error();
    std::vector<VerifiedCase> cases;
    for (const PassDecl& pass : manifest_.passes) {
      auto done = one_pass(pass);
      if (!done) return done.error();
      const bool failed = !done->result.passed;
      cases.push_back(std::move(*done));
      if (failed) break;  // the next pass would read what this one got wrong
    }
    return cases;
  }

 private:
  base::Result<void> generate(std::uint64_t seed) {
    auto tensors = tensors_of(manifest_, problem_);
    if (!tensors) return tensors.error();
    std::uint64_t stream = 0;
    for (Tensor& tensor : *tensors) {
      ++stream;
      if (is_given(manifest_, tensor.name)) {
        auto spec = input_of(manifest_, problem_, *manifest_.find_tensor(tensor.name), seed * 1000 + stream);
        if (!spec) return spec.error();
        std::vector<std::uint8_t> raw(tensor.bytes());
        measure::fill(*spec, raw.data(), static_cast<std::size_t>(tensor.elements), 1);
        values_[tensor.name] = measure::decode(tensor.type, raw.data(), static_cast<std::size_t>(tensor.elements));
      }
      tensors_[tensor.name] = std::move(tensor);
    }
    return {};
  }

  std::map<std::string, GuardedTensor> guarded(const PassDecl& pass) const {
    std::map<std::string, GuardedTensor> tensors;
    for (const auto& [name, role] : pass.roles) {
      const auto known = tensors_.find(name);
      if (role == Role::scratch || known == tensors_.end()) continue;
      GuardedTensor tensor;
      tensor.shape = {known->second.type, 1, known->second.elements, known->second.elements};
      if (role != Role::output) tensor.values = values_.at(name);
      tensor.output = role != Role::input;
      tensors.emplace(name, std::move(tensor));
    }
    return tensors;
  }

  base::Result<GuardedOutcome> outcome_of(const Bind& bind, const PassDecl& pass) {
    return run_guarded(verification_.device, guarded(pass), 0,
                       [&](const TensorViews& views) { return bind(problem_, pass, views); });
  }

  // What the outputs should be. `original`: its outputs on the same inputs, where it was run.
  base::Result<Values> expected_of(const PassDecl& pass, const Values& original) {
    if (!pass.reference) return original;
    Values values;
    for (const auto& [name, role] : pass.roles) {
      if (role == Role::scratch) continue;
      values[name] = role == Role::output ? std::vector<double>(static_cast<std::size_t>(tensors_.at(name).elements),
                                                                std::numeric_limits<double>::quiet_NaN())
                                          : values_.at(name);
    }
    if (auto computed = verification_.reference(problem_, pass, values); !computed) return computed.error();
    return values;
  }

  base::Result<VerifiedCase> one_pass(const PassDecl& pass) {
    VerifiedCase done;
    CaseResult& result = done.result;
    result.kernel = manifest_.name;
    result.mode = pass.name;
    result.dtype = problem_.dtype->name;
    result.label = result.shape = label_of(manifest_, problem_);
    result.bound = 1;
    auto candidate = outcome_of(verification_.candidate, pass);
    if (!candidate && candidate.error().kind == base::ErrorKind::gate) {
      result.failure = candidate.error().found;
      return done;
    }
    if (!candidate) return candidate.error();
    if (result.failure = candidate->fault; !result.failure.empty()) return done;
    Values original = candidate->outputs;
    if (verification_.original) {
      auto outcome = outcome_of(verification_.original, pass);
      if (!outcome) return outcome.error();
      if (!outcome->fault.empty()) {
        result.failure = "the original itself fails: " + outcome->fault;
        return done;
      }
      original = outcome->outputs;
    }
    auto expected = expected_of(pass, original);
    if (!expected) return expected.error();
    for (const auto& [name, values] : candidate->outputs) {
      auto wrong = judge(pass, name, values, original.at(name), *expected, done);
      if (!wrong) return wrong.error();
      if (result.failure = *wrong; !result.failure.empty()) return done;
    }
    if (manifest_.deterministic && !candidate->unsteady.empty()) {
      result.failure = candidate->unsteady + "; where that is meant (atomics), the manifest says deterministic = false";
      return done;
    }
    for (const auto& [name, values] : candidate->outputs) values_[name] = values;
    result.passed = true;
    return done;
  }

  base::Result<std::string> judge(const PassDecl& pass, const std::string& name, const std::vector<double>& found,
                                  const std::vector<double>& original, const Values& expected, VerifiedCase& done) {
    const std::vector<double>& reference = expected.at(name);
    const measure::DType type = tensors_.at(name).type;
    if (!reference.empty() &&
        std::none_of(reference.begin(), reference.end(), [](double v) { return std::isfinite(v); }))
      return name +
             ": what it is compared with has no finite element, so that nothing is compared; choose other 'values' "
             "of the inputs, or correct the reference";
    auto factor = tolerance_of(manifest_, problem_, *manifest_.find_tensor(name));
    if (!factor) return factor.error();
    const measure::Bound bound{*factor, measure::root_mean_square(reference), {}};
    const measure::Deviation deviation = measure::deviation_from(reference, found, bound, type);
    done.result.error = std::max(done.result.error, deviation.worst_over_bound);
    done.result.deviations[name] = deviation;
    if (!deviation.within_bound()) {
      std::string wrong = name + ": " + measure::describe(deviation, reference, found, bound);
      if (verification_.original && pass.reference &&
          !measure::deviation_from(reference, original, bound, type).within_bound())
        wrong += "; the original is outside its bound as well: widen 'tolerance', or correct the reference";
      return wrong;
    }
    // A tolerance that the manifest states is its author's word for what is good enough.
    if (verification_.original && pass.reference && done.worse.empty() && !manifest_.find_tensor(name)->tolerance) {
      const std::string worse = measure::worse_than_baseline(
          deviation, measure::deviation_from(reference, original, bound, type), kErrorFactor, type);
      if (!worse.empty()) done.worse = name + ": " + worse;
    }
    return std::string();
  }

  const Verification& verification_;
  const Manifest& manifest_;
  const Problem& problem_;
  std::map<std::string, Tensor> tensors_;
  Values values_;  // inputs as generated, and what the passes before left
};

constexpr std::int64_t kSmokeX[] = {1, 17, 128, 257, 1000};
constexpr std::int64_t kFullX[] = {1, 2, 17, 31, 64, 127, 128, 257, 1000, 1024, 4099};
constexpr std::int64_t kFree[] = {3, 1, 17, 33};
// Elements of all tensors of a case: a reference in one thread takes some 10 ns for each.
constexpr std::int64_t kMostOfSmoke = std::int64_t{1} << 20, kMostOfFull = std::int64_t{1} << 24;

bool small_enough(const Manifest& manifest, const Problem& problem, std::int64_t most) {
  auto tensors = tensors_of(manifest, problem);
  if (!tensors) return false;
  std::int64_t elements = 0;
  for (const Tensor& tensor : *tensors) elements += tensor.elements;
  return elements <= most;
}

// The problem of an x with small free sizes, the n-th choice of them; nothing where the kernel runs none of the choices.
std::optional<Problem> small_problem(const Manifest& manifest, std::int64_t x, const DTypeDecl& dtype, std::size_t n,
                                     std::int64_t most) {
  constexpr std::size_t kTries = 8;
  for (std::size_t attempt = 0; attempt < kTries; ++attempt) {
    std::map<std::string, std::int64_t> free;
    for (std::size_t i = 0; i < manifest.symbols.size(); ++i) {
      const SizeSymbol& symbol = manifest.symbols[i];
      if (symbol.derived) continue;
      const auto stated = manifest.verify.find(symbol.name);
      const std::size_t turn = n + attempt + i;
      free[symbol.name] = stated != manifest.verify.end() ? stated->second[turn % stated->second.size()]
                                                          : kFree[turn % std::size(kFree)];
    }
    auto problem = problem_at(manifest, x, dtype, free);
    if (problem && small_enough(manifest, *problem, most)) return *problem;
  }
  auto problem = problem_at(manifest, x, dtype);
  if (problem && small_enough(manifest, *problem, most)) return *problem;
  return std::nullopt;
}

}  // namespace

std::string label_of(const Manifest& manifest, const Problem& problem) {
  std::string label = fmt::format("{}={}", manifest.x_name, problem.x);
  for (const SizeSymbol& symbol : manifest.symbols)
    if (!symbol.derived) label += fmt::format(" {}={}", symbol.name, problem.sizes.at(symbol.name));
  return label + " " + problem.dtype->name;
}

std::vector<Problem> verification_problems(const Manifest& manifest, Extent extent,
                                           const std::vector<const DTypeDecl*>& dtypes,
                                           const std::vector<std::int64_t>& sizes) {
  const bool full = extent == Extent::full;
  const std::int64_t most = full ? kMostOfFull : kMostOfSmoke;
  std::vector<std::int64_t> values;
  if (const auto stated = manifest.verify.find(manifest.x_name); stated != manifest.verify.end())
    values = stated->second;
  else if (full)
    values.assign(std::begin(kFullX), std::end(kFullX));
  else
    values.assign(std::begin(kSmokeX), std::end(kSmokeX));
  std::vector<Problem> problems;
  for (const DTypeDecl* dtype : dtypes) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (auto problem = small_problem(manifest, values[i], *dtype, i, most)) problems.push_back(std::move(*problem));
    // The sizes that are measured, as they are where that is not too much to compute.
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      auto own = problem_at(manifest, sizes[i], *dtype);
      if (own && full && small_enough(manifest, *own, most))
        problems.push_back(std::move(*own));
      else if (auto problem = small_problem(manifest, sizes[i], *dtype, i, most))
        problems.push_back(std::move(*problem));
    }
  }
  return problems;
}

base::Result<std::vector<VerifiedCase>> verify_problem(const Verification& verification, const Problem& problem,
                                                       std::uint64_t seed) {
  return CaseRun(verification, problem).run(seed);
}

}  // namespace hone::repository::manifest
