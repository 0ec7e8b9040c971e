// What a built-in kernel says of itself to whoever runs, tunes, verifies and times it. Knows no device and nothing of src/.
//
// An Operation is described for a Problem (sizes, dtype, options): its tensors, the launches of each pass under given
// settings, its minimum traffic, its knobs, and a double-precision reference. The tile program's text is compiled at run
// time with settings, dtype and options as constants; `embedded_sources` holds the texts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/catalog/plan.hpp"

namespace kernels {

struct EmbeddedFile {
  std::string path;  // "kernels/rms_norm/rms_norm.hpp"
  const char* text;
};
const std::vector<EmbeddedFile>& embedded_sources();

enum class Machine { cpu, cuda };
enum class Pass { forward, backward };
const char* name_of(Pass pass);

using Options = std::map<std::string, std::string>;

// The machine a heuristic chooses for.
struct Target {
  Machine machine = Machine::cpu;
  int cores = 1;  // cores, or multiprocessors
  std::int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, last_level_bytes = 32 << 20;
  int vector_bytes = 32;          // widest vector register (CPU)
  std::int64_t shared_bytes = 0;  // shared memory of a block (CUDA)
  int compute_capability = 0;     // 90 for 9.0 (CUDA)
};

struct OptionSpec {
  std::string name;                 // "casting_mode"
  std::vector<std::string> values;  // allowed; the first is the default. Empty: any finite number
  std::string help;
  std::string default_value = {};        // of a number
  std::vector<std::string> trials = {};  // of a number: what verification tries; empty: 0 and 1
};

struct Problem {
  std::int64_t rows = 0, columns = 0, depth = 0;  // depth: a third extent where an operation has one
  DType dtype = DType::fp32;
  Options options;               // complete: every option of the operation has a value
  std::int64_t row_padding = 0;  // elements between the end of a row and the next row's start (non-contiguous rows)
};

// A parameter a variant may change. `compiled`: it changes the machine code; otherwise it changes the launch alone.
struct Knob {
  std::string name;  // "BLOCK_ROW", "num_threads", "STREAMING_STORES"
  std::vector<std::int64_t> values;
  bool compiled = true;
  std::string help;      // what it does, in one line
  std::string strategy;  // strategy word it belongs to: "rows-per-program", "streaming-stores", ...
};

// What a person reading the source would state; goes into the profile's configuration block.
struct SourceNotes {
  std::string stride_pattern, cache_modifiers, in_place, saved_vs_recomputed;
  std::string precision_ops, casting_mode, algorithm, constexpr_parameters;
};

class Operation {
 public:
  virtual ~Operation() = default;

  virtual std::string name() const = 0;
  virtual int tier() const = 0;  // 1 element-wise, 2 reduction, 3 fused or complex
  virtual std::string tier_reason() const = 0;
  virtual std::string formula() const = 0;  // one line each pass, with its source
  virtual std::vector<OptionSpec> options() const = 0;
  virtual std::vector<DType> dtypes() const = 0;
  virtual std::string main_file() const = 0;  // the tile program: "kernels/rms_norm/rms_norm.hpp"
  virtual SourceNotes source_notes(const Problem& problem) const = 0;

  // The sizes of the baseline tables: x_name ("hidden_size") and its values; problem_at gives the whole problem of one x.
  virtual std::string x_name() const = 0;
  virtual std::vector<std::int64_t> default_sizes(const Target& target, DType dtype) const = 0;
  virtual Problem problem_at(std::int64_t x, const Target& target, DType dtype, const Options& options) const = 0;
  virtual std::int64_t x_of(const Problem& problem) const {
    return problem.columns;
  }  // the inverse: what a settings function is asked with
  // A third extent that suits a matrix of these sizes, where an operation has one: what verification sets as depth.
  virtual std::int64_t depth_for(std::int64_t rows, std::int64_t columns) const {
    (void)rows, (void)columns;
    return 0;
  }
  // Empty when the problem can be run; otherwise what is wrong with it ("columns must be at most ...").
  virtual std::string check(const Problem& problem) const = 0;

  virtual std::vector<TensorSpec> tensors(const Problem& problem) const = 0;
  virtual PassSpec pass(Pass pass, const Problem& problem) const = 0;
  virtual Traffic traffic(Pass pass, const Problem& problem) const = 0;

  virtual std::vector<Knob> knobs(Pass pass, const Target& target) const = 0;
  // Empty when valid; otherwise the constraint that is broken.
  virtual std::string valid(Pass pass, const Settings& settings, const Problem& problem,
                            const Target& target) const = 0;
  virtual Settings heuristic(Pass pass, const Problem& problem, const Target& target) const = 0;
  // All valid settings, the heuristic's first.
  std::vector<Settings> enumerate(Pass pass, const Problem& problem, const Target& target) const;

  virtual Plan plan(Pass pass, const Problem& problem, const Settings& settings, const Target& target,
                    Ablation ablation) const = 0;
  // What an unfused framework does: one launch for each primitive operation, temporaries in memory between them.
  virtual Plan eager_plan(Pass pass, const Problem& problem, const Target& target) const = 0;

  // Double precision from the formula: reads the pass's inputs from `values`, writes its outputs there.
  virtual void reference(Pass pass, const Problem& problem, Values& values) const = 0;
  // Largest allowed |candidate - reference| of one element, as factor * (|reference| + value_scale), from dtype and reduction
  // length.
  virtual double tolerance(Pass pass, const std::string& tensor, const Problem& problem) const = 0;
  // The size of what is added up in a tensor's elements: by default the root mean square of its finite reference values, more
  // where terms cancel (a gradient orthogonal to its input). `inputs` as before the pass, `results` of the reference.
  virtual double value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                             const Values& results) const;
  // The size of what is added up in each element of a tensor, where its terms are rounded and may cancel: it then stands beside
  // |reference| and the value_scale in that element's bound. Empty: the value_scale says enough. `inputs` as before the pass.
  virtual std::vector<double> term_sizes(Pass pass, const std::string& tensor, const Problem& problem,
                                         const Values& inputs) const;
};

// Of the finite ones; 0 where there are none.
double root_mean_square(const std::vector<double>& values);

// Every option of the operation with its default.
Options default_options(const Operation& operation);
// Empty when `options` are complete and each has an allowed value; otherwise what is wrong and what is allowed.
std::string check_options(const Operation& operation, const Options& options);

// The built-in kernels, by name, in the order of the catalogue.
const std::vector<std::unique_ptr<Operation>>& catalog();
const Operation* find(const std::string& name);  // nullptr when there is none

}  // namespace kernels
