// The operations of the catalogue, each defined by its own <op>_operation.cpp.
#pragma once

#include <memory>

#include "kernels/catalog/operation.hpp"

namespace kernels {

std::unique_ptr<Operation> make_cross_entropy();
std::unique_ptr<Operation> make_dyt();
std::unique_ptr<Operation> make_fused_add_rms_norm();
std::unique_ptr<Operation> make_fused_linear_cross_entropy();
std::unique_ptr<Operation> make_geglu();
std::unique_ptr<Operation> make_grpo_loss();
std::unique_ptr<Operation> make_layer_norm();
std::unique_ptr<Operation> make_relu_squared();
std::unique_ptr<Operation> make_rms_norm();
std::unique_ptr<Operation> make_softmax();
std::unique_ptr<Operation> make_swiglu();

}  // namespace kernels
