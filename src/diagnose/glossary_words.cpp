// Limiters, verdicts and the other words of documents.
#include "diagnose/glossary_tables.hpp"

namespace hone::diagnose {

namespace {

constexpr const char* kArchitecture = "docs/architecture.md";
constexpr const char* kManifestPage = "docs/manifest.md";

}  // namespace

const std::vector<LimiterText>& limiter_texts() {
  static const std::vector<LimiterText> texts = {
      {"grid", "Fewer blocks are launched than the SMs can hold, so multiprocessors, or room on them, stay empty.",
       "The launch is less than one wave: grid size over what all SMs hold at once.", "", kBestPractices},
      {"registers", "The registers of a thread bound the blocks that an SM holds.",
       "Theoretical occupancy is under 50 % and the block limit by registers is the tightest.", "", kBestPractices},
      {"shared memory", "The shared memory of a block bounds the blocks that an SM holds.",
       "Theoretical occupancy is under 50 % and the block limit by shared memory is the tightest.", "", kBestPractices},
      {"block size", "The number of threads of a block does not divide what an SM holds, or blocks are too small.",
       "Theoretical occupancy is under 50 % and the block limit by warps is the tightest.", "", kBestPractices},
      {"blocks per SM", "An SM holds only so many blocks, however small they are.",
       "Theoretical occupancy is under 50 % and the limit of resident blocks is the tightest.", "Launch larger blocks.",
       kProgrammingGuide},
      {"barriers", "The barriers of a block bound the blocks that an SM holds.",
       "Theoretical occupancy is under 50 % and the block limit by barriers is the tightest.",
       "Use fewer named barriers.", kProfilingGuide},
      {"spills", "Values that do not fit the registers go to local memory and come back.",
       "The capture counts requests to local memory for spilling, or the compiler reports bytes of spills.", "",
       kBestPractices},
      {"tail wave", "The last wave of blocks fills only a part of the SMs, and the others wait for it.",
       "An even last wave would save 10 % of the time or more, by the number of waves.", "", kProfilingGuide},
      {"short launch", "Most of the time is the fixed cost of a launch: ramp-up and tail.",
       "The launch takes under 5 us, or only a few times what an empty launch takes here.", "", kDiagnosis},
      {"memory latency", "Single accesses are waited for: too few bytes are in flight to fill the bandwidth.",
       "Without its arithmetic the pass takes as long, at less than half of the measured bandwidth.", "", kDiagnosis},
      {"no overlap", "Memory and arithmetic take turns instead of running at the same time.",
       "Memory alone and arithmetic alone, measured by the two ablations, add up to the whole time.", "", kDiagnosis},
      {"dependency stalls",
       "Each instruction waits for the result of the one before, and no other warp or chain fills the gap.",
       "A stall reason makes up 30 % of the cycles between two instructions, or nothing else explains idle units.", "",
       kProfilingGuide},
      {"bandwidth", "The bandwidth of memory, or of the last-level cache where the data fit it.",
       "The pass is memory-bound by its share of the measured ceiling or by ablation.",
       "Move fewer bytes, or move them nearer to the ceiling.", kRooflinePaper},
      {"DRAM bandwidth", "The bandwidth of the device's memory.",
       "DRAM reaches the share at which a unit counts as busy, of the measured copy ceiling where it is known.",
       "Move fewer bytes; within 3 % of the ceiling nothing else helps.", kProfilingGuide},
      {"L2 bandwidth", "The bandwidth of the L2 cache.",
       "L2 throughput is at 80 % of its peak or more, and DRAM is not busy.",
       "Keep data in registers or shared memory between its uses; make accesses wider.", kProfilingGuide},
      {"L1 bandwidth", "The bandwidth of the L1 cache and of shared memory.",
       "L1/TEX throughput is busy, and neither DRAM nor L2 is.",
       "Make accesses coalesced and wider; avoid bank conflicts.", kProfilingGuide},
      {"memory bandwidth", "A level of memory that the capture does not name is the busiest.",
       "Memory throughput is busy, and neither DRAM, L2 nor L1 alone reaches its share.",
       "Capture the section MemoryWorkloadAnalysis, then judge again.", kProfilingGuide},
      {"arithmetic", "The arithmetic units.",
       "The pass is compute-bound by its share of the measured FMA rate or by ablation.",
       "Fewer or cheaper operations, or matrix units where they fit.", kRooflinePaper},
      {"SM throughput", "One of the SMs' pipes, or the issue of instructions, is busy for most of the time.",
       "SM throughput is the busier unit of the capture. Which part of the SMs it is, only a stall reason tells.",
       "Fewer or cheaper instructions for the same result.", kProfilingGuide},
      {"both units", "Memory and arithmetic together.", "The class is balanced.",
       "Take work off both: relieving one alone gains at most what separates them.", kDiagnosis},
      {"host", "The code of the caller, which launches slower than the device works.",
       "The device is idle for half of the caller's time or more.", "Fewer launches: join passes, or capture a graph.",
       kBestPractices},
  };
  return texts;
}

const std::vector<WordText>& verdict_texts() {
  static const std::vector<WordText> texts = {
      {"faster", "The candidate takes less time than the baseline.",
       "The 95 % interval of the ratio lies under 1, Wilcoxon's signed-rank test confirms it, and the effect is larger "
       "than the "
       "session's noise and the noise floor of the cell.",
       "", kMeasuring},
      {"slower", "The candidate takes more time than the baseline.", "As for faster, with the interval over 1.",
       "Keep the baseline.", kMeasuring},
      {"same", "No difference that matters.", "The interval lies inside 1 +- 1 %.",
       "Keep the baseline: a tie goes to it.", kMeasuring},
      {"unresolved", "The measurement can not tell.",
       "The interval includes 1 or more than it allows, too many blocks were disturbed, or the budget was too small; "
       "the reason "
       "stands beside it. A guardrail is unresolved where its bound lies inside the interval.",
       "Measure on a quieter machine, or with a larger budget.", kMeasuring},
  };
  return texts;
}

const std::vector<WordText>& status_texts() {
  static const std::vector<WordText> texts = {
      {"accepted", "The variant is better than its parent, and every guardrail holds.",
       "The combined ratio over all cells is under 1 with its whole interval, and no guardrail fails.",
       "The next variants build on it.", kMeasuring},
      {"rejected", "The variant is not better, or a guardrail fails.",
       "No gain is shown over all cells, or one of the guardrails' intervals lies beyond its bound. A tie goes to the "
       "incumbent.",
       "Read its notes for what it taught.", kMeasuring},
      {"mixed", "Faster in some cells, slower in others.",
       "At least one cell is faster and one slower, or a guardrail of speed fails.",
       "hone tries the combination of the parts that won.", kMeasuring},
      {"failed-to-compile", "The text of the variant does not compile.", "The compiler says so.",
       "The notes hold its first message.", kArchitecture},
      {"failed-gate", "The variant computes something else, crashes, hangs, or writes to memory that is not its own.",
       "The numerics gate: outputs against double precision over odd shapes, between guard bands, twice.",
       "Its time means nothing; correct it first.", kMeasuring},
      {"same-binary", "The compiler makes the machine code of its parent of it.",
       "The hashes of the machine code are equal.", "Nothing is timed; the knob or the rewrite is dead here.",
       kArchitecture},
      {"over-floor", "The variant is faster than the device can move its bytes.",
       "A fifth of its runs lie below the physical bound, which the highest measured rates give for the minimum "
       "traffic.",
       "Work is missing, or the ceilings are wrong.", kMeasuring},
      {"pass", "A guardrail holds.", "The whole interval is within its bound.", "", kMeasuring},
      {"fail", "A guardrail does not hold.", "The whole interval is beyond its bound.", "", kMeasuring},
      {"live", "The knob changes the machine code, or what is launched.", "Two of its values give different hashes.",
       "Sweep it.", kArchitecture},
      {"dead", "The knob changes nothing.", "All of its values give the same machine code and the same launch.",
       "Leave it out of every sweep.", kArchitecture},
      {"unknown", "Whether the knob changes anything is not known.", "It was not compiled here.", "", kArchitecture},
      {"available", "Hardware counters were captured.", "Nsight Compute, or perf events on a processor, gave them.", "",
       kDiagnosis},
      {"unavailable", "There are no hardware counters.", "The reason and the remedy stand beside it.",
       "Without them ablations and calculated occupancy decide.", kDiagnosis},
  };
  return texts;
}

const std::vector<WordText>& outcome_texts() {
  static const std::vector<WordText> texts = {
      {"applied", "The winner is in production.",
       "It passed every gate and was measured to be faster than the original once more, in one session with it.",
       "report.md has the commands that undo it.", kMeasuring},
      {"already applied", "The winner was installed by an earlier run.", "The installation's record says so.", "",
       kArchitecture},
      {"reverted", "Production is as it was: the winner was taken back.",
       "A gate failed, the gain was not confirmed, or it was not accepted at the checkpoint.",
       "The reason stands beside it.", kMeasuring},
      {"nothing to gain", "No variant was better than the kernel as it is.", "The comparison names v0 as the winner.",
       "The report says what is left.", kDiagnosis},
      {"at-ceiling", "Every pass is within 3 % of its measured ceiling.",
       "The minimum traffic and operations over the time.",
       "Only fewer bytes, by fusing with neighbours, can bring more.", kDiagnosis},
      {"nothing-found", "Nothing that was tried is better, although something is left below its ceiling.",
       "All variants of the plan were rejected.", "Write a variant yourself, or name a proposer.", kDiagnosis},
      {"inconclusive", "The measurement can not be trusted, or can not resolve the effect here.",
       "Disturbed blocks, a wide interval, or too few samples; the reason stands beside it. Exit status 4.",
       "Measure on a quieter machine.", kMeasuring},
      {"not applied", "Nothing was changed.", "The report gives the reason.", "", kMeasuring},
  };
  return texts;
}

const std::vector<WordText>& experiment_texts() {
  static const std::vector<WordText> texts = {
      {"no-compute", "The pass with its loads and stores but without its arithmetic.",
       "Its time over that of the whole pass is the share that memory alone takes.",
       "Near 1: memory decides. Well below 1: the arithmetic costs what is missing.", kDiagnosis},
      {"no-memory", "The pass with its arithmetic but without its memory traffic.",
       "Its time over that of the whole pass is the share that arithmetic alone takes.", "Near 1: arithmetic decides.",
       kDiagnosis},
      {"threads", "The pass on one worker instead of all.",
       "Shared memory bandwidth does not scale with workers; arithmetic does.", "", kDiagnosis},
      {"more-warps", "The pass with more warps in each block.", "5 % less time or more speaks for latency.",
       "Sweep the warps.", kDiagnosis},
      {"fewer-warps", "The pass with fewer warps in each block.", "The same time speaks against latency.", "",
       kDiagnosis},
      {"size-scaling", "The pass at the next smaller size.",
       "It shows how much of the time does not shrink with the work: 30 % or more are fixed costs.", "", kDiagnosis},
  };
  return texts;
}

const std::vector<WordText>& other_texts() {
  static const std::vector<WordText> texts = {
      {"low", "Confidence in the class: routes disagree, or little was measured.",
       "Ceiling shares, ablations and counters are compared.", "Read the evidence before acting on it.", kDiagnosis},
      {"medium", "Confidence in the class: one route, or a unit that hides the other only in part.",
       "Ceiling shares, ablations and counters are compared.", "", kDiagnosis},
      {"high", "Confidence in the class: the routes agree.", "Ceiling shares, ablations and counters are compared.", "",
       kDiagnosis},
      {"measured", "Source of a figure: timed or run here.", "", "", kDiagnosis},
      {"counters", "Source of a figure: counted by the hardware.", "", "", kDiagnosis},
      {"compiled", "Source of a figure: read from machine code.", "", "", kDiagnosis},
      {"source-code", "Source of a figure: read from the source text.", "", "", kDiagnosis},
      {"recorded", "Source of a figure: measured elsewhere, such as in a checkout's own CSV.", "", "", kDiagnosis},
      {"settings function", "How a setting is set: a function of the size chooses it.", "", "", "docs/audit.md"},
      {"hard-coded", "How a setting is set: a literal in the source.", "", "A candidate for a sweep.", "docs/audit.md"},
      {"autotune", "How a setting is set: a Triton autotune decorator tries a list.", "", "", "docs/audit.md"},
      {"default", "How a setting is set: the compiler's or the language's default.", "", "A candidate for a sweep.",
       "docs/audit.md"},
      {"passed by caller", "How a setting is set: an argument of the host function, or of the compiler.", "", "",
       "docs/audit.md"},
      {"settings file", "How a setting is set: finalize installed it.", "", "", kManifestPage},
      {"automatic", "A step of the plan that hone carries out by itself.",
       "A knob or a rewrite stands for the strategy.", "", kArchitecture},
      {"proposer", "A step of the plan, or a variant, that a program given with --proposer writes.", "", "",
       kArchitecture},
      {"advice", "A step of the plan that a person has to carry out: hone has no knob and no rewrite for it.", "", "",
       kArchitecture},
      {"v0", "The kernel as it was found.", "The snapshot of the workspace.", "", kArchitecture},
      {"wave", "The blocks that all SMs hold at once.",
       "Blocks for each SM by registers, shared memory and warps, times SMs.", "", kProfilingGuide},
  };
  return texts;
}

const std::vector<WordText>& origins_of_variants() {
  static const std::vector<WordText> texts = {
      {"baseline", "The kernel as it was found: v0.", "It is what all variants are compared with.", "", kArchitecture},
      {"thread-count", "The threads that a kernel for processors works with.", "A knob of built-in kernels.",
       "Fewer than the cores can be faster where memory is the limit.", kArchitecture},
      {"prefetch-distance", "How far ahead a kernel for processors prefetches.", "A knob of built-in kernels.",
       "Hardware prefetch already covers sequential streams.", kArchitecture},
      {"combination", "The parts of a mixed variant that won, the rest from the best variant.",
       "hone makes it where a variant is faster in some cells and slower in others.", "", kArchitecture},
      {"proposer", "A variant whose source a program wrote.", "--proposer names the program.", "", kArchitecture},
  };
  return texts;
}

std::string stall_advice(const std::string& reason) {
  struct Advice {
    const char *reason, *text;
  };
  static constexpr Advice kAdvice[] = {
      {"long scoreboard",
       "Issue loads earlier, keep more of them in flight (wider accesses, more warps), or read less."},
      {"short scoreboard", "Fewer special functions and shared-memory round trips; avoid bank conflicts."},
      {"barrier", "Fewer barriers, or smaller blocks: warp shuffles reduce without them."},
      {"wait", "Independent work between dependent instructions: unroll, or use several accumulators."},
      {"not selected", "Nothing: there are enough warps; fewer would do."},
      {"math pipe throttle", "The arithmetic units are the limit: fewer or cheaper operations."},
      {"mio throttle", "Fewer, wider shared-memory accesses and fewer special functions in a row."},
      {"lg throttle", "Fewer, wider global accesses."},
      {"tex throttle", "Fewer, wider texture or surface accesses."},
      {"drain", "Spread the stores over the kernel instead of issuing all at its end."},
      {"no instruction", "Smaller loop bodies: less unrolling, so that code fits the instruction cache."},
      {"imc miss", "Uniform accesses to constants, or fewer of them."},
      {"branch resolving", "Fewer branches in the inner loop."},
      {"membar", "Fewer fences, or fences of a smaller scope."},
      {"gmma", "Keep more matrix products in flight."},
  };
  for (const Advice& each : kAdvice)
    if (reason == each.reason) return each.text;
  return "";
}

}  // namespace hone::diagnose
