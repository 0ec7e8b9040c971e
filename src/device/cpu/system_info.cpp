// Readers of /proc/cpuinfo, /proc/meminfo, sysfs and control groups; each tolerates that its file is missing.
#include "device/cpu/system_info.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/text.hpp"

namespace hone::device::cpu {

namespace {

constexpr std::int64_t guessed_cache_bytes = 32 << 20;

std::string text_of(base::FileSystem& files, const std::string& path) {
  auto text = files.read(path);
  return text ? base::trim(*text) : std::string();
}

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// "32K", "1024K", "36M" -> bytes
std::int64_t size_of(const std::string& text) {
  const auto value = number(text);
  if (!value || text.empty()) return 0;
  switch (text.back()) {
    case 'K': return *value << 10;
    case 'M': return *value << 20;
    case 'G': return *value << 30;
    default: return *value;
  }
}

// "0-3,8,10-11" -> 0 1 2 3 8 10 11
std::set<int> cpu_list(const std::string& text) {
  std::set<int> cpus;
  for (const std::string& part : base::split(text, ',')) {
    const auto ends = base::split(base::trim(part), '-');
    const auto first = number(ends.front()), last = number(ends.back());
    if (!first || !last || *last - *first > 1 << 16) continue;
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.insert(static_cast<int>(cpu));
  }
  return cpus;
}

// The first processor's lines of /proc/cpuinfo, "model name" -> "AMD EPYC".
std::map<std::string, std::string> first_processor(const std::string& cpuinfo) {
  std::map<std::string, std::string> values;
  for (const std::string& line : base::split(cpuinfo, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (base::trim(line).empty() && !values.empty()) break;
      continue;
    }
    values.emplace(base::trim(line.substr(0, colon)), base::trim(line.substr(colon + 1)));
  }
  return values;
}

std::string get(const std::map<std::string, std::string>& values, const char* key) {
  const auto found = values.find(key);
  return found == values.end() ? std::string() : found->second;
}

// Arm gives numbers instead of a name. Numbers: Linux, arch/arm64/include/asm/cputype.h.
std::string arm_name(const std::string& implementer, const std::string& part) {
  static const std::map<std::pair<std::string, std::string>, const char*> known = {
      {{"0x41", "0xd08"}, "Arm Cortex-A72"},  {{"0x41", "0xd0b"}, "Arm Cortex-A76"},
      {{"0x41", "0xd0c"}, "Arm Neoverse N1"}, {{"0x41", "0xd40"}, "Arm Neoverse V1"},
      {{"0x41", "0xd49"}, "Arm Neoverse N2"}, {{"0x41", "0xd4f"}, "Arm Neoverse V2"},
      {{"0x41", "0xd84"}, "Arm Neoverse V3"}, {{"0x41", "0xd8e"}, "Arm Neoverse N3"},
      {{"0x46", "0x001"}, "Fujitsu A64FX"},   {{"0xc0", "0xac3"}, "Ampere-1"},
      {{"0xc0", "0xac4"}, "Ampere-1A"},       {{"0x61", "0x022"}, "Apple M1"},
  };
  if (const auto found = known.find({implementer, part}); found != known.end()) return found->second;
  return implementer.empty() ? std::string() : "Arm core, implementer " + implementer + " part " + part;
}

std::string machine_word() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  const std::string machine = names.machine;
  return machine == "x86_64" ? "x86-64" : machine;
}

std::vector<std::string> vector_extensions(const std::map<std::string, std::string>& processor) {
  const std::vector<std::string> words =
      base::split(get(processor, processor.count("flags") != 0 ? "flags" : "Features"), ' ');
  const std::set<std::string> present(words.begin(), words.end());
  std::vector<std::string> found;
  for (const char* name : {"sse2",        "ssse3",    "sse4_1",   "sse4_2",   "avx",      "f16c",        "fma",
                           "avx2",        "avx512f",  "avx512dq", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16",
                           "avx512_fp16", "avx_vnni", "amx_tile", "amx_bf16", "asimd",    "asimdhp",     "asimddp",
                           "bf16",        "i8mm",     "sve",      "sve2",     "svebf16",  "sme"}) {
    if (present.count(name) != 0) found.emplace_back(name);
  }
  return found;
}

std::string widest(const std::vector<std::string>& isa) {
  const auto has = [&isa](const char* name) { return std::find(isa.begin(), isa.end(), name) != isa.end(); };
  for (const auto& [name, word] : std::initializer_list<std::pair<const char*, const char*>>{{"avx512f", "avx512"},
                                                                                             {"avx2", "avx2"},
                                                                                             {"avx", "avx"},
                                                                                             {"sse2", "sse2"},
                                                                                             {"sve2", "sve2"},
                                                                                             {"sve", "sve"},
                                                                                             {"asimd", "neon"}}) {
    if (has(name)) return word;
  }
  return {};
}

struct CacheFacts {
  std::vector<model::Cache> caches;
  std::int64_t all_last_level_bytes = 0;
};

CacheFacts caches_from_sysfs(base::FileSystem& files, const std::vector<int>& cpus) {
  CacheFacts facts;
  std::map<int, std::map<int, std::int64_t>> last_level;  // level -> first cpu that shares one -> bytes
  for (const int cpu : cpus) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache";
    for (int index = 0; index < 16; ++index) {
      const std::string cache = folder + "/index" + std::to_string(index);
      const auto level = number(text_of(files, cache + "/level"));
      if (!level) break;
      if (text_of(files, cache + "/type") == "Instruction") continue;
      const std::int64_t bytes = size_of(text_of(files, cache + "/size"));
      if (bytes <= 0) continue;
      const std::set<int> sharing = cpu_list(text_of(files, cache + "/shared_cpu_list"));
      last_level[static_cast<int>(*level)][sharing.empty() ? cpu : *sharing.begin()] = bytes;
      if (cpu == cpus.front()) {
        facts.caches.push_back({static_cast<int>(*level), bytes, std::max(1, static_cast<int>(sharing.size()))});
      }
    }
  }
  if (!last_level.empty()) {
    for (const auto& [first_cpu, bytes] : last_level.rbegin()->second) facts.all_last_level_bytes += bytes;
  }
  return facts;
}

// The C library asks the processor itself on x86.
CacheFacts caches_from_library(int cores) {
  CacheFacts facts;
  for (const auto& [level, name] : std::initializer_list<std::pair<int, int>>{
           {1, _SC_LEVEL1_DCACHE_SIZE}, {2, _SC_LEVEL2_CACHE_SIZE}, {3, _SC_LEVEL3_CACHE_SIZE}}) {
    const std::int64_t bytes = ::sysconf(name);
    if (bytes <= 0) continue;
    const int sharing = level == 3 ? cores : 1;
    facts.caches.push_back({level, bytes, sharing});
    facts.all_last_level_bytes = level == 3 ? bytes : bytes * cores;
  }
  return facts;
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t sets[8];  // 8192 cores, the most Linux is built for
  CPU_ZERO_S(sizeof sets, sets);
  if (::sched_getaffinity(0, sizeof sets, sets) == 0) {
    for (int cpu = 0; cpu < static_cast<int>(8 * sizeof sets); ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), sizeof sets, sets)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

// Cores' worth of time that the control group grants; nothing where it sets no limit.
std::optional<double> group_cores(base::FileSystem& files) {
  const auto parts = base::split(text_of(files, "/sys/fs/cgroup/cpu.max"), ' ');  // "200000 100000" or "max 100000"
  if (parts.size() == 2) {
    const auto quota = number(parts[0]), period = number(parts[1]);
    if (quota && period && *period > 0) return static_cast<double>(*quota) / static_cast<double>(*period);
  }
  const auto quota = number(text_of(files, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
  const auto period = number(text_of(files, "/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  if (quota && period && *quota > 0 && *period > 0) return static_cast<double>(*quota) / static_cast<double>(*period);
  return std::nullopt;
}

struct GroupMemory {
  std::int64_t limit = std::numeric_limits<std::int64_t>::max(), used = 0;
};

// The value behind a word at the start of a line, as in memory.stat and /proc/meminfo.
std::int64_t value_of(const std::string& text, const std::string& key) {
  for (const std::string& line : base::split(text, '\n')) {
    if (base::starts_with(line, key)) return number(base::trim(line.substr(key.size()))).value_or(0);
  }
  return 0;
}

GroupMemory group_memory(base::FileSystem& files) {
  GroupMemory memory;
  const auto take = [&](const std::string& folder, const char* limit_file, const char* used_file,
                        const char* cache_word) {
    const auto limit = number(text_of(files, folder + limit_file));
    if (!limit || *limit <= 0 || *limit >= memory.limit) return;
    memory.limit = *limit;
    // Cached files count as used, but give way.
    const std::int64_t used = number(text_of(files, folder + used_file)).value_or(0);
    memory.used = std::max<std::int64_t>(0, used - value_of(text_of(files, folder + "memory.stat"), cache_word));
  };
  take("/sys/fs/cgroup/", "memory.max", "memory.current", "inactive_file ");
  take("/sys/fs/cgroup/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ");
  return memory;
}

std::int64_t meminfo_bytes(base::FileSystem& files, const char* key) {
  return value_of(text_of(files, "/proc/meminfo"), key) * 1024;
}

}  // namespace

SystemFacts read_system(base::FileSystem& files, int most_cores) {
  SystemFacts facts;
  facts.cpus = allowed_cpus();
  if (const auto granted = group_cores(files)) {
    // More threads than the group's share of time would be stopped in mid-run, by turns.
    const auto most = static_cast<std::size_t>(std::max(1.0, std::floor(*granted)));
    if (facts.cpus.size() > most) facts.cpus.resize(most);
  }
  if (most_cores > 0 && facts.cpus.size() > static_cast<std::size_t>(most_cores)) {
    facts.cpus.resize(static_cast<std::size_t>(most_cores));
  }

  const auto processor = first_processor(text_of(files, "/proc/cpuinfo"));
  model::DeviceInfo& info = facts.info;
  info.kind = "cpu";
  info.id = "cpu";
  info.name = get(processor, "model name");
  if (info.name.empty()) info.name = arm_name(get(processor, "CPU implementer"), get(processor, "CPU part"));
  if (info.name.empty()) info.name = machine_word() + " processor";
  info.isa = vector_extensions(processor);
  info.architecture = machine_word();
  if (const std::string width = widest(info.isa); !width.empty()) info.architecture += ' ' + width;
  info.sm_count = static_cast<int>(facts.cpus.size());

  CacheFacts caches = caches_from_sysfs(files, facts.cpus);
  if (caches.caches.empty()) caches = caches_from_library(info.sm_count);
  info.caches = caches.caches;
  facts.all_last_level_bytes = caches.all_last_level_bytes > 0 ? caches.all_last_level_bytes : guessed_cache_bytes;

  info.total_memory_bytes = meminfo_bytes(files, "MemTotal:");
  if (info.total_memory_bytes == 0) {
    info.total_memory_bytes = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  }
  info.total_memory_bytes = std::min(info.total_memory_bytes, group_memory(files).limit);

  utsname names{};
  if (::uname(&names) == 0) info.driver = std::string(names.sysname) + ' ' + names.release;

  for (const char* key : {"vendor_id", "cpu family", "model", "model name", "stepping", "flags", "CPU implementer",
                          "CPU part", "CPU variant", "Features"}) {
    facts.processor_identity += std::string(key) + '=' + get(processor, key) + '\n';
  }
  facts.processor_identity += machine_word();
  return facts;
}

std::int64_t available_memory_bytes(base::FileSystem& files) {
  const std::int64_t system = meminfo_bytes(files, "MemAvailable:");
  const GroupMemory group = group_memory(files);
  const std::int64_t within_group = group.limit - std::min(group.used, group.limit);
  return system == 0 ? 0 : std::min(system, within_group);
}

double load_average(base::FileSystem& files) { return std::strtod(text_of(files, "/proc/loadavg").c_str(), nullptr); }

double processor_temperature_c(base::FileSystem& files) {
  for (int zone = 0; zone < 32; ++zone) {
    const std::string folder = "/sys/class/thermal/thermal_zone" + std::to_string(zone);
    const std::string type = text_of(files, folder + "/type");
    if (type.empty()) break;
    const bool of_processor = type == "x86_pkg_temp" || type.find("cpu") != std::string::npos;
    const auto thousandths = number(text_of(files, folder + "/temp"));
    if (of_processor && thousandths) return static_cast<double>(*thousandths) / 1000;
  }
  return 0;
}

}  // namespace hone::device::cpu
