// The CPU as a device: tile programs are compiled by the system's C++ compiler at run time, loaded, and run on threads
// pinned to cores. Only cli chooses it; everybody else sees device.hpp.
//
// A program's entry is
//   extern "C" void ENTRY(void* const* arguments, std::int64_t first, std::int64_t last, int worker, int workers,
//                         void* workspace);
// and runs the programs [first, last) on worker `worker` of `workers`. arguments[i] points at the value of argument i: a
// pointer, int32, int64 or float, in slots of 8 bytes that lie one after another, so that several can be read as a struct.
// Programs are split contiguously; a worker whose share is empty is not called.
// `workspace` is memory of this worker alone, aligned to 64 bytes, its content undefined; its size is what the optional
//   extern "C" std::int64_t ENTRY_workspace_bytes(void* const* arguments);
// returns (none: null). Launches of one call run in order with a barrier between them.
//
// What is timed: `wall_ns` is the caller's view of one pass, from the wake-up of the first worker to the return;
// `device_ns` from the first worker that starts, all standing at the starting line together, to the last one that ends: it
// holds the barriers between launches but neither the wake-up nor the return.
//
// Code that nobody has tried yet goes through `try_run`: a forked child loads and runs it on copies of the buffers, and a
// crash, an exit or an endless loop there costs that call alone. `run` and `time` work in this process, where forking would
// disturb what is measured: they turn a fault into an error, but can not end an endless loop. So: gate by `try_run`, then time.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/result.hpp"
#include "device/device.hpp"

namespace hone::device::cpu {

struct CpuOptions {
  std::string compiler;             // a command ("g++-13", "ccache clang++"); empty: c++, g++ or clang++ on PATH
  std::string cache_directory;      // of compiled programs; empty: none is kept beyond this process
  std::string temporary_directory;  // a private folder is made below it; empty: /tmp
  int cores = 0;                    // use at most this many; 0: all that this process may use
  const std::atomic<bool>* stop = nullptr;  // ends a try_run that is waiting for its child

  // HONE_CXX, else CXX; HONE_CACHE_DIR, else XDG_CACHE_HOME/hone, else HOME/.cache/hone; TMPDIR.
  static CpuOptions from_environment();
};

// Why compiled programs can not be kept in the cache, found out by trying, in one sentence with the remedy; empty when they can.
// The device works without it, so it is the caller's to say.
std::string cache_note(const CpuOptions& options, base::FileSystem& files);

// Opens the CPU. A missing compiler is no error here, so that a machine without one can be described: `info().compiler` is
// then empty and `compile` returns the pre-flight error. The ports must outlive the device.
base::Result<std::unique_ptr<Device>> open_cpu_device(const CpuOptions& options, base::Processes& processes,
                                                      base::FileSystem& files, base::Clock& clock);

}  // namespace hone::device::cpu
