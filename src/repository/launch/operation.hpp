// The operation description: what the engine is told of a kernel that hone compiles and launches itself. native/ gives it for the
// built-in kernels, manifest/ for a user's file; the engine knows neither.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "kernels/catalog/plan.hpp"
#include "measure/numerics.hpp"
#include "model/profile.hpp"
#include "repository/repository.hpp"

namespace hone::repository::launch {

using kernels::Ablation;
using kernels::PassSpec;
using kernels::Plan;
using kernels::TensorSpec;
using kernels::Traffic;
using kernels::Values;

enum class Extent { smoke, full };  // of a verification

// How far an element of a tensor may be from its reference.
struct Tolerance {
  measure::Bound bound;
  bool is_stated = false;  // by the kernel's author: good enough, even where the original is better
};

// The operation at one size and element type, with its options chosen: everything evaluated that the settings leave open.
// Passes go by name, "forward" and "backward".
class Problem {
 public:
  virtual ~Problem() = default;
  virtual std::int64_t x() const = 0;  // what a settings function is asked with
  virtual kernels::DType dtype() const = 0;
  virtual std::string shape() const = 0, label() const = 0;   // "33 x 1000"; the same with type, options and layout
  virtual std::size_t misaligned_bytes() const { return 0; }  // of the tensors, from a 64-byte boundary

  // Every tensor but scratch, in an order of its own; those that are given before forward say of what distribution.
  virtual base::Result<std::vector<TensorSpec>> tensors() const = 0;
  virtual PassSpec pass(const std::string& pass) const = 0;
  virtual base::Result<Traffic> traffic(const std::string& pass) const = 0;

  // An error of kind gate where the settings are not valid here.
  virtual base::Result<Plan> plan(const std::string& pass, const model::Settings& settings,
                                  Ablation ablation) const = 0;
  virtual base::Result<Plan> provider_plan(const std::string& provider, const std::string& pass) const = 0;
  // The kernel's own choice, and every valid one.
  virtual base::Result<model::Settings> shipped(const std::string& pass) const = 0;
  virtual std::vector<model::Settings> valid_settings(const std::string& pass) const = 0;

  // In double precision: reads what the pass reads from `values`, writes its outputs there. Without one, results are compared
  // with the original's.
  virtual bool has_reference(const std::string& pass) const = 0;
  virtual base::Result<void> reference(const std::string& pass, Values& values) const = 0;
  // `before`: values before the pass; `reference`: what its outputs should be.
  virtual base::Result<Tolerance> tolerance(const std::string& pass, const std::string& tensor, const Values& before,
                                            const Values& reference) const = 0;
};
using ProblemPtr = std::shared_ptr<const Problem>;

struct OperationKnob : Knob {
  bool is_swept = true;  // varied together with the others; otherwise each of its values is a proposal of its own
};

struct Planned {
  std::string pass;
  Plan plan;
  model::Settings settings;
};

// What finalize wrote for one device and element type.
struct InstalledEntry {
  std::string device, dtype;
  model::Variant variant;  // settings by pass, and source edits where they are kept with them
  std::string reason, created, hone_version;
  bool operator==(const InstalledEntry&) const = default;
};

struct OwnTests {
  int passed = 0, failed = 0;
  std::string detail;
};

class Operation {
 public:
  virtual ~Operation() = default;

  virtual model::Identity identity() const = 0;  // without source_hash
  // Session::source_hash and snapshot. `in_force`: plans of every pass at every size that is measured, forward at the first size
  // first.
  virtual std::string source_hash(const std::vector<Planned>& in_force) const = 0;
  virtual std::vector<std::pair<std::string, std::string>> snapshot(const std::vector<Planned>& in_force) const = 0;
  virtual std::string main_file() const = 0;  // what a proposal replaces
  virtual std::string main_file_extension() const = 0;
  virtual std::string own_provider() const = 0;
  virtual std::vector<std::string> providers() const { return {}; }
  virtual std::string unmeasurable() const { return ""; }  // Session::unmeasurable
  virtual bool is_for_gpu() const { return false; }        // whatever device is here
  virtual std::vector<model::Opportunity> source_opportunities() const { return {}; }
  virtual std::vector<std::string> remarks(const std::vector<ProblemPtr>& problems) const = 0;
  // Patterns of memory access and arithmetic; parameters are the engine's.
  virtual void describe(const Problem& problem, model::Configuration& configuration) const = 0;

  virtual std::vector<std::string> passes() const = 0;  // forward before backward
  virtual std::string x_name() const = 0;
  virtual kernels::DType dtype() const = 0;
  virtual std::map<std::string, std::string> options() const { return {}; }
  virtual std::vector<std::int64_t> default_sizes() const = 0;
  // Of the cache that sizes and settings rest on; 0: they rest on none.
  virtual std::int64_t last_level_cache_bytes() const { return 0; }
  virtual base::Result<ProblemPtr> problem_at(std::int64_t x) const = 0;
  // What must hold at a size that is measured, beyond being a problem; before anything is measured.
  virtual base::Result<void> check(const Problem& problem) const {
    (void)problem;
    return {};
  }

  virtual std::vector<OperationKnob> knobs(const std::string& pass) const = 0;
  // Few configurations, each cheaper to time than to compile: all of them are timed.
  virtual bool times_few_in_full() const { return false; }
  virtual const InstalledEntry* installed(kernels::DType dtype) const = 0;  // none: as shipped
  virtual model::HowSet how_shipped() const = 0;                            // how a knob is set where none is installed
  // "as shipped", and "the kernel's heuristic for this device".
  virtual std::string shipped_title() const = 0, shipped_words() const = 0;

  // The translation unit of a plan, with `edits` in place of its files; an error of kind gate for an edit of another file.
  virtual base::Result<device::ProgramSource> source(const Plan& plan, const std::string& pass,
                                                     const std::vector<model::SourceEdit>& edits) const = 0;
  // True where hone wrote all of that text; any other runs in isolation first.
  // What the compiler says of that text, with places in the files of who wrote it.
  virtual base::Error told(base::Error error) const { return error; }
  virtual bool is_trusted(const std::vector<model::SourceEdit>& edits) const = 0;
  // Plans with ablations, and programs that may have other numbers of warps.
  virtual bool can_ablate() const = 0;

  virtual std::vector<ProblemPtr> cases(Extent extent, bool all_dtypes,
                                        const std::vector<std::int64_t>& sizes) const = 0;
  virtual std::string reference_words() const = 0;  // what results are held against
  virtual bool is_deterministic() const { return true; }
  // What a kernel's author can do about two runs that differ, and about an original that its reference refuses.
  virtual std::string unsteady_remedy() const { return ""; }
  virtual std::string bound_remedy() const { return ""; }
  // The author's own tests on what installation() writes; nothing where there are none.
  virtual base::Result<std::optional<OwnTests>> own_tests(const std::vector<FileChange>& changes) const {
    (void)changes;
    return std::optional<OwnTests>();
  }
  virtual base::Result<std::vector<FileChange>> installation(const InstalledEntry& entry) const = 0;
  // Where another process finds the operation: the words of a CounterPass.
  virtual std::string repository() const = 0, place() const = 0;
};

}  // namespace hone::repository::launch
