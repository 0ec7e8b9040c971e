// What each setting of a kernel is worth: rungs from narrow vectors to the settings in force, against a copy in the same run.
//
//   ladder [KERNEL...]              default: rms_norm swiglu relu_squared
//   --pass forward|backward (both), --dtype fp32|bf16|fp16 (fp32 and bf16), --rows N --columns N (4096 x 4096; 8192 rows in 16
//   bits), --rounds N (40)
//
// The rungs, a copy with plain and with streaming stores, and the shipped kernel without its arithmetic and without its memory
// traffic take turns, in an order drawn anew each round, caches flushed before each run. A rung's share is the median over the
// rounds of the better copy's time for the same bytes over its own, each from the same round: what else the machine does hits
// both. Bytes are the minimum traffic of the pass. A table is for reading beside others of the same run only.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "device/cpu/ceiling_programs.hpp"
#include "device/cpu/cpu_device.hpp"
#include "kernels/catalog/operation.hpp"
#include "measure/inputs.hpp"
#include "measure/statistics.hpp"
#include "model/version.hpp"
#include "repository/launch/bound_plan.hpp"
#include "repository/native/native_repository.hpp"

namespace {

using namespace hone;

[[noreturn]] void fail(const base::Error& error) {
  fmt::print(stderr, "{}\n", base::describe(error));
  std::exit(1);
}

template <class T>
T value_or_fail(base::Result<T> result) {
  if (!result) fail(result.error());
  return *std::move(result);
}

constexpr std::int64_t kCopyBlockBytes = 64 << 10;

struct Rung {
  std::string name;
  std::vector<device::Launch> launches;
  double bytes = 0;
  std::vector<double> times_ns, shares;
};

// One pass of one kernel on one set of buffers.
class Ladder {
 public:
  Ladder(device::Device& device, const kernels::Operation& operation, kernels::Pass pass,
         const kernels::Problem& problem)
      : device_(device),
        operation_(operation),
        pass_(pass),
        problem_(problem),
        target_(repository::native::target_of(device.info())) {
    for (const kernels::TensorSpec& tensor : operation.tensors(problem)) {
      const auto bytes = static_cast<std::size_t>(tensor.bytes());
      buffers_[tensor.name] = value_or_fail(device.allocate(bytes));
      // Values as the tensor has them: subnormals and NaN, which any bits contain, take a CPU another time.
      std::vector<unsigned char> values(bytes);
      measure::fill(
          {.dtype = tensor.dtype,
           .distribution = tensor.distribution == kernels::Distribution::labels ? tensor.distribution
                                                                                : kernels::Distribution::normal,
           .scale = tensor.scale,
           .offset = tensor.offset,
           .seed = 1},
          values.data(), bytes / static_cast<std::size_t>(kernels::size_of(tensor.dtype)));
      if (auto uploaded = device.upload({buffers_[tensor.name].get(), 0}, values.data(), bytes); !uploaded)
        fail(uploaded.error());
    }
    const kernels::Traffic traffic = operation.traffic(pass, problem);
    bytes_ = traffic.bytes_read + traffic.bytes_written;
    add_copies();
    kernels::Settings settings = narrow_settings();
    add(fmt::format("v1: {}-byte vectors, one in flight", settings["VECTOR_BYTES"]), settings);
    settings["VECTOR_BYTES"] = widest();
    add(fmt::format("v2: {}-byte vectors", widest()), settings);
    settings["UNROLL"] = 2;
    add("v3: two in flight", settings);
    settings["STREAMING_STORES"] = 1;
    add("v4: streaming stores", settings);
    kernels::Settings prefetching = settings;
    prefetching[settings.count("PREFETCH_ROWS") > 0 ? "PREFETCH_ROWS" : "PREFETCH"] =
        settings.count("PREFETCH_ROWS") > 0 ? 1 : 1024;
    add("v5: prefetch", prefetching);
    for (const std::int64_t rows : {2, 4}) {
      prefetching["BLOCK_ROW"] = rows, prefetching["UNROLL"] = 1;
      add(fmt::format("v{}: {} rows together, one vector of each in flight", rows == 2 ? 6 : 7, rows), prefetching);
    }
    if (sums_beside()) {
      settings["PREFETCH_ROWS"] = 2;
      int version = 8;
      for (const auto& [rows, unroll] : {std::pair{1, 1}, {1, 2}, {2, 1}, {2, 2}, {4, 2}}) {
        settings["BLOCK_ROW"] = rows, settings["UNROLL"] = unroll;
        add(fmt::format("v{}: summed beside the map; rows together {}, vectors in flight {}", version++, rows, unroll),
            settings);
      }
    }
    const kernels::Settings shipped = operation.heuristic(pass, problem, target_);
    add("shipped heuristic", shipped);
    add("shipped, without arithmetic", shipped, kernels::Ablation::no_compute);
    add("shipped, without memory traffic", shipped, kernels::Ablation::no_memory);
  }

  void time(int rounds) {
    std::mt19937 random(11);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < rungs_.size(); ++i) order.push_back(i);
    for (int round = -1; round < rounds; ++round) {
      std::shuffle(order.begin(), order.end(), random);
      std::vector<double> times(rungs_.size());
      for (const std::size_t i : order)
        times[i] = value_or_fail(device_.time(rungs_[i].launches, {.cold_cache = true})).device_ns;
      if (round < 0) continue;  // first runs load code and pages
      const double copy_ns_a_byte = std::min(times[0] / rungs_[0].bytes, times[1] / rungs_[1].bytes);
      for (std::size_t i = 0; i < rungs_.size(); ++i) {
        rungs_[i].times_ns.push_back(times[i]);
        rungs_[i].shares.push_back(copy_ns_a_byte * rungs_[i].bytes / times[i]);
      }
    }
  }

  void print() const {
    const bool forward = pass_ == kernels::Pass::forward;
    fmt::print("{} {}, {}, {} x {}\n\n| version | ms | GB/s | share of the better copy |\n|---|---|---|---|\n",
               operation_.name(), forward ? "forward" : "backward", kernels::name_of(problem_.dtype), problem_.rows,
               problem_.columns);
    for (const Rung& rung : rungs_) {
      const double ns = *measure::median(rung.times_ns);
      fmt::print("| {} | {:.2f} | {:.1f} | {:.0f} % ({:.0f} to {:.0f}) |\n", rung.name, ns / 1e6, rung.bytes / ns,
                 100 * *measure::median(rung.shares), 100 * *measure::quantile(rung.shares, 0.2),
                 100 * *measure::quantile(rung.shares, 0.8));
    }
    fmt::print("\n");
  }

 private:
  kernels::Settings narrow_settings() const {
    kernels::Settings settings = operation_.heuristic(pass_, problem_, target_);
    for (auto& [name, value] : settings) {
      for (const auto& [knob, plain] : {std::pair<std::string, std::int64_t>{"BLOCK_ROW", 1},
                                        {"UNROLL", 1},
                                        {"VECTOR_BYTES", 16},
                                        {"PREFETCH", 0},
                                        {"PREFETCH_ROWS", 0},
                                        {"STREAMING_STORES", 0}})
        if (name == knob) value = plain;
    }
    return settings;
  }
  std::int64_t widest() const { return target_.vector_bytes; }
  bool sums_beside() const {
    const auto knobs = operation_.knobs(pass_, target_);
    return std::any_of(knobs.begin(), knobs.end(), [](const kernels::Knob& knob) {
      return knob.name == "PREFETCH_ROWS" && std::find(knob.values.begin(), knob.values.end(), 2) != knob.values.end();
    });
  }

  // The plan takes any settings; those beyond the space of the sweep are there for the ladder alone.
  void add(const std::string& name, const kernels::Settings& settings,
           kernels::Ablation ablation = kernels::Ablation::none) {
    const kernels::Plan plan = operation_.plan(pass_, problem_, settings, target_, ablation);
    device::ProgramSource source{operation_.name() + " " + name, {}, plan.main_file, plan.defines};
    for (const kernels::EmbeddedFile& file : kernels::embedded_sources())
      source.files.emplace_back(file.path, file.text);
    programs_.push_back(value_or_fail(device_.compile(source)));
    repository::launch::TensorViews views;
    for (const auto& [tensor, buffer] : buffers_) views[tensor] = {buffer.get(), 0};
    auto bound = value_or_fail(repository::launch::bind(device_, plan, programs_.back(), views, &scratch_));
    rungs_.push_back({name, bound.launches, bytes_, {}, {}});
    bound_.push_back(std::move(bound));
  }

  void add_copies() {
    const std::int64_t blocks =
        std::max<std::int64_t>(8, static_cast<std::int64_t>(bytes_ / 2) / kCopyBlockBytes / 8 * 8);
    for (const char* name : {"copy_to", "copy_from"}) {
      buffers_[name] = value_or_fail(device_.allocate(static_cast<std::size_t>(blocks * kCopyBlockBytes)));
      if (auto filled = device_.fill({buffers_[name].get(), 0}, 1, buffers_[name]->bytes()); !filled)
        fail(filled.error());
    }
    device::ProgramSource source;
    source.name = "copy";
    source.files = {{"ceilings.cpp", device::cpu::ceiling_program_text}};
    source.main_file = "ceilings.cpp";
    source.defines = {{"BLOCK_BYTES", std::to_string(kCopyBlockBytes)}};
    programs_.push_back(value_or_fail(device_.compile(source)));
    for (const auto& [name, entry] :
         {std::pair{"copy, plain stores", "ceiling_copy_1"}, {"copy, streaming stores", "ceiling_copy_streaming_1"}}) {
      device::Launch launch;
      launch.program = programs_.back().get();
      launch.entry = entry;
      launch.programs = blocks;
      launch.arguments = {device::BufferView{buffers_["copy_to"].get(), 0},
                          device::BufferView{buffers_["copy_from"].get(), 0}};
      rungs_.push_back({name, {launch}, 2.0 * static_cast<double>(blocks * kCopyBlockBytes), {}, {}});
    }
  }

  device::Device& device_;
  const kernels::Operation& operation_;
  const kernels::Pass pass_;
  const kernels::Problem problem_;
  const kernels::Target target_;
  double bytes_ = 0;
  std::map<std::string, std::unique_ptr<device::Buffer>> buffers_;
  repository::launch::ScratchPool scratch_;
  std::vector<repository::launch::BoundLaunches> bound_;  // the scratch that launches name
  std::vector<std::shared_ptr<device::Program>> programs_;
  std::vector<Rung> rungs_;
};

struct Options {
  std::vector<std::string> kernels, passes = {"forward", "backward"}, dtypes = {"fp32", "bf16"};
  std::int64_t rows = 0, columns = 4096;
  int rounds = 40;
};

Options options_of(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool more = i + 1 < count;
    if (word == "--pass" && more)
      options.passes = {arguments[++i]};
    else if (word == "--dtype" && more)
      options.dtypes = {arguments[++i]};
    else if (word == "--rows" && more)
      options.rows = std::atoll(arguments[++i]);
    else if (word == "--columns" && more)
      options.columns = std::atoll(arguments[++i]);
    else if (word == "--rounds" && more)
      options.rounds = std::max(5, std::atoi(arguments[++i]));
    else
      options.kernels.push_back(word);
  }
  if (options.kernels.empty()) options.kernels = {"rms_norm", "swiglu", "relu_squared"};
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = options_of(count, arguments);
  base::SystemProcesses processes;
  base::SystemFiles files;
  base::SystemClock clock;
  const auto device =
      value_or_fail(device::cpu::open_cpu_device(device::cpu::CpuOptions::from_environment(), processes, files, clock));
  const model::DeviceInfo& info = device->info();
  fmt::print("{}, {} cores, {}; {}; hone {} ({}), {}; median of {} rounds, shares with their p20 to p80\n\n", info.name,
             info.sm_count, info.architecture, info.compiler, model::hone_version(), model::hone_commit(), clock.utc(),
             options.rounds);
  for (const std::string& name : options.kernels) {
    const auto& operation = *value_or_fail(repository::native::find_operation(name));
    for (const std::string& pass : options.passes) {
      for (const std::string& word : options.dtypes) {
        const kernels::DType dtype = value_or_fail(repository::native::resolve_dtype(operation, word, info));
        const std::int64_t rows = options.rows > 0 ? options.rows : (word == "fp32" ? 4096 : 8192);
        Ladder ladder(*device, operation, pass == "backward" ? kernels::Pass::backward : kernels::Pass::forward,
                      {rows, options.columns, 0, dtype, kernels::default_options(operation)});
        ladder.time(options.rounds);
        ladder.print();
      }
    }
  }
  return 0;
}
