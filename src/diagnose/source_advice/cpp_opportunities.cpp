// Opportunities that the source of a C++ or CUDA operation shows. What holds for both machines is read in one way; what a GPU's
// threads or a processor's vectors make of it stands in finders of their own.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "diagnose/source_advice/parts.hpp"

namespace hone::diagnose {

namespace {

using model::CppKernelFact;
using model::ElementAccess;
using model::Location;
using model::Step;

std::vector<Location> places(const std::string& file, const std::vector<int>& lines) {
  std::vector<Location> found;
  for (const int line : std::set<int>(lines.begin(), lines.end())) found.push_back({file, line});
  return found;
}

template <class Facts>
std::vector<int> lines_of(const Facts& facts) {
  std::vector<int> lines;
  for (const auto& fact : facts) lines.push_back(fact.line);
  return lines;
}

std::vector<int> lines_with(const CppKernelFact& kernel, Step step) {
  std::vector<int> lines;
  for (const ElementAccess& access : kernel.accesses)
    if (access.step == step) lines.push_back(access.line);
  return lines;
}

bool contains(const std::vector<int>& lines, int line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

std::vector<std::string> pointers_without_restrict(const CppKernelFact& kernel) {
  std::vector<std::string> names;
  for (const model::CppParameter& parameter : kernel.params)
    if (parameter.pointer && !parameter.restricted) names.push_back(parameter.name);
  return names;
}

// Loops beside each other, at one depth, that load from one parameter: base -> lines of the loops.
std::map<std::string, std::set<int>> loops_that_read(const CppKernelFact& kernel) {
  std::map<std::string, std::map<int, std::set<int>>> by_depth;
  for (const ElementAccess& access : kernel.accesses)
    if (!access.store && access.loop_depth > 0 && access.step != Step::same)
      by_depth[access.base][access.loop_depth].insert(access.loop_line);
  std::map<std::string, std::set<int>> found;
  for (const auto& [base, depths] : by_depth)
    for (const auto& [depth, loops] : depths)
      if (loops.size() > 1) found[base] = loops;
  return found;
}

class CppFinder {
 public:
  CppFinder(const model::AuditedOp& op, const CppKernelFact& kernel, OpportunityList& found)
      : op_(op), kernel_(kernel), gpu_(op.language == "cuda"), found_(found) {}

  void find() {
    narrow_offsets();
    constants();
    if (gpu_)
      on_gpu();
    else
      on_cpu();
    aliases();
    doubles();
    divisions();
    repeated_reads();
  }

 private:
  void add(const std::string& title, const std::string& detail, const std::vector<int>& lines, const char* strategy,
           const char* risk) {
    if (!lines.empty()) found_.add(title, detail, places(kernel_.file, lines), strategy, risk);
  }

  void narrow_offsets() {
    add("offsets of " + kernel_.name + " are 32-bit",
        "a product of two 32-bit numbers wraps where it reaches 2^31, as it can in tensors of that many elements; "
        "widen one "
        "of them to std::int64_t first",
        kernel_.int32_offset_lines, "correctness", "low: 64-bit address arithmetic");
  }

  void constants() {
    if (kernel_.free_macros.empty()) return;
    std::string names;
    for (const std::string& macro : kernel_.free_macros) names += (names.empty() ? "" : ", ") + macro;
    add(kernel_.name + " is compiled for constants that can be swept",
        names + ": each value is a kernel of its own; a manifest names them as knobs", {kernel_.line},
        "parameter-sweep", "none");
  }

  void on_gpu() {
    add("neighbouring threads of " + kernel_.name + " access elements that lie apart",
        "a warp then touches a memory sector for each thread; let threadIdx.x count along the row, or stage a tile in "
        "shared memory",
        lines_with(kernel_, Step::strided), "access-width", "medium: another division of the work");
    if (kernel_.vector_types.empty())
      add(kernel_.name + " accesses one element at a time",
          "16 bytes for each thread (float4, or 8 halves) ask for the same data with a quarter of the instructions",
          lines_with(kernel_, Step::unit), "access-width", "medium: tails, and rows that are not aligned to 16 bytes");
    add("atomic accumulation in " + kernel_.name,
        "blocks that meet on the same addresses wait for each other, and the sum's order varies from run to run",
        lines_of(kernel_.atomics), "partial-sums", "low: one more buffer and a reduction");
    barriers_in_loops();
    bank_conflicts();
    if (kernel_.launch_bounds.empty())
      add("no __launch_bounds__ on " + kernel_.name,
          "the compiler then keeps registers for blocks of 1024 threads; the block size in use allows more, or a bound "
          "on "
          "blocks per SM fewer",
          {kernel_.line}, "register-pressure", "low: a launch with more threads fails");
    const bool hints = std::any_of(
        kernel_.intrinsics.begin(), kernel_.intrinsics.end(),
        [](const model::MathFact& call) { return call.op.rfind("__ld", 0) == 0 || call.op.rfind("__st", 0) == 0; });
    if (!hints)
      written_once(
          "data that is touched once can be loaded and stored evict-first (__ldcs, __stcs), which leaves "
          "the L2 to data that is used again");
  }

  void barriers_in_loops() {
    std::vector<int> lines;
    for (const model::LoopFact& loop : kernel_.loops)
      for (const int barrier : kernel_.barrier_lines)
        if (!kernel_.shared_arrays.empty() && barrier > loop.line && ends_after(loop, barrier))
          lines.push_back(barrier);
    add("barriers inside loops of " + kernel_.name,
        "every warp waits for the slowest in each turn; a reduction by warp shuffles needs one barrier, a pipeline of "
        "two "
        "tiles lets loads of the next overlap work on this one",
        lines, "prefetch", "medium: more shared memory or registers");
  }

  // The next loop at the same depth or above begins behind what this one holds.
  bool ends_after(const model::LoopFact& loop, int line) const {
    for (const model::LoopFact& next : kernel_.loops)
      if (next.line > loop.line && next.depth <= loop.depth && next.line <= line) return false;
    return line <= kernel_.end_line;
  }

  void bank_conflicts() {
    std::vector<int> lines;
    for (const model::CudaSharedArray& array : kernel_.shared_arrays) {
      const std::size_t second = array.extent.find("][");
      if (second != std::string::npos && array.extent.compare(second, 4, "][32") == 0 && array.extent.back() == ']' &&
          array.extent.size() == second + 5)
        lines.push_back(array.line);
    }
    add("columns of a shared array of " + kernel_.name + " lie in one bank",
        "rows of 32 words: threads that read a column take turns; a row of 33 spreads it over all banks", lines,
        "redundant-work", "low: some shared memory");
  }

  void on_cpu() {
    std::vector<int> chains;
    for (const model::ReductionFact& sum : kernel_.accumulations)
      if (!under_simd(sum.line)) chains.push_back(sum.line);
    add("one chain of additions in " + kernel_.name,
        "each waits for the one before, some 4 cycles, and compilers keep the order of floating-point operations, so "
        "the "
        "loop stays scalar; several accumulators, or #pragma omp simd reduction, fill the vector units",
        chains, "unrolling", "low: another order of rounding, which the numerics gate judges");
    add("the inner loop of " + kernel_.name + " strides through memory",
        "each turn touches another cache line and vectors can not be loaded; exchange the loops, or work on tiles",
        lines_with(kernel_, Step::strided), "access-width", "medium: another order of the work");
    add(kernel_.name + " calls the mathematical library for each element",
        "a call ends the vector loop; a polynomial of the precision that is needed runs in vectors",
        lines_of(kernel_.math_calls), "algorithm", "medium: other rounding, which the numerics gate judges");
    const bool streams =
        std::any_of(kernel_.intrinsics.begin(), kernel_.intrinsics.end(), [](const model::MathFact& call) {
          return call.op.find("stream") != std::string::npos || call.op.find("nontemporal") != std::string::npos;
        });
    if (!streams)
      written_once(
          "a plain store reads the line before it overwrites it; stores past the caches "
          "(__builtin_nontemporal_store) save that where the result is larger than the cache");
  }

  bool under_simd(int line) const {
    int innermost = 0;
    for (const model::LoopFact& loop : kernel_.loops)
      if (loop.line <= line && ends_after(loop, line)) innermost = std::max(innermost, loop.line);
    return contains(kernel_.simd_lines, innermost);
  }

  // Parameters that are stored to and never loaded from.
  void written_once(const std::string& detail) {
    std::map<std::string, std::vector<int>> stores;
    std::set<std::string> loaded;
    for (const ElementAccess& access : kernel_.accesses) {
      if (access.store)
        stores[access.base].push_back(access.line);
      else
        loaded.insert(access.base);
    }
    std::vector<int> lines;
    for (const auto& [base, of_base] : stores)
      if (loaded.count(base) == 0) lines.insert(lines.end(), of_base.begin(), of_base.end());
    add("results of " + kernel_.name + " are stored through the caches", detail, lines, "streaming-stores",
        "it loses where the next pass reads them at once: measure both ways");
  }

  void aliases() {
    const bool stores = std::any_of(kernel_.accesses.begin(), kernel_.accesses.end(),
                                    [](const ElementAccess& access) { return access.store; });
    const std::vector<std::string> names = pointers_without_restrict(kernel_);
    if (!stores || names.size() < 2) return;
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    add("pointers of " + kernel_.name + " may be the same memory",
        list +
            (gpu_
                 ? " are not __restrict__: loads can not move across stores, nor go through the read-only path"
                 : " are not __restrict__: a store may change what is loaded next, so loops are checked at run time or "
                   "stay scalar"),
        {kernel_.line}, "access-width", "none where they are not; wrong results where they are");
  }

  void doubles() {
    add("double precision among the floats of " + kernel_.name,
        gpu_ ? "a literal without f makes its expression double, which a GPU computes at 1/2 to 1/64 of the rate"
             : "a literal without f makes its expression double: conversions, and half as many elements in a vector",
        kernel_.double_lines, "redundant-work", "low: other rounding in the last digits");
  }

  void divisions() {
    add(kernel_.name + " divides by the same number in each turn of a loop",
        "a division takes several times as long as a product; take the reciprocal before the loop",
        kernel_.invariant_division_lines, "redundant-work", "low: one more rounding");
  }

  void repeated_reads() {
    for (const auto& [base, loops] : loops_that_read(kernel_))
      add(fmt::format("{} reads {} {} times", kernel_.name, base, loops.size()),
          gpu_ ? "a row that fits registers or shared memory needs one pass over memory; a longer one can keep its "
                 "first "
                 "tiles"
               : "a row that stays in the L1 or L2 cache costs its bytes once; a longer one wants its passes joined, "
                 "or its "
                 "sums taken in one",
          {loops.begin(), loops.end()}, "reuse",
          gpu_ ? "medium: registers or shared memory" : "low: larger working set");
  }

  const model::AuditedOp& op_;
  const CppKernelFact& kernel_;
  bool gpu_;
  OpportunityList& found_;
};

void find_in_launches(const model::AuditedOp& op, OpportunityList& found) {
  for (const model::CudaLaunchFact& launch : op.cuda_launches) {
    const bool literal = !launch.block.empty() && launch.block.find_first_not_of("0123456789") == std::string::npos;
    if (literal)
      found.add("the block size of " + launch.kernel + " is a literal",
                launch.block + " threads whatever the row length: a wide row wants more, a narrow one fewer",
                {{launch.file, launch.line}}, "parameter-sweep", "none");
    const bool by_units = launch.grid.find("multiProcessorCount") != std::string::npos ||
                          launch.grid.find("sm_count") != std::string::npos ||
                          launch.grid.find("num_sms") != std::string::npos;
    if (by_units && launch.grid.find('*') == std::string::npos)
      found.add("one block on each multiprocessor in " + launch.kernel,
                "grid " + launch.grid + " leaves no second block to run while one waits for memory",
                {{launch.file, launch.line}}, "grid-sizing", "low: partial sums grow with the number of blocks");
  }
}

}  // namespace

std::vector<model::Opportunity> cpp_opportunities(const model::AuditedOp& op) {
  OpportunityList found;
  for (const CppKernelFact& kernel : op.cpp_kernels) CppFinder(op, kernel, found).find();
  find_in_launches(op, found);
  return found.take();
}

}  // namespace hone::diagnose
