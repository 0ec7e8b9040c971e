// Machine noise by seed, for simulations: what repeated runs of one kernel look like, as factors of its undisturbed time.
#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "measure/judge.hpp"
#include "measure/random.hpp"
#include "measure/statistics.hpp"

namespace hone::measure {

inline double standard_normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
}

// One factor for run number `run`.
using Noise = std::function<double(Random& random, int run)>;

struct NamedNoise {
  std::string name;
  Noise noise;
};

inline double lognormal(Random& random, double sigma) { return std::exp(sigma * standard_normal(random)); }

// What the shared machines that hone runs on do: quiet, other programs now and then, a heavy tail, a drift, two levels.
inline std::vector<NamedNoise> machine_noises() {
  return {
      {"lognormal", [](Random& random, int) { return lognormal(random, 0.01); }},
      {"heavy tail", [](Random& random, int) { return 1 + 0.003 * std::pow(1 - random.uniform(), -1 / 1.2); }},
      {"drift", [](Random& random, int run) { return (1 + 0.004 * run) * lognormal(random, 0.008); }},
      {"slow wave", [](Random& random, int run) { return (1 + 0.1 * std::sin(run * 0.2)) * lognormal(random, 0.008); }},
      {"bimodal", [](Random& random, int) { return (random.uniform() < 0.3 ? 1.06 : 1.0) * lognormal(random, 0.005); }},
      {"bursts", [](Random& random, int) { return (random.uniform() < 0.08 ? 1.7 : 1.0) * lognormal(random, 0.008); }},
  };
}

// Quads as the protocol takes them, the candidate's runs `ratio` times as long. Times around 10 ms.
inline std::vector<SampledQuad> simulate(const Noise& noise, int quads, double ratio, std::uint64_t seed) {
  Random random(seed, 77);
  const std::vector<bool> starts = candidate_starts(quads, seed);
  std::vector<SampledQuad> result;
  int run = 0;
  for (int quad = 0; quad < quads; ++quad) {
    SampledQuad samples;
    const bool first = starts[static_cast<std::size_t>(quad)];
    std::size_t taken[2] = {0, 0};
    for (bool candidate : {first, !first, !first, first}) {
      const double device_ns = 1e7 * noise(random, run++) * (candidate ? ratio : 1);
      (candidate ? samples.candidate : samples.baseline)[taken[candidate]++] = {device_ns, device_ns, 0};
    }
    result.push_back(samples);
  }
  return result;
}

inline std::vector<Quad> times_of(const std::vector<SampledQuad>& samples) {
  std::vector<Quad> quads;
  for (const SampledQuad& quad : samples) {
    quads.push_back({quad.baseline[0].device_ns, quad.baseline[1].device_ns, quad.candidate[0].device_ns,
                     quad.candidate[1].device_ns});
  }
  return quads;
}

}  // namespace hone::measure
