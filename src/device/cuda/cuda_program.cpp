// Loading modules, and launches by cuLaunchKernelEx.
#include "device/cuda/cuda_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/text.hpp"

namespace hone::device::cuda {

namespace {

constexpr int most_threads = 1024, most_programs_yz = 65535, most_cluster_blocks = 16, portable_cluster_blocks = 8;
constexpr std::size_t unasked_shared_bytes = 48 << 10;
// A kernel with more parameters than a launch gives would have the driver read beyond the list; they are zeros instead.
constexpr std::size_t spare_parameters = 64;

base::Result<std::uint64_t> slot_of(const Argument& argument) {
  std::uint64_t slot = 0;
  if (const auto* view = std::get_if<BufferView>(&argument)) {
    HONE_TRY(pointer, resolve(*view, 0));
    slot = *pointer;
  } else if (const auto* i32 = std::get_if<std::int32_t>(&argument)) {
    std::memcpy(&slot, i32, sizeof *i32);
  } else if (const auto* i64 = std::get_if<std::int64_t>(&argument)) {
    std::memcpy(&slot, i64, sizeof *i64);
  } else {
    const float value = std::get<float>(argument);
    std::memcpy(&slot, &value, sizeof value);
  }
  return slot;
}

}  // namespace

CudaProgram::~CudaProgram() {
  if (module_ != nullptr && session_->enter().ok()) (void)session_->driver().module_unload(module_);
}

EntryResources CudaProgram::resources(const std::string& entry) const {
  const auto found = compiled_.kernels.find(entry);
  if (found == compiled_.kernels.end()) return Program::resources(entry);
  return {found->second.registers, found->second.spill_bytes(), found->second.static_shared_bytes};
}

base::Result<KernelFacts> CudaProgram::entry(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = entries_.find(name); found != entries_.end()) return found->second;
  const DriverApi& driver = session_->driver();
  if (module_ == nullptr) {
    HONE_PROPAGATE(session_->check(driver.module_load(&module_, compiled_.image.data()), "'" + name_ + "' to load",
                                   "cuModuleLoadData"));
  }
  KernelFacts facts;
  const Status status = driver.module_function(&facts.function, module_, name.c_str());
  if (status == kNotFound) {
    std::vector<std::string> present;
    for (const auto& [kernel, resources] : compiled_.kernels) present.push_back(kernel);
    return base::Error{base::ErrorKind::gate, "a kernel '" + name + "'",
                       present.empty() ? "no such kernel in it" : base::join_text(present, ", "), name_,
                       "declare it extern \"C\" __global__, and check its spelling"};
  }
  HONE_PROPAGATE(session_->check(status, "the kernel '" + name + "'", "cuModuleGetFunction"));
  const auto read = [&](FunctionAttribute which, int& value) {
    (void)driver.function_get(&value, static_cast<int>(which), facts.function);
  };
  read(FunctionAttribute::max_threads_per_block, facts.max_threads);
  read(FunctionAttribute::registers, facts.registers);
  read(FunctionAttribute::static_shared_bytes, facts.static_shared_bytes);
  read(FunctionAttribute::local_bytes, facts.local_bytes);
  entries_[name] = facts;
  return facts;
}

base::Result<void> CudaProgram::raise_limits(const std::string& name, const KernelFacts& facts,
                                             std::size_t dynamic_shared_bytes, int cluster_size) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const DriverApi& driver = session_->driver();
  if (cluster_size > portable_cluster_blocks) {
    const Status status =
        driver.function_set(facts.function, static_cast<int>(FunctionAttribute::non_portable_cluster_size_allowed), 1);
    if (auto set = session_->check(status, fmt::format("clusters of {} blocks for '{}'", cluster_size, name),
                                   "cuFuncSetAttribute");
        !set)
      return set;
  }
  std::size_t& raised = raised_shared_[name];
  if (dynamic_shared_bytes + static_cast<std::size_t>(facts.static_shared_bytes) <= unasked_shared_bytes ||
      dynamic_shared_bytes <= raised)
    return {};
  const auto most = static_cast<std::size_t>(session_->attribute(DeviceAttribute::shared_bytes_per_block_optin));
  if (dynamic_shared_bytes + static_cast<std::size_t>(facts.static_shared_bytes) > most) {
    return base::Error{base::ErrorKind::gate,
                       fmt::format("at most {} bytes of shared memory in a block of '{}'", most, name),
                       fmt::format("{} dynamic and {} static", dynamic_shared_bytes, facts.static_shared_bytes),
                       session_->id(), "use fewer stages or a smaller tile"};
  }
  const Status status =
      driver.function_set(facts.function, static_cast<int>(FunctionAttribute::max_dynamic_shared_bytes),
                          static_cast<int>(dynamic_shared_bytes));
  if (auto set =
          session_->check(status, fmt::format("{} bytes of dynamic shared memory for '{}'", dynamic_shared_bytes, name),
                          "cuFuncSetAttribute");
      !set)
    return set;
  raised = dynamic_shared_bytes;
  return {};
}

base::Result<void> check_launches(const std::vector<Launch>& launches) {
  for (const Launch& launch : launches) {
    const auto wrong = [&launch](base::ErrorKind kind, const std::string& expected, const std::string& found,
                                 const std::string& remedy) {
      return base::Error{kind, expected, found, "launch of '" + launch.entry + "'", remedy};
    };
    if (launch.product) {
      if (auto checked = check_product(*launch.product); !checked) return checked;
      continue;
    }
    if (dynamic_cast<const CudaProgram*>(launch.program) == nullptr)
      return wrong(base::ErrorKind::internal, "a program compiled by the CUDA device",
                   launch.program == nullptr ? "none" : "another device's", "");
    if (launch.programs < 0)
      return wrong(base::ErrorKind::internal, "a number of programs, 0 or more", std::to_string(launch.programs), "");
    if (launch.programs > std::numeric_limits<std::int32_t>::max())
      return wrong(base::ErrorKind::gate,
                   fmt::format("at most {} programs in a launch", std::numeric_limits<std::int32_t>::max()),
                   std::to_string(launch.programs), "let a program work on more rows (BLOCK_ROW)");
    if (launch.threads < 1 || launch.threads > most_threads)
      return wrong(base::ErrorKind::gate, fmt::format("1 to {} threads of a block", most_threads),
                   std::to_string(launch.threads), "correct num_warps");
    for (const int extent : {launch.programs_y, launch.programs_z})
      if (extent < 1 || extent > most_programs_yz)
        return wrong(base::ErrorKind::gate, fmt::format("1 to {} programs along y and z", most_programs_yz),
                     std::to_string(extent), "let x be the largest extent of the grid");
    const std::int64_t block = std::int64_t{launch.threads} * launch.threads_y * launch.threads_z;
    if (launch.threads_y < 1 || launch.threads_z < 1 || block > most_threads)
      return wrong(base::ErrorKind::gate, fmt::format("1 to {} threads of a block", most_threads),
                   fmt::format("{} x {} x {}", launch.threads, launch.threads_y, launch.threads_z),
                   "use a smaller block");
    if (launch.dynamic_shared_bytes < 0 || launch.dynamic_shared_bytes > std::int64_t{1} << 30)
      return wrong(base::ErrorKind::gate, "shared memory that a block can have",
                   fmt::format("{} bytes", launch.dynamic_shared_bytes), "use fewer stages or a smaller tile");
    if (launch.cluster_size < 1 || launch.cluster_size > most_cluster_blocks ||
        launch.programs % launch.cluster_size != 0)
      return wrong(
          base::ErrorKind::gate,
          fmt::format("clusters of 1 to {} blocks that divide the {} programs", most_cluster_blocks, launch.programs),
          std::to_string(launch.cluster_size), "choose another cluster size, or round the programs up");
    for (const Argument& argument : launch.arguments) HONE_PROPAGATE(slot_of(argument));
  }
  return {};
}

base::Result<std::vector<PreparedLaunch>> prepare(GpuSession& session, const std::vector<Launch>& launches) {
  HONE_PROPAGATE(check_launches(launches));
  std::vector<PreparedLaunch> prepared;
  for (const Launch& launch : launches) {
    if (launch.product) {
      HONE_TRY(library, session.products());
      HONE_TRY(product, (*library)->prepare(*launch.product));
      PreparedLaunch ready;
      ready.entry = launch.entry;
      ready.program = "cuBLASLt";
      ready.product = *product;
      prepared.push_back(std::move(ready));
      continue;
    }
    const auto& program = dynamic_cast<const CudaProgram&>(*launch.program);
    HONE_TRY(facts, program.entry(launch.entry));
    if (launch.programs == 0) continue;
    const int threads = launch.threads * launch.threads_y * launch.threads_z;
    if (facts->max_threads > 0 && threads > facts->max_threads) {
      return base::Error{base::ErrorKind::gate,
                         fmt::format("at most {} threads in a block of '{}', which takes {} registers a thread",
                                     facts->max_threads, launch.entry, facts->registers),
                         std::to_string(threads), program.name(),
                         "use fewer warps, or a smaller tile in each thread (or raise its __launch_bounds__)"};
    }
    HONE_PROPAGATE(program.raise_limits(launch.entry, *facts, launch.dynamic_shared_bytes, launch.cluster_size));
    PreparedLaunch ready;
    ready.entry = launch.entry;
    ready.program = program.name();
    ready.function = facts->function;
    ready.grid = {static_cast<unsigned>(launch.programs), static_cast<unsigned>(launch.programs_y),
                  static_cast<unsigned>(launch.programs_z)};
    ready.block = {static_cast<unsigned>(launch.threads), static_cast<unsigned>(launch.threads_y),
                   static_cast<unsigned>(launch.threads_z)};
    ready.dynamic_shared_bytes = static_cast<unsigned>(launch.dynamic_shared_bytes);
    ready.cluster_size = launch.cluster_size;
    ready.begins_early = launch.begins_early && program.waits_itself() && !prepared.empty();
    for (const Argument& argument : launch.arguments) ready.values.push_back(*slot_of(argument));
    prepared.push_back(std::move(ready));
  }
  return prepared;
}

base::Result<void> enqueue(GpuSession& session, std::vector<PreparedLaunch>& launches) {
  std::vector<std::uint64_t> slots;
  std::vector<void*> pointers;
  for (PreparedLaunch& launch : launches) {
    if (launch.product) {
      HONE_TRY(library, session.products());
      if (auto queued = (*library)->enqueue(*launch.product); !queued) return queued;
      continue;
    }
    // The slots lie one after another: a kernel may take them as parameters, or all of them as one struct.
    slots = launch.values;
    slots.resize(launch.values.size() + spare_parameters);
    pointers.clear();
    for (std::uint64_t& slot : slots) pointers.push_back(&slot);
    std::array<LaunchAttribute, 2> attributes;
    LaunchConfig config;
    config.attributes = attributes.data();
    std::copy(launch.grid.begin(), launch.grid.end(), config.grid);
    std::copy(launch.block.begin(), launch.block.end(), config.block);
    config.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    config.stream = session.stream();
    if (launch.cluster_size > 1) {
      LaunchAttribute& cluster = attributes[config.attribute_count++];
      cluster.id = kClusterDimension;
      cluster.value.cluster[0] = static_cast<unsigned>(launch.cluster_size);
      cluster.value.cluster[1] = cluster.value.cluster[2] = 1;
    }
    if (launch.begins_early) {
      LaunchAttribute& early = attributes[config.attribute_count++];
      early.id = kProgrammaticStreamSerialization;
      early.value.flag = 1;
    }
    const Status status = session.driver().launch(&config, launch.function, pointers.data(), nullptr);
    const std::string call =
        fmt::format("cuLaunchKernelEx of {} blocks of {} threads, {} bytes of dynamic shared memory",
                    fmt::join(launch.grid, " x "), fmt::join(launch.block, " x "), launch.dynamic_shared_bytes);
    if (auto launched =
            session.check(status, fmt::format("the kernel '{}' of '{}' to start", launch.entry, launch.program), call);
        !launched)
      return launched;
  }
  return {};
}

std::string words_for(const std::vector<PreparedLaunch>& launches) {
  if (launches.empty()) return "nothing";
  const std::string first = fmt::format("the kernel '{}' of '{}'", launches.front().entry, launches.front().program);
  return launches.size() == 1 ? first : fmt::format("{} and {} more", first, launches.size() - 1);
}

}  // namespace hone::device::cuda
