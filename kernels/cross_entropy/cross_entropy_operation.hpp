// Cross entropy as an operation of the catalogue.
#pragma once

#include <memory>

#include "kernels/catalog/operation.hpp"

namespace kernels {

std::unique_ptr<Operation> make_cross_entropy();

}  // namespace kernels
