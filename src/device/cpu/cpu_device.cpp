// The device itself: ties compiler, cache, memory, pool and isolation to the interface.
#include "device/cpu/cpu_device.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>

#include "base/hash.hpp"
#include "device/cpu/ceiling_programs.hpp"
#include "device/cpu/ceilings.hpp"
#include "device/cpu/core_meter.hpp"
#include "device/cpu/cpu_memory.hpp"
#include "device/cpu/cpu_program.hpp"
#include "device/cpu/elf_image.hpp"
#include "device/cpu/isolation.hpp"
#include "device/cpu/launch_plan.hpp"
#include "device/cpu/perf_events.hpp"
#include "device/cpu/private_folder.hpp"
#include "device/cpu/system_info.hpp"
#include "device/cpu/toolchain.hpp"
#include "device/cpu/worker_pool.hpp"
#include "device/program_cache.hpp"

namespace hone::device::cpu {

namespace {

constexpr std::size_t touched_in_parallel_bytes = std::size_t{4} << 20;
constexpr std::size_t memory_kept_free_bytes = std::size_t{64} << 20;

std::string variable(const char* name) {
  const char* value = ::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

class CpuDevice final : public Device {
 public:
  CpuDevice(const CpuOptions& options, SystemFacts system, base::Processes& processes, base::FileSystem& files,
            base::Clock& clock)
      : system_(std::move(system)),
        processes_(processes),
        files_(files),
        clock_(clock),
        toolchain_(find_toolchain(options.compiler, processes)),
        cache_(options.cache_directory, "cpu", ".so", files),
        scratch_({options.temporary_directory.empty() ? "/tmp" : options.temporary_directory, "/tmp", "/var/tmp",
                  "/dev/shm"},
                 files),
        pool_(system_.cpus),
        flush_(system_.all_last_level_bytes),
        stop_(options.stop) {
    if (toolchain_)
      system_.info.compiler = toolchain_->version;
    else
      system_.info.compiler_problem = toolchain_.error().found + ", " + toolchain_.error().where;
  }

  const model::DeviceInfo& info() const override { return system_.info; }

  base::Result<model::Ceilings> ceilings(const CeilingOptions& options) override {
    const double load = load_average(files_), temperature_c = processor_temperature_c(files_);
    auto measured = measure_ceilings(*this, ceiling_plan(), options, clock_);
    if (measured) measured->conditions.load = load, measured->conditions.temperature_c = temperature_c;
    return measured;
  }
  std::string ceiling_program_version() const override { return base::content_hash(ceiling_program_text); }
  base::Result<std::unique_ptr<CeilingPrograms>> ceiling_programs(const model::Ceilings& ceilings) override {
    return programs_beside(*this, ceiling_plan(), ceilings);
  }
  base::Result<std::int64_t> measure_cache_size(const CeilingOptions& options) override {
    return cpu::measure_cache_size(*this, ceiling_plan(), options, clock_);
  }
  void use_cache_size(std::int64_t bytes) override {
    system_.info.ceilings.effective_last_level_cache_bytes = bytes;
    flush_.use_size(bytes);
  }

  base::Result<std::shared_ptr<Program>> compile(const ProgramSource& source) override;

  base::Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override;

  base::Result<void> upload(BufferView to, const void* from, std::size_t bytes) override {
    HONE_TRY(target, resolve(to, bytes));
    if (bytes > 0) std::memcpy(*target, from, bytes);
    return {};
  }
  base::Result<void> download(void* to, BufferView from, std::size_t bytes) override {
    HONE_TRY(origin, resolve(from, bytes));
    if (bytes > 0) std::memcpy(to, *origin, bytes);
    return {};
  }
  base::Result<void> copy(BufferView to, BufferView from, std::size_t bytes) override {
    HONE_TRY(target, resolve(to, bytes));
    HONE_TRY(origin, resolve(from, bytes));
    if (bytes > 0) std::memmove(*target, *origin, bytes);
    return {};
  }
  base::Result<void> fill(BufferView to, std::uint8_t byte, std::size_t bytes) override {
    HONE_TRY(target, resolve(to, bytes));
    if (bytes > 0) std::memset(*target, byte, bytes);
    return {};
  }

  base::Result<void> run(const std::vector<Launch>& launches) override {
    const std::lock_guard<std::mutex> lock(running_);
    HONE_TRY(prepared, prepare(launches, pool_.cores()));
    HONE_TRY(times, run_batch(pool_, *prepared, workspaces_, true));
    return {};
  }

  base::Result<void> try_run(const std::vector<Launch>& launches, std::int64_t deadline_ns) override;
  base::Result<model::Sample> time(const std::vector<Launch>& launches, const TimingConditions& conditions) override;
  std::size_t allocated_bytes() const override { return *allocated_; }
  Events count_events(const std::vector<Launch>& launches, std::string& reason) override;

 private:
  base::Result<std::string> compile_image(const ProgramSource& source, const std::string& folder);
  CeilingPlan ceiling_plan() const {
    const std::int64_t reported = system_.all_last_level_bytes;
    const std::int64_t effective = system_.info.ceilings.effective_last_level_cache_bytes;
    return {reported, effective > 0 ? effective : reported, available_memory_bytes(files_), pool_.cores()};
  }
  // The memory of all buffers and workspaces that the launches can touch, each once.
  std::vector<Region> regions_of(const std::vector<Launch>& launches) const;

  SystemFacts system_;
  base::Processes& processes_;
  base::FileSystem& files_;
  base::Clock& clock_;
  base::Result<Toolchain> toolchain_;
  ProgramCache cache_;
  PrivateFolder scratch_;
  std::atomic<unsigned> compilations_{0};

  std::mutex running_;  // one batch at a time: the pool, the workspaces and the caches are one
  WorkerPool pool_;
  std::vector<Mapping> workspaces_;
  CacheFlush flush_;
  CpuBuffer::Sum allocated_ = std::make_shared<std::atomic<std::size_t>>(0);
  const std::atomic<bool>* stop_;
};

base::Result<std::string> CpuDevice::compile_image(const ProgramSource& source, const std::string& folder) {
  auto image = compile_shared_object(*toolchain_, source, folder, processes_, files_);
  const auto removed = files_.remove_recursively(folder);
  if (!image) return image.error();
  if (!removed) return removed.error();
  return image;
}

base::Result<std::shared_ptr<Program>> CpuDevice::compile(const ProgramSource& source) {
  if (!toolchain_) return toolchain_.error();
  const std::string key = cache_key(source, toolchain_->identity, toolchain_->flags_text(), system_.processor_identity);
  HONE_TRY(scratch, scratch_.path());
  const std::string folder = base::join(*scratch, std::to_string(compilations_.fetch_add(1)));

  CpuProgram::Image image;
  image.name = source.name;
  image.spare_path = folder + ".so";
  ProgramInfo program_info;
  std::optional<ElfFacts> facts;
  if (auto cached = cache_.find(key)) {
    if (auto read = read_elf(*cached, cache_.path_of(key))) {
      facts = std::move(*read);
      image.bytes = std::move(*cached);
      image.cached_path = cache_.path_of(key);
      program_info.from_cache = true;
    }
  }
  if (!facts) {
    HONE_TRY(compiled, compile_image(source, folder));
    HONE_TRY(read, read_elf(*compiled, source.name));
    facts = std::move(*read);
    image.bytes = seal(*compiled);
    // A cache that can not be written costs the next run a compilation, and this one nothing; cache_note() has said so.
    if (cache_.store(key, image.bytes).ok() && cache_.find(key)) image.cached_path = cache_.path_of(key);
  }
  program_info.machine_code_hash = facts->machine_code_hash;
  program_info.code_bytes = facts->code_bytes;
  program_info.compiler = toolchain_->version;
  program_info.flags = toolchain_->flags_text();
  image.functions = std::move(facts->functions);
  return std::shared_ptr<Program>(std::make_shared<CpuProgram>(std::move(program_info), std::move(image), files_));
}

base::Result<std::unique_ptr<Buffer>> CpuDevice::allocate(std::size_t bytes) {
  const auto available = static_cast<std::size_t>(std::max<std::int64_t>(0, available_memory_bytes(files_)));
  const std::size_t usable = available > memory_kept_free_bytes ? available - memory_kept_free_bytes : 0;
  if (available > 0 && bytes > usable) {
    return base::Error{base::ErrorKind::preflight, fmt::format("{} bytes of free memory for a buffer", bytes),
                       fmt::format("{} bytes free, {} held by buffers already", available, allocated_->load()), "cpu",
                       "use smaller sizes (--sizes), or free memory"};
  }
  HONE_TRY(mapping, Mapping::make(bytes));
  std::byte* const data = mapping->data();
  if (bytes >= touched_in_parallel_bytes) {
    // Touched as kernels will: each core's share is then in the memory next to it, and no page fault is left to time.
    const std::lock_guard<std::mutex> lock(running_);
    const int workers = pool_.cores();
    HONE_PROPAGATE(pool_.reserve(workers));
    const WorkerPool::PinnedCaller pinned(pool_);
    pool_.execute(workers, [data, bytes, workers](int worker) {
      const Share share = share_of(static_cast<std::int64_t>(bytes), worker, workers);
      std::memset(data + share.first, 0, static_cast<std::size_t>(share.last - share.first));
    });
  } else if (bytes > 0) {
    std::memset(data, 0, bytes);
  }
  return std::unique_ptr<Buffer>(std::make_unique<CpuBuffer>(std::move(*mapping), allocated_));
}

std::vector<Region> CpuDevice::regions_of(const std::vector<Launch>& launches) const {
  std::set<const CpuBuffer*> seen;
  std::vector<Region> regions;
  const auto add = [&](const BufferView& view) {
    const auto* buffer = dynamic_cast<const CpuBuffer*>(view.buffer);
    if (buffer == nullptr || buffer->bytes() == 0 || !seen.insert(buffer).second) return;
    regions.push_back({buffer->mapping().data(), buffer->bytes()});
  };
  for (const Launch& launch : launches) {
    for (const Argument& argument : launch.arguments) {
      if (const auto* view = std::get_if<BufferView>(&argument)) add(*view);
    }
    if (!launch.product) continue;
    for (const BufferView& view : {launch.product->a, launch.product->b, launch.product->c}) add(view);
  }
  return regions;
}

base::Result<void> CpuDevice::try_run(const std::vector<Launch>& launches, std::int64_t deadline_ns) {
  if (auto checked = check_launches(launches); !checked) return checked;
  const std::lock_guard<std::mutex> lock(running_);
  const auto work = [this, &launches]() -> base::Result<void> {
    // The pool's threads did not come along: the child has its own. It ends without destructors, so nothing is joined.
    auto* pool = new WorkerPool(system_.cpus);
    auto* workspaces = new std::vector<Mapping>();
    HONE_TRY(prepared, prepare(launches, pool->cores()));
    HONE_TRY(times, run_batch(*pool, *prepared, *workspaces, false));
    return {};
  };
  const std::string what = launches.empty() ? std::string("nothing") : "'" + launches.front().entry + "'";
  const auto regions = regions_of(launches);
  auto done = run_in_child(work, regions, deadline_ns, what, stop_);
#ifdef MADV_POPULATE_WRITE
  // The fork left this process' pages to be marked writable again one by one: here, and not in a timed run.
  for (const Region& region : regions) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    ::madvise(region.data, (region.bytes + page - 1) / page * page, MADV_POPULATE_WRITE);
  }
#endif
  return done;
}

base::Result<model::Sample> CpuDevice::time(const std::vector<Launch>& launches, const TimingConditions& conditions) {
  const std::lock_guard<std::mutex> lock(running_);
  HONE_TRY(prepared, prepare(launches, pool_.cores()));
  HONE_PROPAGATE(reserve_for(pool_, *prepared, workspaces_, true));
  if (conditions.cold_cache) {
    auto regions = regions_of(launches);
    for (const Mapping& place : workspaces_) {
      if (place.bytes() > 0) regions.push_back({place.data(), place.bytes()});
    }
    HONE_PROPAGATE(flush_.flush(pool_, regions));
  }
  const WorkerPool::PinnedCaller pinned(pool_);  // the clock is that of the core that works
  const double clock_before_mhz = measure_clock_mhz();
  HONE_TRY(times, run_batch(pool_, *prepared, workspaces_, true));
  const double clock_after_mhz = measure_clock_mhz();
  model::Sample sample;
  sample.device_ns = static_cast<double>(times->device_ns);
  sample.wall_ns = static_cast<double>(times->wall_ns);
  sample.clock_mhz = (clock_before_mhz + clock_after_mhz) / 2;
  return sample;
}

Events CpuDevice::count_events(const std::vector<Launch>& launches, std::string& reason) {
  const std::lock_guard<std::mutex> lock(running_);
  reason.clear();
  auto prepared = prepare(launches, pool_.cores());
  if (prepared) {
    if (auto reserved = reserve_for(pool_, *prepared, workspaces_, true); !reserved) prepared = reserved.error();
  }
  if (!prepared) {
    reason = base::describe(prepared.error());
    return {};
  }
  const auto work = [&]() -> base::Result<void> {
    HONE_TRY(times, run_batch(pool_, *prepared, workspaces_, true));
    return {};
  };
  return count_while(pool_.thread_ids(workers_of(*prepared)), work, reason);
}

}  // namespace

CpuOptions CpuOptions::from_environment() {
  CpuOptions options;
  options.compiler = variable("HONE_CXX");
  if (options.compiler.empty()) options.compiler = variable("CXX");
  options.cache_directory = variable("HONE_CACHE_DIR");
  if (options.cache_directory.empty() && !variable("XDG_CACHE_HOME").empty()) {
    options.cache_directory = base::join(variable("XDG_CACHE_HOME"), "hone");
  }
  if (options.cache_directory.empty() && !variable("HOME").empty()) {
    options.cache_directory = base::join(variable("HOME"), ".cache/hone");
  }
  options.temporary_directory = variable("TMPDIR");
  return options;
}

std::string cache_note(const CpuOptions& options, base::FileSystem& files) {
  const auto trouble = ProgramCache(options.cache_directory, "cpu", ".so", files).trouble();
  if (!trouble) return "";
  return fmt::format(
      "compiled programs are not kept, every run compiles them anew: {}{} (to keep them: {}, or name another "
      "folder in HONE_CACHE_DIR)",
      trouble->found, trouble->where.empty() ? "" : " at " + trouble->where, trouble->remedy);
}

base::Result<std::unique_ptr<Device>> open_cpu_device(const CpuOptions& options, base::Processes& processes,
                                                      base::FileSystem& files, base::Clock& clock) {
  return std::unique_ptr<Device>(
      std::make_unique<CpuDevice>(options, read_system(files, options.cores), processes, files, clock));
}

}  // namespace hone::device::cpu
