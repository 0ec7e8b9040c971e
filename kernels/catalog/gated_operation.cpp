// See gated_operation.hpp.
#include "kernels/catalog/gated_operation.hpp"

namespace kernels {

SourceNotes GatedOperation::source_notes(const Problem& problem) const {
  return {"unit stride along a row, rows contiguous or padded; each element is read once",
          "with STREAMING_STORES = 1 the rows of c, da and db bypass the caches",
          in_place(problem) ? "backward writes da over a and db over b, element by element after reading"
                            : "none: da and db have memory of their own",
          "nothing is saved besides the inputs; " + gate_.gate + " is recomputed in backward",
          "sigmoid and products in fp32; " + gate_.gate + " and the results rounded to the type, to nearest even",
          gate_.activation + " in fp32, rounded to the type before " + gate_.rounded_before,
          "one map over each row",
          "ELEMENT, BLOCK_ROW, UNROLL, VECTOR_BYTES, PREFETCH, STREAMING_STORES"};
}

std::vector<TensorSpec> GatedOperation::tensors(const Problem& problem) const {
  if (in_place(problem)) return row_matrices({"a", "b", "c", "dc"}, problem);
  return row_matrices({"a", "b", "c", "dc", "da", "db"}, problem);
}

PassSpec GatedOperation::pass(Pass pass, const Problem& problem) const {
  if (pass == Pass::forward) return {{"a", "b"}, {"c"}, {}, {}};
  if (in_place(problem)) return {{"dc", "a", "b"}, {"a", "b"}, {"a", "b"}, {}};
  return {{"dc", "a", "b"}, {"da", "db"}, {}, {}};
}

RowSpace GatedOperation::space(Pass pass) const {
  RowSpace space;
  space.block_rows = {1, 2};  // rows share nothing: two of them are two more streams, no reuse
  space.most_vectors = 4;     // the polynomial of the exponential takes a dozen registers beside each vector in flight
  const bool forward = pass == Pass::forward;
  space.streamed_operands = forward ? 2 : 3;
  space.result_matrices = forward ? 1 : 2;
  space.registers = forward ? 16 : 24;
  return space;
}

void GatedOperation::add_launches(RowPlan& plan, Pass pass, const Problem& problem) const {
  std::vector<float> numbers;
  if (const auto factor = multiplier(problem)) numbers = {*factor};
  if (pass == Pass::forward) {
    plan.over_rows(name() + "_forward", {"c", "a", "b"}, {}, numbers);
  } else if (in_place(problem)) {
    plan.over_rows(name() + "_backward", {"a", "b", "dc", "a", "b"}, {}, numbers);
  } else {
    plan.over_rows(name() + "_backward", {"da", "db", "dc", "a", "b"}, {}, numbers);
  }
}

// A framework's three operations (two without a multiplier), and the chain rule through them.
void GatedOperation::add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const {
  const float factor = multiplier(problem).value_or(1);
  Operand gate = "a";
  if (factor != 1) plan.over_rows("eager_scale", {gate = plan.temporary("gate"), "a"}, {}, {factor, 0});
  if (pass == Pass::forward) {
    const Operand activated = plan.temporary("activated");
    plan.over_rows("eager_activate", {activated, gate});
    plan.over_rows("eager_multiply", {"c", activated, "b"});
    return;
  }
  const Operand dactivated = plan.temporary("dactivated"), da = in_place(problem) ? "a" : "da";
  plan.over_rows("eager_multiply", {dactivated, "dc", "b"});
  plan.over_rows("eager_multiply_by_activation", {in_place(problem) ? "b" : "db", "dc", gate});
  const Operand dgate = factor != 1 ? plan.temporary("dgate") : da;
  plan.over_rows("eager_activation_backward", {dgate, dactivated, gate});
  if (factor != 1) plan.over_rows("eager_scale", {da, dgate}, {}, {factor, 0});
}

}  // namespace kernels
