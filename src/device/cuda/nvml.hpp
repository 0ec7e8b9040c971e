// NVML, the driver's management library: driver version, clocks and why they are lowered. Opened at run time; where it is
// missing, clocks are not known and nothing else is lost.
#pragma once

#include <memory>
#include <string>

namespace hone::device::cuda {

struct ClockReading {
  double sm_mhz = 0;      // 0 where it could not be read
  bool slowed = false;    // the hardware or its temperature lowers the clock now
  std::string slowed_by;  // in words
};

// What is asked of one GPU. Tests have a scripted one.
class Clocks {
 public:
  virtual ~Clocks() = default;
  virtual ClockReading read() = 0;
  virtual double temperature_c() { return 0; }     // 0 where it can not be read
  virtual std::string driver_version() const = 0;  // "580.159.04"; empty where it is not known
};

// The GPU at a PCI address as the driver writes it ("0000:3B:00.0"). Never null; `problem` says why nothing can be read.
std::unique_ptr<Clocks> open_clocks(const std::string& bus_id, std::string& problem);

// A reading's bits as words: "thermal slowdown", "power brake"; empty when none of those that spoil a sample is set. A cap on power is
// none: the chip is made to run at it, and the clock itself tells.
std::string slowdown_words(unsigned long long reasons);

}  // namespace hone::device::cuda
