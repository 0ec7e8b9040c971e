// Metrics by the names that documents give them. Nsight Compute's own names for them stand in src/counters.
#include "diagnose/glossary_tables.hpp"

namespace hone::diagnose {

namespace {

constexpr const char* kMeasuring = "docs/measuring.md";
constexpr const char* kDiagnosis = "docs/diagnosis.md";

}  // namespace

const std::vector<WordText>& metric_texts() {
  static const std::vector<WordText> texts = {
      // of a capture
      {"occupancy_pct", "Warps in flight on an SM, in percent of the most it holds, averaged over the launch.",
       "Counted by Nsight Compute (Achieved Occupancy); without a capture the attainable one is calculated.",
       "Under 30 % a kernel that waits gains from more blocks or fewer registers; above, more occupancy alone rarely "
       "helps.",
       kProfilingGuide},
      {"theoretical_occupancy_pct", "The most warps that registers, shared memory and block size let an SM hold.",
       "Calculated from the launch.", "Where it is under 50 %, the limiter names what bounds it.", kProfilingGuide},
      {"occupancy_limiter", "What bounds theoretical occupancy: registers, shared memory, block size or the grid.",
       "The tightest of the block limits.", "", kProfilingGuide},
      {"compute_throughput_pct", "How busy the SMs' pipes are, in percent of their peak: the busiest of them.",
       "Counted by Nsight Compute (Compute (SM) Throughput).", "From 60 % on the kernel is compute-bound or balanced.",
       kProfilingGuide},
      {"memory_throughput_pct",
       "How busy the memory system is, in percent of its peak: the busiest of DRAM, L2, L1 and the paths "
       "between.",
       "Counted by Nsight Compute (Memory Throughput).", "From 60 % on the kernel is memory-bound or balanced.",
       kProfilingGuide},
      {"dram_throughput_pct", "Traffic of the device's memory, in percent of its nominal peak.",
       "Counted by Nsight Compute (DRAM Throughput).",
       "Hold it against the measured copy ceiling: nominal peaks are never reached.", kProfilingGuide},
      {"l1_hit_rate_pct", "Sectors that the L1 cache had, of those asked for.", "Counted by Nsight Compute.",
       "Low is no fault in a kernel that reads everything once.", kProfilingGuide},
      {"l2_hit_rate_pct", "Sectors that the L2 cache had, of those asked for.", "Counted by Nsight Compute.",
       "Low is no fault in a kernel that reads everything once.", kProfilingGuide},
      {"l1_throughput_pct", "Traffic of the L1 cache and of shared memory, in percent of its peak.",
       "Counted by Nsight Compute.", "", kProfilingGuide},
      {"l2_throughput_pct", "Traffic of the L2 cache, in percent of its peak.",
       "Counted by Nsight Compute; the largest of many sub-units, so it stands high early.", "", kProfilingGuide},
      {"registers_per_thread", "Registers of a thread, as compiled.", "Read from the launch or from the machine code.",
       "An SM's registers over registers for each thread bounds its threads.", kBestPractices},
      {"spills", "Requests to local memory for values that did not fit the registers.",
       "Counted by Nsight Compute, or bytes as compiled.", "Keep fewer values alive, or allow more registers.",
       kBestPractices},
      {"duration_us", "Time of one launch under the profiler.",
       "Counted by Nsight Compute; clocks and caches differ from those of a timed run.",
       "Compare timed runs, never this.", kProfilingGuide},
      {"dram_bytes", "Bytes that a launch moved to and from the device's memory.",
       "Counted by Nsight Compute; bytes still in the L2 at the end are not among them.",
       "Hold it against the least traffic.", kProfilingGuide},
      {"sm_clock_ghz", "Clock of the SMs while the launch ran.", "Counted by Nsight Compute.", "", kProfilingGuide},
      {"waves_per_sm", "Blocks of the launch over the blocks that all SMs hold at once.", "Calculated from the launch.",
       "Under 1 the device is not full; a fraction above is a tail wave.", kProfilingGuide},
      {"grid_size", "Blocks of the launch.", "Read from the launch.", "", kProgrammingGuide},
      {"block_size", "Threads of a block.", "Read from the launch.", "", kProgrammingGuide},
      {"sm_count", "Multiprocessors of the device; cores that hone may use on a processor.", "Read from the device.",
       "", kProgrammingGuide},
      {"blocks_per_sm_limit", "Blocks that fit on one SM at once.", "The tightest of the block limits.", "",
       kProfilingGuide},
      {"shared_bytes_per_block", "Shared memory of a block: static, dynamic and the driver's.", "Read from the launch.",
       "", kProfilingGuide},
      {"stalls", "Why warps did not issue: shares of the cycles between two instructions of a warp.",
       "Sampled by Nsight Compute; the largest three are shown.", "'hone explain' knows each reason.", kProfilingGuide},
      // of a measurement
      {"device_ms", "Time on the device of one pass, caches cold.",
       "Timed by the device; median over undisturbed samples.", "", kMeasuring},
      {"wall_ms", "Time of one pass for its caller, launch included.", "Timed by the host in the same runs.",
       "Well above device_ms: the host is the limit.", kMeasuring},
      {"speed", "Time of one pass in ms.", "Median, 20 % and 80 % quantiles over undisturbed samples.", "", kMeasuring},
      {"wall", "Time of one pass in ms for its caller.", "Timed by the host in the same runs as speed.", "",
       kMeasuring},
      {"memory", "Peak of the memory that a pass takes for itself, in MB.", "Counted by the device's allocator.", "",
       kMeasuring},
      {"ratio", "Time of the candidate over time of the baseline: under 1 is faster.",
       "Weighted trimmed mean over blocks that alternate both in one session, with a 95 % bootstrap interval.", "",
       kMeasuring},
      {"share_of_ceiling",
       "Time that the measured ceilings give for the least traffic and operations, over the time measured.",
       "Ceilings of this device, measured here.", "Near 1 nothing is left but fewer bytes.", kMeasuring},
      {"headroom", "What lies between the measured time and the bound that the ceilings set for it.",
       "Least bytes and counted operations over the measured ceilings (roofline).", "", kRooflinePaper},
      {"noise floor", "The smallest effect that could have been seen in a cell.",
       "The protocol run on the kernel against a copy of its own machine code.", "A change below it is not shown.",
       kMeasuring},
      {"physics floor", "A time that no correct run can be under.",
       "The quick end of each measured rate, for the bytes that must be moved.", "", kMeasuring},
      {"bytes", "The least bytes a pass moves: each input read once, each output written once.",
       "Calculated from the shapes.", "", kRooflinePaper},
      {"flops", "The operations that a pass needs.", "Calculated from the shapes.", "", kRooflinePaper},
      {"host_share_pct", "Share of the caller's time in which the device is idle.", "Wall time beside device time.",
       "From 50 % on the pass is host-bound.", kDiagnosis},
      // ceilings
      {"copy_bytes_per_s", "Bandwidth of a copy, read and written bytes counted.",
       "Measured here on more memory than the last-level cache holds.", "", kMeasuring},
      {"copy_streaming_bytes_per_s", "Bandwidth of a copy whose stores bypass the caches.", "Measured here.", "",
       kMeasuring},
      {"read_bytes_per_s", "Bandwidth of reading alone.", "Measured here.", "", kMeasuring},
      {"write_bytes_per_s", "Bandwidth of writing alone.", "Measured here.", "", kMeasuring},
      {"write_streaming_bytes_per_s", "Bandwidth of stores that bypass the caches.", "Measured here.", "", kMeasuring},
      {"l2_bytes_per_s", "Bandwidth of the L2 cache.", "Measured here on data that stays in it.", "", kMeasuring},
      {"fma_flops_per_s", "Rate of fused multiply-adds in fp32, two operations each.",
       "Measured here with independent chains on all units.", "", kMeasuring},
      {"matrix_bf16_flops_per_s", "Rate of matrix products of bf16.", "Measured here by the device's library.", "",
       kMeasuring},
      {"matrix_fp16_flops_per_s", "Rate of matrix products of fp16.", "Measured here by the device's library.", "",
       kMeasuring},
      {"matrix_tf32_flops_per_s", "Rate of matrix products of tf32.", "Measured here by the device's library.", "",
       kMeasuring},
      {"memory_latency_ns", "Time of one access to memory that nothing foresees.", "Measured here by chasing pointers.",
       "", kMeasuring},
      {"launch_latency_ns", "Time of an empty launch.", "Measured here.", "", kMeasuring},
      // events of a processor
      {"instructions_per_cycle", "Instructions that a core completes in a cycle.",
       "Counted by the processor (perf events).", "Low with idle memory: dependency chains or cache misses.",
       "Linux, perf_event_open(2)"},
      {"branch_misses_per_kilo_instruction",
       "Branches that the processor foresaw wrongly for each thousand instructions.",
       "Counted by the processor (perf events).", "Fewer branches in the inner loop.", "Linux, perf_event_open(2)"},
      {"llc_misses_per_kilo_instruction", "Misses of the last-level cache for each thousand instructions.",
       "Counted by the processor (perf events).", "", "Linux, perf_event_open(2)"},
  };
  return texts;
}

}  // namespace hone::diagnose
