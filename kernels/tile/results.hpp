// What a map or several sums write at one element, for several destinations: the same on every machine.
#pragma once

#ifdef __CUDACC__
#include "kernels/tile/cuda_elements.hpp"
#else
#include "kernels/tile/element_types.hpp"
#endif

namespace tile {

template <int K>
struct Results {
  Values of[K];
};
TILE_FN Results<1> as_results(Values v) { return {{v}}; }
template <int K>
TILE_FN Results<K> as_results(Results<K> r) {
  return r;
}
template <class... P>
TILE_FN Results<int(sizeof...(P))> results(P... p) {
  return {{p...}};
}

}  // namespace tile
