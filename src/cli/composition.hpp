// Puts concrete devices and repositories behind their interfaces. The only place that names them.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/result.hpp"
#include "cli/options.hpp"
#include "device/device.hpp"
#include "repository/device_ceilings.hpp"
#include "repository/repository.hpp"

namespace hone::cli {

// Set by the first SIGINT or SIGTERM; a second one ends the program at once, unless unverified() holds: then it waits for what
// puts production back.
const std::atomic<bool>& interrupted();
std::atomic<bool>& unverified();
void watch_signals();
void ignore_broken_pipes();

// The machine's own ports, one of each for the whole program.
struct Machine {
  base::SystemFiles files;
  base::SystemProcesses processes{&interrupted()};  // programs that end with the first interrupt
  base::SystemProcesses lasting;                    // those that write for good and are short: git, converters of plots
  base::SystemClock clock;
  bool quiet = false;  // say no notes
};

// The device of --device. Pre-flight errors name what is missing and the remedy.
base::Result<std::unique_ptr<device::Device>> open_device(Machine& machine, const std::string& wanted);

// hone started as the worker that tries a GPU's kernels (device/cuda/trial.hpp): `hone gpu-trials N`, the socket on standard
// input. No command for people. Returns the exit status.
inline constexpr char kGpuTrialsWord[] = "gpu-trials";
int serve_gpu_trials(const std::string& ordinal);

// hone started under a profiler to run the passes of a kernel (repository/launch/counter_pass.hpp):
// `hone counter-pass DEVICE WORDS...`. No command for people. Returns the exit status; an error is on standard error.
inline constexpr char kCounterPassWord[] = "counter-pass";
int run_counter_pass(const std::vector<std::string>& words);

// The python of $HONE_PYTHON, else python3.
std::string python_program();

// True where --repo names a manifest, a *.toml file or a folder that holds hone.toml.
bool names_manifest(Machine& machine, const Meant& meant);
// The folder of --repo: of a manifest that is named by its file, the one it stands in.
std::string repository_folder(Machine& machine, const Meant& meant);
// The kernels of the repository of --repo, and its name.
struct Listed {
  std::string repository;
  std::vector<repository::KernelEntry> kernels;
};
base::Result<Listed> list_kernels(Machine& machine, const Meant& meant);

// The kernel of the repository of --repo where it has one alone; otherwise a usage error that names some.
base::Result<std::string> only_kernel(Machine& machine, const Meant& meant);

// Usage errors: a kernel that the repository of --repo does not have, with the nearest names; no repository there.
base::Result<void> check_kernel(Machine& machine, const Meant& meant);

// A repository with the device it runs on; the device outlives it.
struct Opened {
  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Device> host;                  // runs a manifest's reference where `device` is no CPU
  std::shared_ptr<repository::DeviceCeilings> ceilings;  // of `device`; null for a checkout, whose worker has its own
  std::unique_ptr<repository::Repository> repository;
};
base::Result<Opened> open_repository(Machine& machine, const Meant& meant);

// Before anything is timed: the effective size of the device's cache, which default settings and sizes rest on, is measured
// where it is not kept. Sessions that were opened before do not know of it.
base::Result<void> learn_cache_size(const Opened& opened);

// The ceilings of a device, kept where hone's cache is.
std::shared_ptr<repository::DeviceCeilings> ceilings_of(Machine& machine, device::Device& device);

}  // namespace hone::cli
