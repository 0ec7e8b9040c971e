// The last layer and its cross entropy as an unfused framework runs them: the entries that the plan of the eager provider
// strings together, besides the matrix products.
#pragma once

#include "kernels/cross_entropy/cross_entropy_eager_rows.hpp"

#ifndef SCALES_GRADIENTS
#define SCALES_GRADIENTS 1
#endif

namespace eager = tile::eager;
using cross_entropy_eager::T;

#if TILE_PASS == TILE_FORWARD || !SCALES_GRADIENTS
#if HAS_BIAS
TILE_ENTRY(eager_add_columns, eager::add_columns<float, T, T>)
TILE_ENTRY(eager_upcast, eager::convert<float, float>)
#else
TILE_ENTRY(eager_upcast, eager::convert<float, T>)
#endif
TILE_ENTRY(eager_count, cross_entropy::count)
TILE_ENTRY(eager_reduce, cross_entropy::reduce)
TILE_ENTRY(eager_maximum, eager::maximum_of_row<float, float>)
TILE_ENTRY(eager_subtract_rows, eager::subtract_rows<float, float, float>)
TILE_ENTRY(eager_exponential, eager::exponential<float>)
TILE_ENTRY(eager_sum, eager::sum_of_row<float, float>)
TILE_ENTRY(eager_log_sum, cross_entropy_eager::log_sum)
TILE_ENTRY(eager_divide_rows, eager::divide_rows<float, float, float>)
TILE_ENTRY(eager_row_losses, cross_entropy_eager::row_losses)
TILE_ENTRY(eager_scale_rows, eager::scale_rows<float, float, float>)
TILE_ENTRY(eager_subtract_label, cross_entropy_eager::subtract_label)
TILE_ENTRY(eager_keep_rows, cross_entropy_eager::keep_rows)
TILE_ENTRY(eager_scale_by_row, eager::scale_rows<T, T, float>)
TILE_ENTRY(eager_narrow, eager::convert<T, float>)
TILE_ENTRY(eager_partial_column_sum, eager::partial_column_sum<T>)
TILE_ENTRY(eager_column_sum, tile::column_sum<T>)
#if HAS_SOFTCAP
TILE_ENTRY(eager_scale, eager::affine<float, float>)
TILE_ENTRY(eager_tanh, eager::hyperbolic_tangent<float>)
TILE_ENTRY(eager_tanh_backward, eager::tanh_backward<float, float, float>)
#endif
#if HAS_SMOOTHING
TILE_ENTRY(eager_scale_columns, eager::scale_columns<float, float, T>)
TILE_ENTRY(eager_subtract_level, cross_entropy_eager::subtract_level)
#endif
#else
TILE_ENTRY(eager_scale_all, eager::scale_all<T, T, float>)
#endif
