// Opportunities that the source of a Triton operation shows.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/source_advice/advice.hpp"
#include "diagnose/source_advice/parts.hpp"

namespace hone::diagnose {

namespace {

constexpr double kFewMaskedLanesPct = 5;  // a tail of small tiles, not worth another tiling

class TritonFinder {
 public:
  explicit TritonFinder(const model::AuditedOp& op) : op_(op), launched_(op.launched) {}

  std::vector<model::Opportunity> find() {
    for (std::size_t i = 0; i < op_.launches.size(); ++i) {
      if (launched_[i].name.empty()) continue;
      dead_settings(op_.launches[i], launched_[i]);
      default_warps(op_.launches[i], launched_[i]);
      masked_lanes(op_.launches[i], launched_[i]);
      small_grid(op_.launches[i], launched_[i]);
      repeated_passes(launched_[i]);
      narrow_offsets(launched_[i]);
      contended_atomics(launched_[i]);
    }
    autotune();
    cache_hints();
    overwritten_reads();
    in_place();
    return found_.take();
  }

 private:
  void add(std::string title, const std::string& detail, std::vector<model::Location> locations, const char* strategy,
           const char* risk) {
    found_.add(std::move(title), detail, std::move(locations), strategy, risk);
  }

  void dead_settings(const model::LaunchFact& launch, const model::KernelFact& kernel) {
    if (launch.num_stages_live == model::Liveness::dead && launch.num_stages.source != "default") {
      add("num_stages of " + kernel.name + " changes nothing",
          launch.num_stages_reason + ": leave it out of every sweep", {{launch.file, launch.line}}, "parameter-sweep",
          "none");
    }
    if (launch.num_warps.bound_to_kernel_parameter) {
      add("num_warps never reaches the launch of " + kernel.name,
          "it stands by position, or by default, in a parameter of the kernel; only a keyword of the launch is an "
          "option, "
          "so it runs with Triton's default of 4 warps",
          {{launch.file, launch.line}, {kernel.file, kernel.line}}, "parameter-sweep",
          "low: pass it by keyword, then sweep");
    }
    if (launch.num_stages.bound_to_kernel_parameter) {
      add("num_stages never reaches the launch of " + kernel.name,
          "it stands by position, or by default, in a parameter of the kernel; only a keyword of the launch is an "
          "option, "
          "so it runs with Triton's default of 3 stages",
          {{launch.file, launch.line}, {kernel.file, kernel.line}}, "parameter-sweep",
          "low: pass it by keyword, then sweep");
    }
  }

  void default_warps(const model::LaunchFact& launch, const model::KernelFact& kernel) {
    if (launch.num_warps.source != "default" || kernel.autotune) return;
    add("num_warps of " + kernel.name + " is Triton's default",
        "4 warps whatever the tile size: a wide tile wants more, a narrow one fewer", {{launch.file, launch.line}},
        "parameter-sweep", "none");
  }

  void masked_lanes(const model::LaunchFact& launch, const model::KernelFact& kernel) {
    for (const model::SettingSource& block : launch.block_sources) {
      const bool unread = std::find(kernel.unused_params.begin(), kernel.unused_params.end(), block.param) !=
                          kernel.unused_params.end();
      if (!block.rounded_up || unread) continue;
      const std::optional<long long> largest = block.rounded_up->largest;
      const std::string& of = block.rounded_up->of;
      const bool heads = of.find("head") != std::string::npos && of.find("dim") == std::string::npos;
      std::string examples;
      double most = 0;
      const std::vector<long long> sizes =
          heads ? std::vector<long long>{40, 24} : std::vector<long long>{5120, 6144, 2880};
      for (const long long size : sizes) {
        const double masked = masked_lane_waste_pct(size, largest);
        most = std::max(most, masked);
        examples += fmt::format("{}{:.0f} % where {} is {}", examples.empty() ? "" : ", ", masked, of, size);
      }
      if (most < kFewMaskedLanesPct) continue;
      add(fmt::format("{} of {} is rounded up to a power of two", block.param, kernel.name),
          fmt::format("lanes masked off: {}, none at powers of two; tiles that divide the row avoid it", examples),
          {{launch.file, launch.line}}, "redundant-work", "medium: a loop over tiles costs a second look at the row");
      return;
    }
  }

  void small_grid(const model::LaunchFact& launch, const model::KernelFact& kernel) {
    const std::string& grid = launch.grid_resolved;
    const bool by_units = grid.find("sm_count") != std::string::npos || grid.find("NUM_SMS") != std::string::npos ||
                          grid.find("num_sms") != std::string::npos ||
                          grid.find("multi_processor_count") != std::string::npos;
    if (!by_units) return;
    const bool several = launch.grid_ndim != 1 || grid.find('*') != std::string::npos;
    if (several) return;
    add("one program on each multiprocessor in " + kernel.name,
        fmt::format(
            "grid {} leaves no second program to run while one waits for memory: occupancy is that of one block", grid),
        {{launch.file, launch.line}, {launch.file, launch.grid_assigned_line}}, "grid-sizing",
        "low: partial sums grow with the number of programs");
  }

  void repeated_passes(const model::KernelFact& kernel) {
    std::vector<model::Location> passes;
    for (const model::LoopFact& loop : kernel.loops) {
      if (loop.depth == 1 && loop.loads_inside && loop.kind != "static_range")
        passes.push_back({kernel.file, loop.line});
    }
    if (passes.size() < 2 || !kernel.dot_lines.empty()) return;
    add(fmt::format("{} reads its row {} times", kernel.name, passes.size()),
        "rows that fit in registers or shared memory need one pass; longer ones can keep the first pass's tiles in the "
        "L2 cache",
        passes, "reuse", "medium: registers");
  }

  void narrow_offsets(const model::KernelFact& kernel) {
    if (kernel.int32_offset_lines.empty()) return;
    std::vector<model::Location> places;
    for (const int line : kernel.int32_offset_lines) places.push_back({kernel.file, line});
    std::string factors;
    for (const std::string& factor : kernel.row_offset_params) factors += (factors.empty() ? "" : ", ") + factor;
    add("offsets of " + kernel.name + " are 32-bit",
        fmt::format(
            "a 32-bit program index times {} wraps where the product reaches 2^31, as it can in tensors of that "
            "many elements; widen the index with .to(tl.int64)",
            factors),
        places, "correctness", "low: 64-bit address arithmetic");
  }

  void contended_atomics(const model::KernelFact& kernel) {
    if (kernel.atomics.empty()) return;
    std::vector<model::Location> places;
    for (const model::AtomicFact& atomic : kernel.atomics) places.push_back({kernel.file, atomic.line});
    add("atomic accumulation in " + kernel.name,
        "programs that meet on the same addresses wait for each other, and the sum's order varies from run to run",
        places, "partial-sums", "low: one more buffer and a reduction");
  }

  void autotune() {
    for (const model::CommentedAutotune& comment : op_.commented_out_autotune) {
      add("an autotune decorator is commented out above " + comment.above_kernel.value_or("a kernel"),
          "its configurations are a sweep someone thought worth trying", {{comment.file, comment.line}},
          "parameter-sweep", "none");
    }
    for (const model::KernelFact& kernel : op_.jit_kernels) {
      if (!kernel.autotune || !kernel.autotune->n_configs || *kernel.autotune->n_configs < 2) continue;
      const bool loop_free = kernel.loops.empty();
      const auto stages = kernel.autotune->values.find("num_stages");
      if (!loop_free || stages == kernel.autotune->values.end() || stages->second.size() < 2) continue;
      add(fmt::format("{} autotunes num_stages without a loop", kernel.name),
          fmt::format("{} configurations, but each value of num_stages compiles to the same code: {} would do",
                      *kernel.autotune->n_configs,
                      *kernel.autotune->n_configs / static_cast<int>(stages->second.size())),
          {{kernel.file, kernel.decorator_line}}, "parameter-sweep", "none");
    }
  }

  void cache_hints() {
    std::vector<model::Location> streaming;
    bool any_hint = false;
    for (const model::KernelFact& kernel : launched_) {
      any_hint = any_hint || !kernel.cache_hints.empty();
      if (!kernel.name.empty() && kernel.loops.empty() && !kernel.store_lines.empty() && streaming.size() < 8) {
        streaming.push_back({kernel.file, kernel.store_lines.front()});
      }
    }
    if (any_hint || streaming.empty()) return;
    add("no cache hints",
        "data that is touched once can be loaded evict-first and stored with streaming; this can lose, so measure both "
        "ways",
        streaming, "streaming-stores", "none: reverted when it loses");
  }

  void overwritten_reads() {
    std::vector<model::Location> places;
    for (const model::InPlaceEvidence& read : op_.in_place.reads_of_overwritten)
      places.push_back({read.file, read.line});
    if (places.empty()) return;
    add("reads of what was overwritten", op_.in_place.reads_of_overwritten.front().what, places, "correctness",
        "an order of accesses that a change must keep");
  }

  void in_place() {
    if (!op_.in_place.flag || !op_.in_place.gradient_written_into_existing_buffer) return;
    add("gradient in place only behind " + *op_.in_place.flag,
        "in place saves one tensor of memory; timing must restore the inputs", {}, "less-traffic",
        "callers that read the buffer afterwards");
  }

  const model::AuditedOp& op_;
  const std::vector<model::KernelFact>& launched_;
  OpportunityList found_;
};

}  // namespace

std::vector<model::Opportunity> triton_opportunities(const model::AuditedOp& op) { return TritonFinder(op).find(); }

}  // namespace hone::diagnose
