// Opening the driver, and its statuses in words.
#include "device/cuda/driver_api.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "device/cuda/shared_library.hpp"

namespace hone::device::cuda {

namespace {

constexpr char driver_remedy[] =
    "install the NVIDIA driver of this machine (580 or newer for CUDA 13, 525 or newer for CUDA 12); in a container, "
    "start it with the GPU passed through";

base::Error no_driver(const std::string& found, const std::string& where) {
  return {base::ErrorKind::preflight, "the NVIDIA driver's library", found, where, driver_remedy};
}

struct Opened {
  DriverApi table;
  std::optional<base::Error> error;
};

Opened open_table(const std::string& name) {
  Opened opened;
  std::string words;
  void* library = open_shared_library(name, words);
  if (library == nullptr) {
    opened.error = no_driver(words, name);
    return opened;
  }
  const char* missing = nullptr;
#define HONE_CUDA_RESOLVE(member, symbol, parameters)                                                  \
  opened.table.member = reinterpret_cast<decltype(opened.table.member)>(find_symbol(library, symbol)); \
  if (opened.table.member == nullptr) missing = symbol;
  HONE_CUDA_DRIVER(HONE_CUDA_RESOLVE)
#undef HONE_CUDA_RESOLVE
  if (missing != nullptr)
    opened.error = no_driver(fmt::format("a driver without {}, older than CUDA 12.0", missing), name);
  return opened;
}

std::string remedy_of(Status status) {
  switch (status) {
    case kOutOfMemory: return "use smaller sizes (--sizes), or end what else uses the GPU's memory";
    case kNoDevice:
    case kInvalidDevice: return "choose a device that 'hone doctor' lists; CUDA_VISIBLE_DEVICES may hide some";
    case kNoBinaryForGpu:
    case kUnsupportedPtxVersion:
      return "use an NVRTC no newer than the driver ('hone doctor' shows both), or update the driver";
    case kSystemDriverMismatch: return "restart the machine: the driver was updated while it ran";
    case kIllegalAddress: return "look for an index beyond a tensor; compute-sanitizer --tool memcheck names the line";
    case kLaunchOutOfResources: return "use fewer threads or registers: num_warps lower, or less shared memory";
    case kInvalidClusterSize: return "use a smaller cluster, at most 8 blocks, that divides the grid";
    case kAssert: return "an assertion in the kernel failed; correct the kernel";
    default: break;
  }
  if (is_sticky(status)) return "correct the kernel; compute-sanitizer names the access that failed";
  return "if it stays, restart hone; 'hone doctor' shows driver and device";
}

}  // namespace

base::Result<const DriverApi*> open_driver(const char* library) {
  if (library != nullptr) {  // a library of the caller's choice is not kept for others
    static std::mutex mutex;
    static Opened last;
    const std::lock_guard<std::mutex> lock(mutex);
    last = open_table(library);
    if (last.error) return *last.error;
    return &last.table;
  }
  static const Opened opened = open_table("libcuda.so.1");
  if (opened.error) return *opened.error;
  return &opened.table;
}

std::string status_words(const DriverApi& driver, Status status) {
  const char *name = nullptr, *text = nullptr;
  if (driver.error_name == nullptr || driver.error_name(status, &name) != kSuccess || name == nullptr)
    return fmt::format("CUDA error {}", status);
  if (driver.error_text(status, &text) != kSuccess || text == nullptr) text = "no description";
  return fmt::format("{} ({}): {}", name, status, text);
}

bool is_sticky(Status status) {
  // Uncorrectable memory, and all that a running kernel can be ended with.
  return status == 214 || status == 220 || status == 226 || status == kIllegalAddress || status == kLaunchTimeout ||
         status == kAssert || (status >= 714 && status <= 719) || status == kTensorMemoryLeak;
}

base::Error call_error(const DriverApi& driver, Status status, const std::string& expected, const std::string& call,
                       const std::string& where) {
  const base::ErrorKind kind = is_sticky(status) || status == kLaunchOutOfResources || status == kInvalidClusterSize
                                   ? base::ErrorKind::gate
                                   : base::ErrorKind::preflight;
  return {kind, expected, fmt::format("{}: {}", call, status_words(driver, status)), where, remedy_of(status)};
}

}  // namespace hone::device::cuda
