// GRPO's loss as an operation of the catalogue.
#pragma once

#include <memory>

#include "kernels/catalog/operation.hpp"

namespace kernels {

std::unique_ptr<Operation> make_grpo_loss();

}  // namespace kernels
