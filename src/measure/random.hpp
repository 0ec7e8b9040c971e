// Pseudo-random numbers that are the same on every platform and library: xoshiro256** (Blackman and Vigna 2018), seeded by
// SplitMix64 (Steele, Lea, Flood 2014). The standard library's distributions differ between implementations, so none is used.
#pragma once

#include <bit>
#include <cstdint>

namespace hone::measure {

// Spreads a seed over 64 bits; also turns (seed, stream) into independent seeds.
constexpr std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0) {
    std::uint64_t mixed = stream;
    std::uint64_t state = seed ^ split_mix(mixed);
    for (std::uint64_t& word : state_) word = split_mix(state);
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1), 53 bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // Uniform in 0 .. bound-1 for 0 < bound < 2^32, by multiplication of the upper half: the bias is below bound / 2^32.
  constexpr std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

  constexpr bool coin() { return (next() >> 63) != 0; }

 private:
  std::uint64_t state_[4] = {};
};

}  // namespace hone::measure
