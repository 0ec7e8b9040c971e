// Times, memory and roofline bounds of a kernel.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "measure/subject.hpp"
#include "model/device_info.hpp"
#include "model/variant.hpp"
#include "repository/cell.hpp"

namespace hone::repository {

struct MemoryUse {
  double peak_over_inputs_mb = 0;  // the kernel's own: outputs, saved tensors and scratch
  double saved_for_backward_mb = 0;
  double callers_peak_mb = 0;  // inputs included
};

// A pass split into the kernels of the source and the rest: what the framework does beside them.
struct PassParts {
  double pass_ms = 0;
  std::vector<std::pair<std::string, double>> kernels_ms;  // name, time
  int samples = 0;                                         // all times are their medians

  double kernel_ms() const {
    double sum = 0;
    for (const auto& [name, ms] : kernels_ms) sum += ms;
    return sum;
  }
};

struct PassFloor {
  double bytes = 0, flops = 0;
  double floor_ms = 0;          // at the measured ceilings: what headroom and shares are taken against
  double physics_floor_ms = 0;  // nothing correct is faster: what stops a variant
  std::string ceiling;          // the ceiling that takes most of floor_ms
};

// The program of the ceiling that binds a pass, to be run beside it, and its time at the ceilings in use.
struct CeilingSubject {
  std::unique_ptr<measure::Subject> subject;  // null where there is none
  double expected_ns = 0;
  std::string problem = {};  // why there is none although the device has such programs: no memory for them
};

class Timed {
 public:
  virtual ~Timed() = default;

  // Subjects for the protocol. They share inputs and the address policy, so that two of them can be compared.
  virtual base::Result<std::unique_ptr<measure::Subject>> subject(const model::Variant& variant, const Cell& cell) = 0;
  virtual base::Result<std::unique_ptr<measure::Subject>> subject_with(const Cell& cell,
                                                                       const model::Settings& settings) = 0;
  // Of one of the baseline providers that the kernel is described with.
  virtual base::Result<std::unique_ptr<measure::Subject>> provider_subject(const std::string& provider,
                                                                           const Cell& cell) {
    return absent_provider(provider, cell.x_value);
  }
  // The time of a pass split into its kernels' and the rest, where a pass holds more than its kernels; nothing elsewhere.
  virtual base::Result<std::optional<PassParts>> parts(const model::Variant& variant, const Cell& cell) {
    (void)variant, (void)cell;
    return std::optional<PassParts>();
  }
  virtual base::Result<MemoryUse> memory(const model::Variant& variant, const std::string& x_value) = 0;
  virtual base::Result<MemoryUse> provider_memory(const std::string& provider, const std::string& x_value) {
    return absent_provider(provider, x_value);
  }
  virtual base::Clock& clock() = 0;

  virtual base::Result<model::Ceilings> ceilings() = 0;  // measured once per session, then remembered
  // Those of a profile of this device: ceilings() and floor() give them from then on, as if they had been measured here.
  virtual void take_ceilings(const model::Ceilings& ceilings) { (void)ceilings; }
  // A second look, for where a pass was faster than the first allows; floor() takes what it returns from then on.
  virtual base::Result<model::Ceilings> ceilings_again() { return ceilings(); }
  virtual PassFloor floor(const Cell& cell) = 0;
  // What alternates with the kernel where a share of its ceiling is taken.
  virtual base::Result<CeilingSubject> ceiling_subject(const Cell& cell) {
    (void)cell;
    return CeilingSubject{};
  }

 protected:
  static base::Error absent_provider(const std::string& provider, const std::string& x_value) {
    return {base::ErrorKind::usage, "a provider of this repository", "'" + provider + "'; it has none",
            "provider at " + x_value, "leave it out"};
  }
};

}  // namespace hone::repository
