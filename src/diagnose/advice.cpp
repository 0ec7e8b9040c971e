#include "diagnose/advice.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include "base/text.hpp"

namespace hone::diagnose {

namespace {

using model::BottleneckClass;

constexpr std::array kStrategies{
    Strategy{
        "parameter-sweep", "Parameter sweep",
        "every live knob is tried over its valid values, one build for each distinct machine code, winners settled in "
        "paired finals",
        "every live knob is tried over its valid values, one build for each distinct machine code, winners settled in "
        "paired finals",
        "a winner at one size can lose at another: settings are chosen by size and checked at sizes that were held out",
        ""},
    Strategy{"access-width", "Wider loads and stores",
             "full vector registers for each load and store put more bytes in flight for each instruction",
             "16-byte loads and stores for each thread put more bytes in flight for each instruction and each warp",
             "tails and rows that are no multiple of the width need a second path; wider tiles cost registers",
             "width vector tile block_size"},
    Strategy{
        "streaming-stores", "Cache policy of loads and stores",
        "stores that bypass the caches save the read of a line before it is overwritten and keep the inputs cached",
        "evict-first hints on data that is used once leave the L2 to data that is used again",
        "results the next pass reads at once then come from memory: hints have lost where they were expected to win, "
        "so both are measured",
        "stream cache_policy evict nontemporal cache_modifier"},
    Strategy{"less-traffic", "Fewer bytes",
             "every temporary that is not written and read back, and every value kept in a narrower type, comes off "
             "the traffic",
             "every temporary that is not written and read back, and every value kept in a narrower type, comes off "
             "the traffic",
             "narrower or recomputed values change rounding: the numerics gate decides",
             "fuse save recompute in_place inplace dtype"},
    Strategy{"reuse", "Data reuse (locality)",
             "work ordered so that a row or a tile is used again before it leaves the cache takes repeated reads off "
             "the memory",
             "a tile kept in registers or shared memory between its uses takes repeated reads off the L2 and DRAM",
             "larger working sets push registers to the stack, or occupancy down",
             "block chunk tile cache_rows single_pass"},
    Strategy{"rows-per-program", "More rows for each program",
             "weights and per-program set-up are loaded once for several rows",
             "weights and per-program set-up are loaded once for several rows",
             "fewer programs: too few leave units idle at small sizes", "row rows_per"},
    Strategy{"prefetch", "Prefetch and deeper pipelines",
             "loads issued some lines ahead overlap the wait for memory with work on the data at hand",
             "loads of the next tile issued before the current one is used (asynchronous copies, several stages) hide "
             "memory latency",
             "hardware prefetch already covers sequential streams; stages do nothing to a kernel without a loop",
             "prefetch stage pipeline"},
    Strategy{"algorithm", "Another algorithm",
             "fewer operations for the same result: one pass instead of two, a cheaper form of the same function",
             "fewer operations for the same result: one pass instead of two, hardware approximations, matrix units "
             "where they fit",
             "other rounding: the numerics gate decides", "algorithm approx online exp tanh"},
    Strategy{
        "redundant-work", "Work done twice",
        "conversions, masks and subexpressions hoisted out of the inner loop, results kept rather than computed again",
        "conversions, masks and address arithmetic hoisted out of the inner loop, masked lanes dropped",
        "kept values cost registers or memory", "mask convert recompute cast hoist"},
    Strategy{"register-pressure", "Fewer registers a thread",
             "a working set that fits the vector registers spares stores to the stack and loads from it",
             "fewer registers a thread let more programs share an SM, and end spills",
             "values recomputed or fetched again cost instructions and traffic",
             "warps register maxnreg accumul block_size"},
    Strategy{"unrolling", "Unrolling and independent chains",
             "several independent accumulators keep the arithmetic units busy while each waits for its own result",
             "independent work in each thread covers the latency of the instruction before without more warps",
             "larger code and more registers", "unroll accumul ilp warps"},
    Strategy{"grid-sizing", "Number of programs",
             "enough programs to keep every core busy to the end, few enough that their start costs nothing",
             "more programs on every SM keep more loads in flight: while one waits, another works",
             "partial results for each program cost traffic and a second reduction",
             "program grid threads sm persistent"},
    Strategy{"work-per-program", "Work of each program",
             "larger programs spread the fixed cost of starting one over more work",
             "fewer, larger programs spread set-up over more work; smaller ones even out the last wave",
             "fewer programs balance worse at small sizes", "block row chunk per_program"},
    Strategy{
        "partial-sums", "Partial sums in place of atomics",
        "each thread sums into memory of its own, and a short second pass adds the sums up",
        "each program writes its own partial sum, and a second reduction adds them up: atomics on one address run one "
        "after another, in an order that changes from run to run",
        "one more buffer and one more pass over it", "partial atomic"},
    Strategy{"correctness", "Hold what is right",
             "an offset that overflows, or an order of accesses that a change must keep, comes before speed",
             "an offset that overflows, or an order of accesses that a change must keep, comes before speed",
             "64-bit address arithmetic costs instructions", ""},
    Strategy{"launch-count", "Fewer launches", "passes joined into one launch pay the cost of waking the threads once",
             "kernels joined, or captured in a graph, pay the launch once; the host has less to do for each call",
             "joined passes need more registers or a barrier over the grid", "fuse launch graph"},
};

constexpr std::array kMemory{"access-width", "streaming-stores", "less-traffic",
                             "reuse",        "rows-per-program", "prefetch"};
constexpr std::array kCompute{"algorithm", "redundant-work", "register-pressure", "unrolling"};
constexpr std::array kLatency{"grid-sizing", "work-per-program", "prefetch",
                              "unrolling",   "rows-per-program", "access-width"};
constexpr std::array kHost{"launch-count", "work-per-program", "grid-sizing"};
// Balanced: the unit that gives way first is unknown, so the two lists alternate.
constexpr std::array kBalanced{"redundant-work", "access-width", "algorithm",         "streaming-stores",
                               "unrolling",      "less-traffic", "register-pressure", "rows-per-program",
                               "reuse",          "prefetch"};

struct LimiterStrategies {
  const char* limiter;
  std::array<const char*, 2> first;  // moved to the front, in this order; nullptr: none
};
constexpr std::array kByLimiter{
    LimiterStrategies{"grid", {"grid-sizing", nullptr}},
    LimiterStrategies{"registers", {"register-pressure", nullptr}},
    LimiterStrategies{"spills", {"register-pressure", nullptr}},
    LimiterStrategies{"shared memory", {"reuse", "work-per-program"}},
    LimiterStrategies{"block size", {"work-per-program", nullptr}},
    LimiterStrategies{"tail wave", {"work-per-program", "grid-sizing"}},
    LimiterStrategies{"short launch", {"launch-count", "work-per-program"}},
    LimiterStrategies{"memory latency", {"prefetch", "access-width"}},
    LimiterStrategies{"no overlap", {"prefetch", "unrolling"}},
    LimiterStrategies{"dependency stalls", {"unrolling", "prefetch"}},
};

constexpr const char* kAmpereGuide = "NVIDIA Ampere GPU Architecture Tuning Guide";
constexpr const char* kAdaGuide = "NVIDIA Ada GPU Architecture Tuning Guide";
constexpr const char* kHopperGuide = "NVIDIA Hopper Tuning Guide";
constexpr const char* kBlackwellGuide = "NVIDIA Blackwell Tuning Guide";
constexpr const char* kH200 = "measured on an H200 (Triton 3.6, Liger-Kernel 0.8.2)";
constexpr const char* kIntel = "Intel 64 and IA-32 Architectures Optimization Reference Manual";

constexpr std::array kAdvice{
    Advice{Family::ampere, "prefetch",
           "asynchronous copies (cp.async) bring a tile to shared memory without passing registers; in Triton "
           "num_stages turns them on in loops only",
           kAmpereGuide},
    Advice{Family::ampere, "grid-sizing",
           "compute capability 8.0 holds 64 warps an SM, 8.6 holds 48: the same grid fills them differently",
           kAmpereGuide},
    Advice{Family::ampere, "streaming-stores", "8.0 lets a window of its L2 be set aside for data that is used again",
           kAmpereGuide},
    Advice{Family::ada, "reuse",
           "the L2 is several times that of 8.6: a tensor of some tens of MB can stay there between passes", kAdaGuide},
    Advice{Family::ada, "grid-sizing",
           "48 warps and 64 K registers an SM: 40 registers a thread is the most at full occupancy", kAdaGuide},
    Advice{Family::hopper, "prefetch",
           "the tensor memory accelerator copies whole tiles with one instruction of one thread; it pays in loops over "
           "tiles, not in a kernel that loads its row once",
           kHopperGuide},
    Advice{Family::hopper, "reuse",
           "thread block clusters reduce across SMs through distributed shared memory, without a round trip to the L2",
           kHopperGuide},
    Advice{Family::hopper, "grid-sizing",
           "rms_norm backward at 16384 x 4096: one program of 8 warps an SM 0.182 ms, three of 4 warps 0.111 ms",
           kH200},
    Advice{Family::hopper, "parameter-sweep",
           "num_stages 1, 2 and 4 compile to the same machine code in row kernels without a loop: 60 configurations "
           "are 4 binaries",
           kH200},
    Advice{Family::blackwell, "grid-sizing", "compute capability 10.0 holds 64 warps an SM, 12.0 holds 48",
           kBlackwellGuide},
    Advice{Family::blackwell, "reuse", "thread block clusters and distributed shared memory as on Hopper",
           kBlackwellGuide},
    Advice{
        Family::x86, "streaming-stores",
        "a non-temporal store of a whole line skips the read for ownership; it loses when the line is read again soon",
        kIntel},
    Advice{
        Family::x86, "prefetch",
        "the hardware prefetchers follow sequential streams within a page; software prefetch pays for irregular access",
        kIntel},
    Advice{Family::x86, "unrolling",
           "a fused multiply-add takes about 4 cycles and two can start in each: about 8 independent chains fill the "
           "units",
           kIntel},
    Advice{Family::x86, "access-width",
           "a load that crosses a 64-byte line costs two accesses: full-width loads want aligned rows", kIntel},
};

Family family_named(const std::string& name) {
  const std::string text = base::lower(name);
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  if (has("ampere")) return Family::ampere;
  if (has("ada")) return Family::ada;
  if (has("hopper")) return Family::hopper;
  if (has("blackwell")) return Family::blackwell;
  if (has("x86") || has("amd64")) return Family::x86;
  if (has("aarch64") || has("arm")) return Family::arm;
  return Family::other_cpu;
}

Family family_of_capability(const std::string& capability) {
  if (capability == "8.9") return Family::ada;
  if (capability.rfind("8.", 0) == 0) return Family::ampere;
  if (capability.rfind("9.", 0) == 0) return Family::hopper;
  if (capability.rfind("10.", 0) == 0 || capability.rfind("11.", 0) == 0 || capability.rfind("12.", 0) == 0)
    return Family::blackwell;
  return Family::other_gpu;
}

template <std::size_t N>
std::vector<std::string> words(const std::array<const char*, N>& list) {
  return {list.begin(), list.end()};
}

}  // namespace

Family family_of(const model::DeviceInfo& device) {
  if (device.kind != "cpu" && device.target_gpu != "auto" && !device.target_gpu.empty()) {
    const Family target = family_named(device.target_gpu);
    if (target != Family::other_cpu) return target;
  }
  if (!device.compute_capability.empty()) return family_of_capability(device.compute_capability);
  const Family named = family_named(device.architecture);
  if (named == Family::other_cpu && (device.kind == "cuda" || device.kind == "none")) return Family::other_gpu;
  return named;
}

bool is_gpu(Family family) { return family != Family::x86 && family != Family::arm && family != Family::other_cpu; }

const char* name_of(Family family) {
  switch (family) {
    case Family::x86: return "x86";
    case Family::arm: return "Arm";
    case Family::ampere: return "Ampere";
    case Family::ada: return "Ada";
    case Family::hopper: return "Hopper";
    case Family::blackwell: return "Blackwell";
    case Family::other_gpu: return "this GPU";
    case Family::other_cpu: return "this processor";
  }
  return "";
}

const std::vector<Strategy>& all_strategies() {
  static const std::vector<Strategy> all(kStrategies.begin(), kStrategies.end());
  return all;
}

const Strategy* find_strategy(const std::string& word) {
  for (const Strategy& each : kStrategies)
    if (word == each.word) return &each;
  return nullptr;
}

std::vector<std::string> strategies_for(BottleneckClass cls, const std::vector<std::string>& limiters, bool gpu) {
  std::vector<std::string> order;
  switch (cls) {
    case BottleneckClass::memory_bound: order = words(kMemory); break;
    case BottleneckClass::compute_bound: order = words(kCompute); break;
    case BottleneckClass::balanced: order = words(kBalanced); break;
    case BottleneckClass::latency_bound: order = words(kLatency); break;
    case BottleneckClass::host_bound: order = words(kHost); break;
    case BottleneckClass::undecided: return {};
  }
  std::vector<std::string> front;
  const auto bring_forward = [&](const char* word) {
    if (word == nullptr || std::find(front.begin(), front.end(), word) != front.end()) return;
    front.emplace_back(word);
    order.erase(std::remove(order.begin(), order.end(), word), order.end());
  };
  for (const std::string& limiter : limiters)
    for (const LimiterStrategies& each : kByLimiter)
      if (limiter == each.limiter) std::for_each(each.first.begin(), each.first.end(), bring_forward);
  // Registers hold a GPU's occupancy; a processor's threads are as many as its cores.
  if (!gpu && cls == BottleneckClass::latency_bound)
    order.erase(std::remove(order.begin(), order.end(), "register-pressure"), order.end());
  order.insert(order.begin(), front.begin(), front.end());
  return order;
}

bool lifts(const std::string& strategy, const std::string& limiter) {
  for (const LimiterStrategies& each : kByLimiter)
    for (const char* word : each.first)
      if (limiter == each.limiter && word != nullptr && strategy == word) return true;
  return false;
}

std::vector<const Advice*> advice_for(Family family, const std::string& strategy) {
  std::vector<const Advice*> found;
  for (const Advice& each : kAdvice)
    if (each.family == family && strategy == each.strategy) found.push_back(&each);
  return found;
}

}  // namespace hone::diagnose
