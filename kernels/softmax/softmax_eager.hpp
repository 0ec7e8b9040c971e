// Softmax as an unfused framework runs it: the primitive operations that the plan of the eager provider strings together.
// ELEMENT is the type in memory, temporaries are fp32.
#pragma once

#include "kernels/tile/eager.hpp"

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace eager = tile::eager;
using T = tile::ELEMENT;

TILE_ENTRY(eager_sum, eager::sum_of_row<float, float>)
#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(eager_maximum, eager::maximum_of_row<float, T>)
TILE_ENTRY(eager_subtract_rows, eager::subtract_rows<float, T, float>)
TILE_ENTRY(eager_exponential, eager::exponential<float>)
TILE_ENTRY(eager_divide_rows, eager::divide_rows<T, float, float>)
#else
TILE_ENTRY(eager_multiply, eager::multiply<float, T, T>)
TILE_ENTRY(eager_subtract_rows, eager::subtract_rows<float, T, float>)
TILE_ENTRY(eager_multiply_down, eager::multiply<T, float, T>)
#endif
