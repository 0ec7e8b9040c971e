// The profile: the contract between the stages, seven blocks (hone.profile/1).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/counters.hpp"
#include "model/device_info.hpp"
#include "model/timing.hpp"
#include "model/values.hpp"

namespace hone::model {

// Knob values by the field's names: {"BLOCK_ROW": 4, "num_threads": 2}.
using Settings = std::map<std::string, std::int64_t>;

// A file, or why there is none.
struct Located {
  std::string path;  // empty: none
  bool exists = false;
  std::string note;  // why none, or what is odd
  bool operator==(const Located&) const = default;
};

struct Identity {
  std::string kernel, repository;  // "rms_norm", "native"
  Located source_file, benchmark_script, test_file;
  std::string source_hash;  // of the snapshot; optimize refuses another one
  int tier = 0;             // 1 element-wise, 2 reduction, 3 fused or complex
  std::string tier_description;
  bool operator==(const Identity&) const = default;
};

struct BaselineRow {
  std::string x_value, mode, provider;  // provider: "hone", "eager", ...
  std::string metric, unit;             // "speed" in "ms" (kernel time), "wall" in "ms", "memory" in "MB"
  double p20 = 0, p50 = 0, p80 = 0;
  int samples = 0;
  Source source = Source::measured;
  std::string
      origin;  // of a recorded row: the device, day, version and shape of its measurement. Rows of one origin can be
               // held against each other, no others
  bool operator==(const BaselineRow&) const = default;
};

struct Observations {
  std::string slowest_mode, slowest_mode_reason;
  std::string largest_x_value;
  std::string scaling_trend;
  std::vector<std::string> warnings;  // what makes the table untrustworthy
  bool operator==(const Observations&) const = default;
};

struct Baseline {
  std::string x_name;
  std::vector<BaselineRow> rows;
  Observations observations;
  std::vector<NoiseFloor> noise_floor;
  bool operator==(const Baseline&) const = default;
};

// Time left over the floor: floor = max(minimum bytes / bandwidth ceiling, operations / rate ceiling); where `paired` has
// pairs, at the speed that the ceiling's program reached beside the kernel's samples.
struct Headroom {
  std::string x_value, mode;
  double floor_ms = 0, measured_ms = 0, ratio = 0;  // ratio = measured / floor
  double bytes = 0, flops = 0;                      // minimum traffic and operations of the pass
  std::string ceiling;                              // the ceiling that sets the floor: "copy_bytes_per_s"
  double share_of_ceiling_pct = 0;                  // 100 / ratio
  double physics_floor_ms = 0;  // a time below it is an error of measurement or of the kernel; 0 = not known
  PairedShare paired = {};      // of share_of_ceiling_pct
  bool operator==(const Headroom&) const = default;
};

struct EvidenceRow {
  std::string signal, observation, supports;  // supports: a class word, or "against <class word>"
  Source source = Source::measured;
  bool operator==(const EvidenceRow&) const = default;
};

struct ClassOfPass {
  std::string mode;
  BottleneckClass cls = BottleneckClass::balanced;
  std::string limiter;  // "bandwidth", "registers", "grid", ...
  bool operator==(const ClassOfPass&) const = default;
};

struct Bottleneck {
  BottleneckClass cls = BottleneckClass::balanced;
  std::string plain_rule_class;  // a class word, "unclassified", or "not applicable: <why>"
  Confidence confidence = Confidence::low;
  std::string limiter;
  std::vector<EvidenceRow> evidence;
  std::string reasoning;
  std::string refutation;  // what would show the class to be wrong
  std::vector<ClassOfPass> by_pass;
  bool operator==(const Bottleneck&) const = default;
};

struct Parameter {
  std::string name, value;  // value may vary by size: "1024: 4, 4096: 8"
  HowSet how_set = HowSet::hard_coded;
  std::string notes;
  Liveness live = Liveness::unknown;
  std::string live_evidence;  // "4 values, 4 distinct machine codes"
  bool operator==(const Parameter&) const = default;
};

struct MemoryAccess {
  std::string stride_pattern, cache_modifiers, in_place, saved_vs_recomputed;
  bool operator==(const MemoryAccess&) const = default;
};

struct ComputePatterns {
  std::string precision_ops, casting_mode, algorithm, constexpr_parameters;
  bool operator==(const ComputePatterns&) const = default;
};

struct Configuration {
  std::vector<Parameter> parameters;
  MemoryAccess memory_access;
  ComputePatterns compute;
  bool operator==(const Configuration&) const = default;
};

struct Location {
  std::string file;
  int line = 0;
  bool operator==(const Location&) const = default;
};

struct Opportunity {
  std::string title, detail;  // detail: what it costs today, measured or counted
  std::vector<Location> locations;
  std::string strategy;  // the strategy of strategy_order that takes it up
  double bound_pct = 0;  // the most it could take off the time of the pass, in percent; 0 = not known
  std::string risk;
  bool operator==(const Opportunity&) const = default;
};

struct StrategyStep {
  std::string strategy, title, reason;  // strategy: a stable word, "parameter-sweep", "streaming-stores", ...
  std::string bound, risk;              // bound: the most it can gain, in words with its figure
  bool operator==(const StrategyStep&) const = default;
};

struct EstimatedIterations {
  int variants = 0;
  std::string rationale;
  bool operator==(const EstimatedIterations&) const = default;
};

// What was asked; optimize and finalize work on the same request.
struct Request {
  std::string kernel;
  std::string dtype;               // "fp32", "bf16", "fp16"
  std::vector<std::string> sizes;  // x values
  std::string goal = "balanced";   // speed, memory, balanced
  std::string scope = "general";   // general, forward, backward
  std::string target_gpu = "auto";
  std::map<std::string, std::string> options;  // kernel options such as casting_mode
  std::uint64_t seed = 0;
  bool quick = false;
  // The cache size that default settings and numbers of rows rest on; 0: that of the device. Later stages take over the
  // profile's, so that one more look at the caches does not change what v0 is.
  std::int64_t last_level_cache_bytes = 0;
  bool operator==(const Request&) const = default;
};

struct Profile {
  std::string kernel, created, hone_version, hone_commit, command;
  std::string summary;  // one line: what limits it, how much is left, what to do first
  Identity identity;
  DeviceInfo device;
  Baseline baseline;
  std::vector<Headroom> headroom;
  Counters counters;
  Bottleneck bottleneck;
  Configuration configuration;
  std::vector<Opportunity> opportunities;
  std::vector<StrategyStep> strategy_order;
  std::string plan_note;  // how a person changed the order at a checkpoint; empty: it is the recommended one
  EstimatedIterations estimated_iterations;
  Request request;
  bool operator==(const Profile&) const = default;
};

inline constexpr const char* kProfileSchema = "hone.profile/1";

// JSON by the contract. parse_profile refuses another schema, a truncated or an inconsistent document, and names the field.
std::string to_json(const Profile& profile);
base::Result<Profile> parse_profile(const std::string& json, const std::string& where);

}  // namespace hone::model
