#include "cli/composition.hpp"

#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <iostream>

#include "base/text.hpp"
#include "cli/environment.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/trial.hpp"
#include "device/stoppable.hpp"
#include "repository/launch/counter_pass.hpp"
#include "repository/liger/liger_repository.hpp"
#include "repository/manifest/manifest_repository.hpp"
#include "repository/manifest/read_manifest.hpp"
#include "repository/native/native_repository.hpp"
#include "source/checkout.hpp"

namespace hone::cli {

namespace {

std::atomic<bool> interrupted_flag{false};

std::atomic<bool> unverified_flag{false};

void on_signal(int signal) {
  if (interrupted_flag.exchange(true)) {
    if (unverified_flag.load()) {
      constexpr char kWords[] = "\nhone: putting production back first\n";
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kWords, sizeof kWords - 1);
      return;
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

const std::atomic<bool>& interrupted() { return interrupted_flag; }
std::atomic<bool>& unverified() { return unverified_flag; }

// A reader that has gone is found where the writing fails.
void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

void watch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

namespace {

constexpr int kMostDevices = 1024;

// The N of "cuda:N" or of a worker's argument; -1 for anything else.
int ordinal_of(std::string_view text) {
  int ordinal = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  return error == std::errc() && end == text.data() + text.size() && ordinal < kMostDevices ? ordinal : -1;
}

base::Result<std::unique_ptr<device::Device>> open_cpu(Machine& machine) {
  auto options = device::cpu::CpuOptions::from_environment();
  options.stop = &interrupted();
  if (const std::string note = device::cpu::cache_note(options, machine.files); !note.empty() && !machine.quiet)
    std::cerr << "note: " << note << "\n";
  return device::cpu::open_cpu_device(options, machine.processes, machine.files, machine.clock);
}

base::Result<std::unique_ptr<device::Device>> open_gpu(Machine& machine, int ordinal) {
  device::cuda::CudaOptions options;
  options.ordinal = ordinal;
  options.compiler = device::cuda::CompilerOptions::from_environment();
  options.trial_command = {"/proc/self/exe", kGpuTrialsWord, std::to_string(ordinal)};
  return device::cuda::open_cuda_device(options, machine.files, machine.clock);
}

base::Result<std::unique_ptr<device::Device>> open_bare_device(Machine& machine, const std::string& wanted) {
  const bool automatic = wanted == "auto";
  if (wanted == "cpu" || (automatic && device::cuda::gpu_count() == 0)) return open_cpu(machine);
  if (automatic || wanted == "cuda") return open_gpu(machine, 0);
  if (base::starts_with(wanted, "cuda:"))
    if (const int ordinal = ordinal_of(std::string_view(wanted).substr(5)); ordinal >= 0)
      return open_gpu(machine, ordinal);
  return base::Error{base::ErrorKind::usage, "a device: auto, cpu or cuda:N", "'" + wanted + "'", "--device",
                     "'hone doctor' lists the devices of this machine"};
}

}  // namespace

base::Result<std::unique_ptr<device::Device>> open_device(Machine& machine, const std::string& wanted) {
  auto device = open_bare_device(machine, wanted);
  if (!device) return device;
  return device::stoppable(std::move(*device), &interrupted());
}

int serve_gpu_trials(const std::string& ordinal) {
  auto driver = device::cuda::open_driver();
  return driver && ordinal_of(ordinal) >= 0 ? device::cuda::serve_trials(**driver, ordinal_of(ordinal), STDIN_FILENO)
                                            : base::exit_code(base::ErrorKind::preflight);
}

namespace {

base::Result<void> counter_pass(const std::string& device_name, const repository::launch::CounterPass& pass) {
  Machine machine;
  HONE_TRY(device, open_device(machine, device_name));
  repository::launch::Context context{**device, machine.files, machine.clock};
  context.is_isolated = true;
  if (pass.repository == "native") {
    repository::native::NativeRepository repository(std::move(context), pass.place);
    return run_counter_pass(repository, pass);
  }
  HONE_TRY(manifest, repository::manifest::load_manifest(machine.files, pass.place));
  repository::manifest::ManifestRepository repository(std::move(context), nullptr, std::move(*manifest));
  return run_counter_pass(repository, pass);
}

}  // namespace

int run_counter_pass(const std::vector<std::string>& words) {
  const auto pass =
      words.size() < 2 ? std::nullopt : repository::launch::CounterPass::parse({words.begin() + 1, words.end()});
  if (!pass) return base::exit_code(base::ErrorKind::usage);
  const auto done = counter_pass(words.front(), *pass);
  if (done) return 0;
  std::cerr << base::describe(done.error()) << "\n";
  return base::exit_code(done.error().kind);
}

std::shared_ptr<repository::DeviceCeilings> ceilings_of(Machine& machine, device::Device& device) {
  return std::make_shared<repository::DeviceCeilings>(device, machine.files, machine.clock,
                                                      device::cpu::CpuOptions::from_environment().cache_directory);
}

// A missing compiler is pre-flight's to tell.
base::Result<void> learn_cache_size(const Opened& opened) {
  if (opened.ceilings == nullptr || opened.device->info().compiler.empty()) return {};
  return opened.ceilings->learn_cache_size();
}

std::string python_program() {
  const std::string named = variable("HONE_PYTHON");
  return named.empty() ? "python3" : named;
}

bool names_manifest(Machine& machine, const Meant& meant) {
  const std::string& path = meant.repository_directory;
  if (path.empty() || !repository::manifest::is_manifest(machine.files, path)) return false;
  // A checkout's hone.toml holds defaults of flags.
  return !machine.files.is_directory(path) || !source::checkout_at(machine.files, path);
}

std::string repository_folder(Machine& machine, const Meant& meant) {
  const std::string path = machine.files.absolute(meant.repository_directory);
  return machine.files.is_directory(path) ? path : base::parent(path);
}

namespace {

// hone's own program with a word that is no command for people. By its path: behind a profiler "/proc/self" is the profiler.
std::vector<std::string> own_command(const char* word) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::vector<std::string>{} : std::vector<std::string>{self.string(), word};
}

// What is neither a manifest nor a checkout: what was expected of each.
base::Result<void> check_repository(Machine& machine, const Meant& meant) {
  const std::string& path = meant.repository_directory;
  if (names_manifest(machine, meant) || source::checkout_at(machine.files, path)) return {};
  const char* found = !machine.files.exists(path)        ? "nothing of that name"
                      : machine.files.is_directory(path) ? "a folder with neither"
                                                         : "a file of another name";
  return base::Error{
      base::ErrorKind::usage,
      "the root of a Liger-Kernel checkout, with src/liger_kernel/ops below it; a folder that holds hone.toml; "
      "or a manifest, a *.toml file",
      found, path,
      "name the folder that 'git clone' made, or describe your kernel in a hone.toml (docs/manifest.md); "
      "without --repo the built-in kernels are used"};
}

base::Result<std::unique_ptr<repository::liger::LigerRepository>> open_checkout(Machine& machine, const Meant& meant) {
  const std::string kernel = meant.request.kernel.empty() ? "checkout" : meant.request.kernel;
  // Scripts and variants lie in the workspace, under an absolute path: tests run in the checkout's folder.
  const std::string scratch = machine.files.absolute(base::join(base::join(meant.workspace, kernel), "overlay"));
  return repository::liger::LigerRepository::open_checkout(
      {machine.files, machine.processes, machine.clock, scratch, meant.device, python_program()},
      machine.files.absolute(meant.repository_directory));
}

}  // namespace

base::Result<void> check_kernel(Machine& machine, const Meant& meant) {
  if (meant.repository_directory.empty()) {
    auto known = repository::native::find_operation(meant.request.kernel);
    return known ? base::Result<void>() : known.error();
  }
  if (auto known = check_repository(machine, meant); !known) return known;
  if (names_manifest(machine, meant)) {
    auto manifest =
        repository::manifest::load_manifest(machine.files, machine.files.absolute(meant.repository_directory));
    return manifest ? repository::manifest::check_kernel(*manifest, meant.request.kernel)
                    : base::Result<void>(manifest.error());
  }
  HONE_TRY(checkout, open_checkout(machine, meant));
  auto known = (*checkout)->find(meant.request.kernel);
  return known ? base::Result<void>() : known.error();
}

base::Result<Listed> list_kernels(Machine& machine, const Meant& meant) {
  if (meant.repository_directory.empty()) return Listed{"native", repository::native::list_kernels()};
  HONE_PROPAGATE(check_repository(machine, meant));
  if (names_manifest(machine, meant)) {
    auto manifest =
        repository::manifest::load_manifest(machine.files, machine.files.absolute(meant.repository_directory));
    if (!manifest) return manifest.error();
    return Listed{"manifest", repository::manifest::list_kernels(*manifest)};
  }
  HONE_TRY(checkout, open_checkout(machine, meant));
  return Listed{(*checkout)->name(), (*checkout)->list()};
}

base::Result<std::string> only_kernel(Machine& machine, const Meant& meant) {
  HONE_TRY(listed, list_kernels(machine, meant));
  if (listed->kernels.size() == 1) return listed->kernels.front().name;
  constexpr std::size_t kNamed = 8;
  std::vector<std::string> names;
  for (const repository::KernelEntry& entry : listed->kernels)
    if (names.size() < kNamed) names.push_back(entry.name);
  const std::string which = base::join_text(names, ", ") + (listed->kernels.size() > kNamed ? ", ..." : "");
  return base::Error{base::ErrorKind::usage, "a kernel: the repository has more than one", "no name", "command line",
                     "name one of " + which + "; 'hone list' shows them all"};
}

namespace {

base::Result<Opened> open_manifest(Machine& machine, const Meant& meant) {
  auto manifest =
      repository::manifest::load_manifest(machine.files, machine.files.absolute(meant.repository_directory));
  if (!manifest) return manifest.error();
  const bool cpp = manifest->language == repository::manifest::Language::cpp;
  HONE_TRY(device, open_device(machine, cpp && meant.device == "auto" ? "cpu" : meant.device));
  Opened opened;
  opened.device = std::move(*device);
  repository::launch::Context context{*opened.device, machine.files, machine.clock};
  device::Device* host = opened.device->info().kind == "cpu" ? opened.device.get() : nullptr;
  if (host == nullptr && !manifest->reference.empty()) {
    HONE_TRY(cpu, open_device(machine, "cpu"));
    opened.host = std::move(*cpu);
    host = opened.host.get();
  }
  context.processes = &machine.processes;
  context.counter_command = own_command(kCounterPassWord);
  context.ceilings = opened.ceilings = ceilings_of(machine, *opened.device);
  opened.repository =
      std::make_unique<repository::manifest::ManifestRepository>(std::move(context), host, std::move(*manifest));
  return opened;
}

}  // namespace

base::Result<Opened> open_repository(Machine& machine, const Meant& meant) {
  if (!meant.repository_directory.empty()) {
    HONE_PROPAGATE(check_repository(machine, meant));
    if (names_manifest(machine, meant)) return open_manifest(machine, meant);
    HONE_TRY(checkout, open_checkout(machine, meant));
    Opened opened;
    opened.repository = std::move(*checkout);
    return opened;
  }
  HONE_TRY(device, open_device(machine, meant.device));
  Opened opened;
  opened.device = std::move(*device);
  repository::launch::Context context{*opened.device, machine.files, machine.clock};
  context.processes = &machine.processes;
  context.counter_command = own_command(kCounterPassWord);
  context.ceilings = opened.ceilings = ceilings_of(machine, *opened.device);
  opened.repository =
      std::make_unique<repository::native::NativeRepository>(std::move(context), meant.settings_directory);
  return opened;
}

}  // namespace hone::cli
