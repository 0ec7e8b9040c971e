// What a pass must cost at least on a device, from its bytes, its operations and the measured ceilings.
//
// Two answers for two questions. The floor asks what nothing can beat: it uses only statements that hold on any memory system,
// with the quick end of each ceiling's spread and 2 % on top; a time below it is an error of measurement or of the kernel. The
// reference asks what the ceilings give for this mix of reads and writes: shares of the ceiling and headroom are taken
// against it, and a very good kernel may come out a few percent below it.
#pragma once

#include <string>

#include "model/device_info.hpp"

namespace hone::measure {

struct PassWork {
  double bytes_read = 0, bytes_written = 0;  // minimum traffic of the pass
  double flops = 0;
  double matrix_flops = 0;     // those of `flops` that are in matrix products,
  std::string matrix_ceiling;  // and the ceiling of their rate: the FMA rate where it is empty or not known
};

struct PhysicsOptions {
  // Bytes that may stay in caches and never reach memory in the timed interval: the last-level cache. Written bytes can stay
  // there even when the caches were cold before the run; read bytes only when they were not.
  double cache_bytes = 0;
  bool cold_cache = true;
  double tolerance = 1.02;
};

struct PhysicsFloor {
  double floor_ns = 0;            // no correct run is faster; 0 when no ceiling is known
  std::string floor_ceiling;      // the ceiling that sets it, by its name in model::Ceilings; empty when none is known
  double reference_ns = 0;        // time at the measured ceilings (p50) for this mix; 0 when none is known
  std::string reference_ceiling;  // the one that takes most of it
};

// Floor: the largest of these, each at the ceiling's p80 times the tolerance (streaming or not, whichever is quicker):
//   read bytes / read bandwidth, written bytes / write bandwidth: other traffic beside them does not make either quicker;
//   2 * min(read, written) / copy bandwidth: a pass that moves more can not be quicker than the copy that it contains;
//   flops / the highest arithmetic rate of any kind.
// (Their sum over the highest bandwidth measured is no bound: where reads and writes have paths of their own, another mix than
// the measured ones has the highest total.)
// Reference: the larger of the arithmetic time, flops / FMA rate (matrix products at their own rate), and the memory time, in which min(read, written) pairs of bytes cost what a copy
// does and the rest costs what reading or writing alone does (interpolation in time). Negative or non-finite work counts as 0.
PhysicsFloor physics_floor(const PassWork& work, const model::Ceilings& ceilings, const PhysicsOptions& options = {});

// Two looks at the same device, where one pass was faster than the first allows: of each rate the look with the larger median,
// since a ceiling is what the device can do and other load only takes from it; everything else as first measured. The notes
// gain each bandwidth that moved by more than 3 %.
model::Ceilings larger_rates(const model::Ceilings& first, const model::Ceilings& second);

}  // namespace hone::measure
