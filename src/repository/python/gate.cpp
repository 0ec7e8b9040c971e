#include "repository/python/gate.hpp"

#include <future>

#include "base/regular_file.hpp"
#include "repository/python/numerics_gate.hpp"
#include "source/sha256.hpp"

namespace hone::repository::python {

base::Result<GateResult> Gate::judge(const std::string& text, GateLevel level) {
  HONE_PROPAGATE(implementations_.worker());
  HONE_TRY(implementation, implementations_.of(text));
  const std::pair<std::string, GateLevel> key(*implementation, level);
  if (const auto known = judged_.find(key); known != judged_.end()) return known->second;
  auto judged = judge_anew(*implementation, text, level);
  if (judged) judged_.emplace(key, *judged);
  return judged;
}

// Tests and benchmark must be what they were: a variant may not pass by changing them.
std::string Gate::hashes_of_judges() const {
  std::string all;
  for (const std::string& file : source_.judges) {
    auto content = base::read_regular(context_.files, base::join(source_.root, file));
    all += file + " " + (content ? source::sha256_hex(*content) : "absent") + "\n";
  }
  return all;
}

base::Result<GateResult> Gate::judge_anew(const std::string& implementation, const std::string& text, GateLevel level) {
  const bool has_tests = !source_.test_file.empty();
  const std::string before = hashes_of_judges();
  // On a GPU the tests run beside the other cases once one has passed. The two share no process and no member that either
  // writes.
  std::future<base::Result<GateResult>> beside;
  auto numbers = check_numerics(implementation, *source_.description, cases_, implementations_, level, [&] {
    if (!implementations_.interpreted() && has_tests)
      beside = std::async(std::launch::async, [&] { return tests_.judge(level, text); });
  });
  if (beside.valid()) beside.wait();
  if (!numbers || numbers->failed > 0) return numbers;
  if (!has_tests) {
    numbers->detail += "; " + source_.place + " has no test file for the operation";
    return numbers;
  }
  auto tests = beside.valid() ? beside.get() : tests_.judge(level, text);
  if (!tests) return tests;
  if (hashes_of_judges() != before) {
    ++tests->failed;
    tests->first_failure = "the operation's tests or benchmark changed while they ran";
  }
  tests->detail = numbers->detail + "; " + tests->detail;
  if (!tests->ok()) return tests;
  tests->passed += numbers->passed;
  tests->largest_error_over_bound = numbers->largest_error_over_bound;
  return tests;
}

}  // namespace hone::repository::python
