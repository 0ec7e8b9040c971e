// The last linear layer of a model and its cross entropy as an operation of the catalogue.
#pragma once

#include <memory>

#include "kernels/catalog/operation.hpp"

namespace kernels {

std::unique_ptr<Operation> make_fused_linear_cross_entropy();

}  // namespace kernels
