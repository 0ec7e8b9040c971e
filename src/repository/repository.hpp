// Where kernels live and how they are run, tested and replaced. native/, liger/ and manifest/ implement it; the stages know
// nothing else of a kernel: no language, no device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "measure/protocol.hpp"
#include "model/profile.hpp"
#include "model/report.hpp"
#include "model/variant.hpp"

namespace hone::repository {

struct KernelEntry {
  std::string name, description;
  int tier = 0;
  std::vector<std::string> passes, dtypes;
};

struct PreflightCheck {
  std::string name, found, remedy;  // remedy only where it did not pass
  bool passed = true;
  bool required = true;  // a failed one that is not required is a note
};

// One row of work: a size and a pass. mode: "forward", "backward" or "full" (forward then backward).
struct Cell {
  std::string x_value, mode;
  bool operator==(const Cell&) const = default;
  bool operator<(const Cell& other) const {
    return x_value != other.x_value ? x_value < other.x_value : mode < other.mode;
  }
};

// A variant compiled: one entry for each (pass, size). Equal hashes are the same machine code and launch.
struct BuiltPart {
  std::string pass, x_value;
  std::string machine_code_hash, launch_hash;
  int registers_per_thread = -1, spill_bytes = -1;
  std::int64_t code_bytes = 0;
};
struct Built {
  std::vector<BuiltPart> parts;
};

struct Knob {
  std::string name, pass, help, strategy;
  std::vector<std::int64_t> values;
};

struct MemoryUse {
  double peak_over_inputs_mb = 0;  // the kernel's own: outputs, saved tensors and scratch
  double saved_for_backward_mb = 0;
  double callers_peak_mb = 0;  // inputs included
};

// A pass apart into the kernels of the source and the rest: what the framework does beside them.
struct PassParts {
  double pass_ms = 0;
  std::vector<std::pair<std::string, double>> kernels_ms;  // name, time
  int samples = 0;                                         // all times are their medians

  double kernel_ms() const {
    double sum = 0;
    for (const auto& [name, ms] : kernels_ms) sum += ms;
    return sum;
  }
};

struct PassFloor {
  double bytes = 0, flops = 0;
  double floor_ms = 0;          // at the measured ceilings: what headroom and shares are taken against
  double physics_floor_ms = 0;  // nothing correct is faster: what stops a variant
  std::string ceiling;          // the ceiling that takes most of floor_ms
};

enum class GateLevel { smoke, full };

// Correctness against double precision. `passed` + `failed` is the number of cases run; zero run is a failure.
struct GateResult {
  int passed = 0, failed = 0;
  double largest_error_over_bound = 0;
  std::string first_failure;  // case, tensor, element, error, bound
  std::string detail;
  bool ok() const { return failed == 0 && passed > 0; }
};

// A file to be written at finalization: production before and after.
struct FileChange {
  std::string path, before, after;
  bool existed = false;
};

// A change a repository knows how to make for a strategy word, ready to be tried against `parent`.
struct Proposal {
  model::Variant variant;  // id is given by the stage
  std::string hypothesis, changes, diff;
  std::vector<model::Prediction> predictions;
};

// One kernel on one device with one request: everything a stage does to it goes through here.
class Session {
 public:
  virtual ~Session() = default;

  virtual const model::Identity& identity() const = 0;
  // The request with everything that was left open filled in: dtype, sizes, options.
  virtual model::Request resolved(const model::Request& asked) const { return asked; }
  // Why nothing can be run and timed here, with what would change that; empty where it can. Then a profile is made from
  // source and recorded results alone, and nothing can be optimized.
  virtual std::string unmeasurable() const { return ""; }
  virtual std::string own_provider() const { return "hone"; }  // the word for this kernel's rows in the tables
  // Results measured elsewhere that the repository keeps; shown as recorded, and never judged.
  virtual std::vector<model::BaselineRow> recorded() { return {}; }
  // What a reader of the tables must know: where ways of measuring disagree, and why.
  virtual std::vector<std::string> remarks() { return {}; }
  // Rows of the repository's own benchmark, run as it stands; its output goes below `folder`. None where it has none.
  virtual base::Result<std::vector<model::BaselineRow>> repository_benchmark(const std::string& folder) {
    (void)folder;
    return std::vector<model::BaselineRow>{};
  }
  // What the source alone shows, with places in it; added to what the measurements say.
  virtual std::vector<model::Opportunity> source_opportunities() const { return {}; }
  virtual std::vector<model::StrategyStep> source_strategies() const { return {}; }
  virtual model::DeviceInfo device() const = 0;          // without ceilings
  virtual base::Result<model::Ceilings> ceilings() = 0;  // measured once per session, then remembered
  // Those of a profile of this device: ceilings() and floor() give them from then on, as if they had been measured here.
  virtual void take_ceilings(const model::Ceilings& ceilings) { (void)ceilings; }
  // A second look, for where a pass was faster than the first allows; floor() takes what it returns from then on.
  virtual base::Result<model::Ceilings> ceilings_again() { return ceilings(); }
  virtual std::string x_name() const = 0;
  virtual std::vector<std::string> sizes() const = 0;               // x values of the request
  virtual std::vector<std::string> held_out_sizes() const = 0;      // between them, to check a settings function on
  virtual std::vector<std::string> modes() const = 0;               // "forward", "backward", "full"
  virtual std::vector<std::string> baseline_providers() const = 0;  // "eager"
  virtual std::vector<std::pair<std::string, std::string>> snapshot()
      const = 0;                                // file name -> content, original_{kernel}.*
  virtual std::string source_hash() const = 0;  // of what is in production now

  virtual base::Result<model::Configuration> configuration() = 0;  // knobs, live or dead by machine code, patterns
  virtual PassFloor floor(const Cell& cell) = 0;
  virtual std::vector<Knob> knobs() const = 0;
  // Valid settings of one pass at one size, the shipped ones first.
  virtual std::vector<model::Settings> space(const std::string& pass, const std::string& x_value) const = 0;
  // The part of the distinct configurations that the sweep may time; nothing: the stage's own bound. Where few configurations
  // differ and one costs less to time than to compile, all of them are timed.
  virtual std::optional<double> search_share() const { return std::nullopt; }
  // Knobs whose forward value backward must use at the same size, because forward leaves its mark in what it saves.
  virtual std::vector<std::string> coupled_knobs() const { return {}; }
  virtual model::Variant original() const = 0;  // v0: the settings in force at every size

  virtual base::Result<Built> build(
      const model::Variant& variant) = 0;  // compiles every part; an error carries the compiler's words
  // Told before many of these are built: may compile them on several cores. What it does shows in no result.
  virtual void build_ahead(const std::string& pass, const std::vector<std::string>& x_values,
                           const std::vector<model::Settings>& settings) {
    (void)pass, (void)x_values, (void)settings;
  }
  virtual base::Result<BuiltPart> build_settings(const std::string& pass, const std::string& x_value,
                                                 const model::Settings& settings) = 0;

  // Subjects for the protocol. They share inputs and the address policy, so that two of them can be compared.
  virtual base::Result<std::unique_ptr<measure::Subject>> subject(const model::Variant& variant, const Cell& cell) = 0;
  virtual base::Result<std::unique_ptr<measure::Subject>> subject_with(const Cell& cell,
                                                                       const model::Settings& settings) = 0;
  virtual base::Result<std::unique_ptr<measure::Subject>> provider_subject(const std::string& provider,
                                                                           const Cell& cell) = 0;
  // The time of a pass apart into its kernels' and the rest, where a pass holds more than its kernels; nothing elsewhere.
  virtual base::Result<std::optional<PassParts>> parts(const model::Variant& variant, const Cell& cell) {
    (void)variant, (void)cell;
    return std::optional<PassParts>();
  }
  virtual base::Result<MemoryUse> memory(const model::Variant& variant, const std::string& x_value) = 0;
  virtual base::Result<MemoryUse> provider_memory(const std::string& provider, const std::string& x_value) = 0;
  virtual base::Clock& clock() = 0;

  virtual base::Result<model::Counters> counters() = 0;  // or the counter-free experiments
  virtual base::Result<GateResult> gate(const model::Variant& variant, GateLevel level) = 0;

  // Changes this repository can make for a strategy, best idea first, against the best variant so far.
  virtual std::vector<Proposal> propose(const std::string& strategy, const model::Profile& profile,
                                        const model::Variant& best) = 0;
  // A variant from an outside program's text of the main source file.
  virtual base::Result<model::Variant> variant_from_source(const std::string& text, const model::Variant& best) = 0;

  virtual base::Result<std::vector<FileChange>> installation(const model::Variant& variant) = 0;
  // Style of the files of the last installation() by the repository's own checks; nothing where it has none.
  virtual std::optional<model::GateCount> style() const { return std::nullopt; }
  virtual std::string variant_file_extension() const = 0;  // of {kernel}_vN.*: "hpp", "py", "cu"
};

class Repository {
 public:
  virtual ~Repository() = default;
  virtual std::string name() const = 0;
  virtual std::vector<KernelEntry> list() const = 0;
  virtual std::vector<PreflightCheck> preflight(const model::Request& request) = 0;
  // Checks the request (kernel, dtype, sizes, options) and opens it. An unknown kernel is a usage error with the nearest names.
  virtual base::Result<std::unique_ptr<Session>> open(const model::Request& request) = 0;
};

}  // namespace hone::repository
