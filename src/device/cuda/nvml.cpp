// Names and values as in the NVML API reference.
#include "device/cuda/nvml.hpp"

#include <array>

#include "base/text.hpp"
#include "device/cuda/shared_library.hpp"

namespace hone::device::cuda {

namespace {

using NvmlDevice = struct NvmlDeviceTag*;
constexpr int clock_sm = 1, temperature_gpu = 0;

struct NvmlApi {
  int (*init)() = nullptr;
  int (*driver)(char*, unsigned) = nullptr;
  int (*by_bus_id)(const char*, NvmlDevice*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;  // null in very old drivers
  int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
};

class NoClocks final : public Clocks {
 public:
  ClockReading read() override { return {}; }
  std::string driver_version() const override { return ""; }
};

class NvmlClocks final : public Clocks {
 public:
  NvmlClocks(const NvmlApi& api, NvmlDevice device) : api_(api), device_(device) {}
  ClockReading read() override {
    ClockReading reading;
    unsigned mhz = 0;
    if (api_.clock(device_, clock_sm, &mhz) == 0) reading.sm_mhz = mhz;
    unsigned long long reasons = 0;
    if (api_.reasons != nullptr && api_.reasons(device_, &reasons) == 0) {
      reading.slowed_by = slowdown_words(reasons);
      reading.slowed = !reading.slowed_by.empty();
    }
    return reading;
  }
  double temperature_c() override {
    unsigned degrees = 0;
    return api_.temperature != nullptr && api_.temperature(device_, temperature_gpu, &degrees) == 0 ? degrees : 0;
  }
  std::string driver_version() const override {
    std::array<char, 96> text{};
    return api_.driver(text.data(), text.size()) == 0 ? std::string(text.data()) : "";
  }

 private:
  NvmlApi api_;
  NvmlDevice device_;
};

}  // namespace

std::string slowdown_words(unsigned long long reasons) {
  std::vector<std::string> words;
  if ((reasons & 0x08) != 0) words.emplace_back("hardware slowdown");
  if ((reasons & 0x20) != 0) words.emplace_back("thermal slowdown by the driver");
  if ((reasons & 0x40) != 0) words.emplace_back("thermal slowdown by the hardware");
  if ((reasons & 0x80) != 0) words.emplace_back("power brake");
  return base::join_text(words, ", ");
}

std::unique_ptr<Clocks> open_clocks(const std::string& bus_id, std::string& problem) {
  std::string words;
  void* library = open_shared_library("libnvidia-ml.so.1", words);
  if (library == nullptr) {
    problem = "NVML is missing (" + words + "): clocks are not watched";
    return std::make_unique<NoClocks>();
  }
  NvmlApi api;
  const auto resolve = [library](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(find_symbol(library, name));
    return function != nullptr;
  };
  const bool complete = resolve(api.init, "nvmlInit_v2") && resolve(api.driver, "nvmlSystemGetDriverVersion") &&
                        resolve(api.by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2") &&
                        resolve(api.clock, "nvmlDeviceGetClockInfo");
  if (!resolve(api.reasons, "nvmlDeviceGetCurrentClocksEventReasons"))
    resolve(api.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  resolve(api.temperature, "nvmlDeviceGetTemperature");
  NvmlDevice device = nullptr;
  if (!complete || api.init() != 0 || api.by_bus_id(bus_id.c_str(), &device) != 0) {
    problem = "NVML does not answer for this GPU: clocks are not watched";
    return std::make_unique<NoClocks>();
  }
  return std::make_unique<NvmlClocks>(api, device);
}

}  // namespace hone::device::cuda
