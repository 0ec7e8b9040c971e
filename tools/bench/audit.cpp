// ./dev bench audit [CHECKOUT]: time and memory of a cold audit of all operations, beside Python's own ast.parse over
// the same files. Cold: a new process for each sample. Without an argument the pinned package of .deps is laid out as a
// checkout.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process.hpp"
#include "model/source_facts.hpp"
#include "source/audit.hpp"

namespace {

namespace fs = std::filesystem;

constexpr int kSamples = 15;
constexpr double kLimitMs = 150, kLimitMiB = 100;

struct Sample {
  double ms = 0, mebibytes = 0;
};

// One audit with its document in a process of its own.
Sample audit_once(const std::string& checkout) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    hone::base::SystemFiles files;
    const auto audit = hone::source::audit_paths(files, {checkout});
    const std::size_t size = audit ? hone::model::to_json(*audit).size() : 0;
    const ssize_t written = write(ends[1], &size, sizeof size);
    _exit(audit && written == static_cast<ssize_t>(sizeof size) ? 0 : 1);
  }
  close(ends[1]);
  std::size_t size = 0;
  const ssize_t got = read(ends[0], &size, sizeof size);
  close(ends[0]);
  rusage usage{};
  int status = 0;
  wait4(child, &status, 0, &usage);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  if (status != 0 || got != static_cast<ssize_t>(sizeof size) || size == 0) {
    std::fprintf(stderr, "the audit of %s failed\n", checkout.c_str());
    std::exit(1);
  }
  return {taken.count(), static_cast<double>(usage.ru_maxrss) / 1024};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The package where a checkout has it.
std::string lay_out_package() {
  const fs::path package = fs::absolute(".deps/liger-kernel/liger_kernel");
  if (!fs::exists(package)) {
    std::fprintf(stderr, "expected .deps/liger-kernel; run tools/fetch_sources.sh\n");
    std::exit(3);
  }
  const fs::path root = fs::temp_directory_path() / ("hone_bench_audit_" + std::to_string(getpid()));
  fs::create_directories(root / "src");
  fs::create_directory_symlink(package, root / "src/liger_kernel");
  return root.string();
}

// Python's parser over the same files, without the start of the interpreter; below zero when there is no python3.
double python_ms(const std::string& checkout) {
  const std::string script =
      "import ast,glob,sys,time\n"
      "files=glob.glob(sys.argv[1]+'/src/liger_kernel/ops/*.py')+glob.glob(sys.argv[1]+'/src/liger_kernel/ops/"
      "experimental/*.py')\n"
      "t=time.perf_counter()\n"
      "for f in files: ast.parse(open(f,encoding='utf-8').read())\n"
      "print((time.perf_counter()-t)*1e3)\n";
  hone::base::SystemProcesses processes;
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) {
    hone::base::Command command;
    command.arguments = {"python3", "-c", script, checkout};
    const auto outcome = processes.run(command);
    if (!outcome || outcome->exit_status != 0) return -1;
    samples.push_back(std::atof(outcome->output.c_str()));
  }
  return median(samples);
}

}  // namespace

int main(int count, char** arguments) {
  const bool given = count > 1;
  const std::string checkout = given ? arguments[1] : lay_out_package();
  std::vector<double> times, sizes;
  for (int i = 0; i < kSamples; ++i) {
    const Sample sample = audit_once(checkout);
    times.push_back(sample.ms);
    sizes.push_back(sample.mebibytes);
  }
  const double ms = median(times), mebibytes = *std::max_element(sizes.begin(), sizes.end()),
               python = python_ms(checkout);
  std::printf(
      "audit of all operations, cold, one core, with the JSON document: median %.1f ms of %d (fastest %.1f, slowest "
      "%.1f), peak %.1f MiB\n",
      ms, kSamples, *std::min_element(times.begin(), times.end()), *std::max_element(times.begin(), times.end()),
      mebibytes);
  if (python >= 0) std::printf("python's ast.parse over the same files, interpreter running: median %.1f ms\n", python);
  if (!given) fs::remove_all(checkout);
  const bool held = ms < kLimitMs && mebibytes < kLimitMiB;
  std::printf("limits: %.0f ms, %.0f MiB: %s\n", kLimitMs, kLimitMiB, held ? "held" : "missed");
  return held ? 0 : 1;
}
