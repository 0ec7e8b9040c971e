// Where the programs of RMSNorm round values to ELEMENT besides their results. CASTING_MODE 0 llama: the normalized value;
// 1 gemma: nowhere; 2 none: every intermediate value of the forward pass, rstd included. All else is fp32.
#pragma once

#include "kernels/tile/tile.hpp"

#ifndef CASTING_MODE
#define CASTING_MODE 0
#endif

namespace tile {

enum class Casting { llama, gemma, none };
constexpr Casting casting = static_cast<Casting>(CASTING_MODE);

template <class T, bool None = casting == Casting::none>
struct RstdType {
  using type = float;
};
template <class T>
struct RstdType<T, true> {
  using type = T;
};
template <class T>
using Rstd = typename RstdType<T>::type;

// x * rstd.
template <class T, class V>
TILE_FN V normalized(V x, float rstd) {
  if constexpr (casting == Casting::gemma) return x * rstd;
  return rounded<T>(x * rstd);
}

// The weight with its offset, as the forward pass multiplies by it.
template <class T, class V>
TILE_FN V scale(V weight, float offset) {
  if constexpr (casting == Casting::none) return rounded<T>(weight + offset);
  return weight + offset;
}

}  // namespace tile
