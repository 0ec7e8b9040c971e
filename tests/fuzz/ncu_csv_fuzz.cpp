// Any bytes as a capture: the reader gives kernels or an error, and every kernel has a class
// with its evidence, or says which figures are missing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "counters/ncu_csv.hpp"
#include "diagnose/launch.hpp"

namespace {

// Ends the run where a promise of the reader is broken; the fuzzer keeps the input.
void promise(bool kept) {
  if (!kept) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto capture = hone::counters::read_ncu_csv(text, "fuzz.csv");
  if (!capture) {
    promise(!capture.error().expected.empty() && !capture.error().found.empty() && !capture.error().remedy.empty());
    return 0;
  }
  promise(!capture->kernels.empty() && capture->launches >= static_cast<int>(capture->kernels.size()));
  hone::model::DeviceInfo device;
  device.kind = "cuda";
  device.compute_capability = capture->compute_capability;
  device.ceilings.by_name["copy_bytes_per_s"] = {4.27e12, 4.27e12, 4.27e12, 1};
  for (const auto& kernel : capture->kernels) {
    promise(kernel.stalls.size() <= 3);
    for (const auto& stall : kernel.stalls) promise(stall.pct >= 0 && stall.pct <= 100);
    const auto diagnosis = hone::diagnose::diagnose_kernel(kernel, device);
    // As many rows as figures: what is not in the capture is no evidence.
    for (const auto& row : diagnosis.bottleneck.evidence) promise(!row.signal.empty() && !row.observation.empty());
    const bool has_class = diagnosis.bottleneck.cls != hone::model::BottleneckClass::undecided;
    promise(has_class || diagnosis.bottleneck.confidence == hone::model::Confidence::low);
    promise(!diagnosis.strategy_order.empty() || !has_class);
    promise(!diagnosis.bottleneck.reasoning.empty() && !diagnosis.gain.empty());
  }
  return 0;
}
