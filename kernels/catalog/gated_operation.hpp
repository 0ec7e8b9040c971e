// Gated linear units (Shazeer 2020, arXiv:2002.05202): c = activation(a) * b of each element.
#pragma once

#include "kernels/catalog/row_operation.hpp"

namespace kernels {

// How a gated unit's activation is called and used, in the words of the source notes.
struct Gate {
  std::string activation;      // "silu"
  std::string gate;            // "silu(s a)"
  std::string rounded_before;  // "the product with b"
};

class GatedOperation : public RowOperation {
 public:
  explicit GatedOperation(Gate gate) : gate_(std::move(gate)) {}

  int tier() const override { return 1; }
  std::string tier_reason() const override { return "each element depends on its own inputs alone"; }
  std::vector<OptionSpec> options() const override {
    return {{"in_place", {"no", "yes"}, "whether backward writes da over a and db over b"}};
  }
  SourceNotes source_notes(const Problem& problem) const override;
  std::vector<TensorSpec> tensors(const Problem& problem) const override;
  PassSpec pass(Pass pass, const Problem& problem) const override;

 protected:
  // What the gate is multiplied by ahead of the activation, where the programs take such a number.
  virtual std::optional<float> multiplier(const Problem&) const { return {}; }

  RowSpace space(Pass pass) const override;
  void add_launches(RowPlan& plan, Pass pass, const Problem& problem) const override;
  void add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const override;
  DType eager_dtype(const Problem& problem) const override { return problem.dtype; }

 private:
  Gate gate_;
};

}  // namespace kernels
