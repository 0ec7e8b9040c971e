// The residual addition and RMSNorm as an unfused framework runs them: the primitive operations that the plan of the eager
// provider strings together. ELEMENT is the type in memory, COMPUTE the type of the temporaries.
#pragma once

#include "kernels/tile/eager.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif
#ifndef COMPUTE
#define COMPUTE fp32
#endif

namespace eager = tile::eager;
using T = tile::ELEMENT;
using C = tile::COMPUTE;

TILE_ENTRY(eager_add, eager::add<T, T, T>)
TILE_ENTRY(eager_weight, eager::affine<C, T>)
TILE_ENTRY(eager_scale_rows, eager::scale_rows<C, C, C>)
#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(eager_upcast, eager::convert<C, T>)
TILE_ENTRY(eager_scale_columns, eager::scale_columns<T, C, C>)
TILE_ENTRY(eager_square, eager::square<C>)
TILE_ENTRY(eager_mean, eager::sum_of_row<C, C>)
TILE_ENTRY(eager_add_eps, eager::affine<C, C>)
TILE_ENTRY(eager_rsqrt, eager::reciprocal_root<C>)
#else
TILE_ENTRY(eager_scale_gradient, eager::scale_columns<C, T, C>)
TILE_ENTRY(eager_multiply, eager::multiply<C, C, T>)
TILE_ENTRY(eager_weight_terms, eager::weight_terms<T, C>)
TILE_ENTRY(eager_dot, eager::sum_of_row<float, C>)
TILE_ENTRY(eager_mean_square_gradient, eager::mean_square_gradient<C>)
TILE_ENTRY(eager_scale_by_gradient, eager::scale_rows<C, T, float>)
TILE_ENTRY(eager_add_gradients, eager::add<T, C, C>)
TILE_ENTRY(eager_partial_column_sum, eager::partial_column_sum<T>)
TILE_ENTRY(eager_column_sum, tile::column_sum<T>)
#endif
