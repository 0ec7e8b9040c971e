#include "repository/python/numerics_gate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "measure/dtypes.hpp"
#include "measure/numerics.hpp"

namespace hone::repository::python {

namespace {

// A variant may be at most this much further from the exact result than the original is. Sums in another order move the error
// of a sum of n terms by a few roundings; three times the original's error is more than any of them, and far less than a fault.
constexpr double kErrorFactor = 3;

measure::DType dtype_of(const std::string& torch_name) {
  if (torch_name == "bfloat16") return measure::DType::bf16;
  if (torch_name == "float16") return measure::DType::fp16;
  return measure::DType::fp32;
}

measure::Deviation deviation_of(const TensorDeviation& d) {
  measure::Deviation deviation;
  deviation.elements = static_cast<std::size_t>(d.elements);
  deviation.non_finite = static_cast<std::size_t>(d.non_finite);
  deviation.worst_error = d.worst_error;
  deviation.worst_error_index = static_cast<std::size_t>(std::max<std::int64_t>(0, d.worst_index));
  deviation.norm_error = d.norm_error;
  deviation.largest_reference = d.largest_reference;
  return deviation;
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const auto& [name, extent] : shape) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  return text;
}

// What is wrong with a variant's answer on one case; empty when nothing is.
std::string fault_of(const CheckReply& reply, double& largest_ratio) {
  if (!reply.original_refused.empty()) return "";  // the original does not run this shape: nothing to compare
  if (!reply.candidate_refused.empty()) return "it does not run, and the original does: " + reply.candidate_refused;
  if (!reply.disturbed.empty())
    return "it writes to memory that is not its own: changed are " + base::join_text(reply.disturbed, ", ");
  if (!reply.changed_inputs.empty()) return "it overwrites its input " + base::join_text(reply.changed_inputs, ", ");
  if (!reply.missing.empty()) return "it does not give " + base::join_text(reply.missing, ", ");
  for (const CheckedTensor& tensor : reply.tensors) {
    if (!tensor.same_form) return tensor.name + " has another shape or type than the original's";
    if (!tensor.has_reference) return tensor.name + " has no reference";
    const TensorDeviation &c = tensor.candidate, &o = tensor.original;
    if (c.non_finite > o.non_finite)
      return fmt::format(
          "{}: {} values are not finite where the exact result is (the first is element {}); the original has {}",
          tensor.name, c.non_finite, c.first_non_finite, o.non_finite);
    const std::string worse =
        measure::worse_than_baseline(deviation_of(c), deviation_of(o), kErrorFactor, dtype_of(tensor.dtype));
    if (o.norm_error > 0) largest_ratio = std::max(largest_ratio, c.norm_error / o.norm_error / kErrorFactor);
    if (!worse.empty())
      return fmt::format("{}: {}; worst is element {}: {:.6g} instead of {:.6g}", tensor.name, worse, c.worst_index,
                         c.worst_value, c.worst_reference);
  }
  return "";
}

// Triton's interpreter computes bfloat16 and float16 in ways the compiler does not; there float32 is what can be judged.
std::vector<std::string> judged_dtypes(const std::string& asked, GateLevel level, bool interpreted) {
  if (interpreted) return {"fp32"};
  if (level == GateLevel::full) return {"fp32", "bf16", "fp16"};
  return {"fp32", asked == "fp32" ? "bf16" : asked};
}

base::Result<std::vector<CaseSpec>> cases_of_gate(const OperatorDescription& description, const Cases& cases,
                                                  GateLevel level, bool interpreted) {
  std::vector<CaseSpec> specs;
  for (const Shape& shape : description.gate_shapes(level == GateLevel::full, interpreted))
    for (const std::string& dtype : judged_dtypes(cases.request().dtype, level, interpreted)) {
      HONE_TRY(spec, cases.judged(shape, dtype));
      specs.push_back(std::move(*spec));
    }
  return specs;
}

}  // namespace

base::Result<GateResult> check_numerics(const std::string& implementation, const OperatorDescription& description,
                                        const Cases& cases, Implementations& implementations, GateLevel level,
                                        const std::function<void()>& after_first_pass) {
  GateResult gate;
  int refused = 0, unrepeatable = 0;
  HONE_TRY(specs, cases_of_gate(description, cases, level, implementations.interpreted()));
  implementations.compile_ahead({kOriginal, implementation}, *specs, cases.passes());
  for (const CaseSpec& spec : *specs) {
    const auto failed = [&](const std::string& why) {
      if (gate.failed++ == 0) gate.first_failure = fmt::format("{} {}: {}", spec.dtype, shape_text(spec.shape), why);
    };
    HONE_PROPAGATE(implementations.with(kOriginal));
    HONE_PROPAGATE(implementations.with(implementation));
    auto reply = implementations.ask(implementation,
                                     [&](Worker& worker) { return worker.check(kOriginal, implementation, spec); });
    if (!reply) {
      if (reply.error().kind == base::ErrorKind::interrupted) return reply.error();
      failed(reply.error().found);
    } else if (!reply->original_refused.empty()) {
      ++refused;
    } else {
      for (const CheckedTensor& tensor : reply->tensors) unrepeatable += tensor.repeats ? 0 : 1;
      const std::string fault = fault_of(*reply, gate.largest_error_over_bound);
      if (!reply->disturbed.empty()) implementations.abandon(implementation, fault);
      if (!fault.empty())
        failed(fault);
      else if (++gate.passed == 1)
        after_first_pass();
    }
    if (implementations.ended(implementation)) break;
  }
  gate.detail =
      fmt::format("numerics against double precision: {} cases passed, {} failed, {} that the original refuses",
                  gate.passed, gate.failed, refused);
  if (unrepeatable > 0) gate.detail += fmt::format("; {} results differ from run to run", unrepeatable);
  if (gate.passed + gate.failed == 0) gate.first_failure = "the original refuses every case: nothing was compared";
  return gate;
}

}  // namespace hone::repository::python
