// One counter for each event and thread; none is required, those that open are read.
#include "device/cpu/perf_events.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "base/system_error.hpp"
#include "base/text.hpp"

namespace hone::device::cpu {

namespace {

struct EventKind {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr std::uint64_t cache_event(std::uint64_t cache, std::uint64_t operation, std::uint64_t result) {
  return cache | operation << 8 | result << 16;
}

constexpr EventKind kinds[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"llc_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"llc_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"backend_stalled_cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"l1d_read_misses", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"dtlb_read_misses", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
};

class Counter {
 public:
  Counter(const EventKind& kind, pid_t thread) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = kind.type;
    attributes.config = kind.config;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;  // allowed to everybody up to perf_event_paranoid 2
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    fd_ = static_cast<int>(::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (fd_ < 0) error_ = errno;
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool open() const { return fd_ >= 0; }
  int error() const { return error_; }
  void start() const { ::ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0); }
  void stop() const { ::ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0); }
  // The count, scaled to the whole time; false when the counter never had a turn.
  bool read(double& count) const {
    struct {
      std::uint64_t value, enabled, running;
    } answer{};
    if (::read(fd_, &answer, sizeof answer) != static_cast<ssize_t>(sizeof answer) || answer.running == 0) return false;
    count =
        static_cast<double>(answer.value) * static_cast<double>(answer.enabled) / static_cast<double>(answer.running);
    return true;
  }

 private:
  int fd_ = -1;
  int error_ = 0;
};

std::string paranoid_setting() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  return base::trim(std::string(std::istreambuf_iterator<char>(file), {}));
}

void add_ratios(Events& events) {
  const std::map<std::string, double> counts(events.begin(), events.end());
  const auto add = [&](const char* name, const char* part, const char* whole, double factor) {
    const auto upper = counts.find(part), lower = counts.find(whole);
    if (upper == counts.end() || lower == counts.end() || !(lower->second > 0)) return;
    events.emplace_back(name, factor * upper->second / lower->second);
  };
  add("instructions_per_cycle", "instructions", "cycles", 1);
  add("llc_misses_per_kilo_instruction", "llc_misses", "instructions", 1000);
  add("branch_misses_per_kilo_instruction", "branch_misses", "instructions", 1000);
}

}  // namespace

std::string why_no_events(int error_number, const std::string& paranoid) {
  const std::string said = "perf_event_open: " + base::system_words(error_number);
  switch (error_number) {
    case EACCES:
    case EPERM:
      return said + "; perf_event_paranoid is " + (paranoid.empty() ? "not readable" : paranoid) +
             ". Allow it with 'sysctl kernel.perf_event_paranoid=2'; in a container, also with its capability PERFMON";
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
      return said +
             ". This machine shows no hardware counters, as most virtual machines do not: use a physical machine, or "
             "one whose hypervisor passes them on";
    case ENOSYS: return said + ". The system's kernel, or a container's filter, offers no performance events";
    case EMFILE: return said + ". Raise the limit of open files (ulimit -n)";
    default: return said;
  }
}

Events count_while(const std::vector<pid_t>& threads, const std::function<base::Result<void>()>& work,
                   std::string& reason) {
  reason.clear();
  std::map<const EventKind*, std::vector<std::unique_ptr<Counter>>> open;
  int first_error = 0;
  for (const EventKind& kind : kinds) {
    std::vector<std::unique_ptr<Counter>> counters;
    for (const pid_t thread : threads) {
      auto counter = std::make_unique<Counter>(kind, thread);
      if (!counter->open()) {
        if (first_error == 0) first_error = counter->error();
        break;
      }
      counters.push_back(std::move(counter));
    }
    // A sum over some of the threads would be no count of the run.
    if (counters.size() == threads.size()) open[&kind] = std::move(counters);
  }
  if (open.empty()) {
    reason = why_no_events(first_error, paranoid_setting());
    return {};
  }
  for (const auto& [kind, counters] : open) {
    for (const auto& counter : counters) counter->start();
  }
  const auto done = work();
  for (const auto& [kind, counters] : open) {
    for (const auto& counter : counters) counter->stop();
  }
  if (!done) {
    reason = base::describe(done.error());
    return {};
  }
  Events events;
  for (const EventKind& kind : kinds) {
    const auto found = open.find(&kind);
    if (found == open.end()) continue;
    double total = 0, count = 0;
    bool some = false;
    for (const auto& counter : found->second) {
      if (!counter->read(count)) continue;
      total += count;
      some = true;
    }
    if (some) events.emplace_back(kind.name, total);
  }
  if (events.empty()) reason = "the counters were opened, but the processor never counted with them";
  add_ratios(events);
  return events;
}

}  // namespace hone::device::cpu
