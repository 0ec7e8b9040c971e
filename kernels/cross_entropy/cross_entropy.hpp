// Cross entropy of logits and labels as tile programs: the formula and the defines are in cross_entropy_rows.hpp.
#pragma once

#include "kernels/cross_entropy/cross_entropy_rows.hpp"

#if TILE_PASS == TILE_FORWARD
TILE_ENTRY(cross_entropy_count, cross_entropy::count)
TILE_ENTRY(cross_entropy_forward, cross_entropy::forward)
TILE_ENTRY(cross_entropy_reduce, cross_entropy::reduce)
#else
TILE_ENTRY(cross_entropy_scale, cross_entropy::scale)
TILE_ENTRY(cross_entropy_scale_rows, cross_entropy::scale_rows)
#endif
