// What squared ReLU's passes allow as settings: the space of their RowConfig.
#pragma once

#include "kernels/catalog/row_config.hpp"

namespace kernels::relu_squared {

RowSpace space(Pass pass);
RowSpace space(Pass pass, const Problem& problem);

}  // namespace kernels::relu_squared
