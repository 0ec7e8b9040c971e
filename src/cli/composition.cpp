#include "cli/composition.hpp"

#include <csignal>
#include <iostream>

#include "base/text.hpp"
#include "device/cpu/cpu_device.hpp"
#include "repository/native/native_repository.hpp"

namespace hone::cli {

namespace {

std::atomic<bool> interrupted_flag{false};

void on_signal(int signal) {
  if (interrupted_flag.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

const std::atomic<bool>& interrupted() { return interrupted_flag; }

void watch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

base::Result<std::unique_ptr<device::Device>> open_device(Machine& machine, const std::string& wanted) {
  if (wanted == "auto" || wanted == "cpu") {
    const auto options = device::cpu::CpuOptions::from_environment();
    if (const std::string note = device::cpu::cache_note(options, machine.files); !note.empty()) std::cerr << "note: " << note << "\n";
    return device::cpu::open_cpu_device(options, machine.processes, machine.files, machine.clock);
  }
  if (base::starts_with(wanted, "cuda"))
    return base::Error{base::ErrorKind::preflight, "a device that this build drives: cpu", "'" + wanted + "'", "--device",
                       "choose --device cpu; this version has no CUDA device"};
  return base::Error{base::ErrorKind::usage, "a device: auto, cpu or cuda:N", "'" + wanted + "'", "--device", "'hone doctor' lists the devices of this machine"};
}

base::Result<Opened> open_repository(Machine& machine, const Meant& meant) {
  if (!meant.repository_directory.empty())
    return base::Error{base::ErrorKind::preflight, "the built-in repository, the only one this version runs", "'" + meant.repository_directory + "'", "--repo",
                       "leave --repo out to work on built-in kernels; 'hone audit " + meant.repository_directory + "' reads a Liger checkout"};
  auto device = open_device(machine, meant.device);
  if (!device) return device.error();
  Opened opened;
  opened.device = std::move(*device);
  opened.repository = std::make_unique<repository::native::NativeRepository>(
      repository::native::NativeContext{*opened.device, machine.files, machine.clock, meant.settings_directory});
  return opened;
}

}  // namespace hone::cli
