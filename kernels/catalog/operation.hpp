// What a built-in kernel says of itself to whoever runs, tunes, verifies and times it. Knows no device and nothing of src/.
//
// An Operation is described for a Problem (sizes, dtype, options): its tensors, the launches of each pass under given
// settings, its minimum traffic, its knobs, and a double-precision reference. The tile program's text is compiled at run
// time with settings, dtype and options as constants; `embedded_sources` holds the texts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kernels {

struct EmbeddedFile {
  std::string path;  // "kernels/rms_norm/rms_norm.hpp"
  const char* text;
};
const std::vector<EmbeddedFile>& embedded_sources();

enum class DType { fp32, fp16, bf16, int64 };
int size_of(DType dtype);
const char* name_of(DType dtype);
std::optional<DType> parse_dtype(const std::string& name);

enum class Machine { cpu, cuda };
enum class Pass { forward, backward };
const char* name_of(Pass pass);

using Settings = std::map<std::string, std::int64_t>;
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

enum class Distribution { normal, uniform, labels, zeros };

// A matrix in memory: rows x columns elements, consecutive rows row_stride elements apart.
struct TensorSpec {
  std::string name;
  DType dtype = DType::fp32;
  std::int64_t rows = 0, columns = 0, row_stride = 0;
  Distribution distribution = Distribution::normal;  // of an input's values
  double scale = 1, offset = 0;                      // normal: offset + scale * N(0,1); labels: 0..scale-1
  double rare_value = 0, rare_share = 0;             // this share of an input's elements has this value instead
  std::int64_t bytes() const { return rows * row_stride * size_of(dtype); }
};

// Who touches what in a pass, by tensor name. `overwritten` are inputs the pass destroys (in-place results are also outputs
// under the input's name). A forward pass's `saved` outputs are what backward reads besides the inputs.
struct PassSpec {
  std::vector<std::string> inputs, outputs, overwritten, saved;
};

// A tensor's address, or one `offset_bytes` into it. One that the options leave out ("no weight") is passed as std::int64_t 0,
// a null pointer.
struct TensorArgument {
  std::string name;
  std::int64_t offset_bytes = 0;
};
using Argument = std::variant<TensorArgument, std::int32_t, std::int64_t, float>;

// c = a b + beta c with c of m x n elements, a of m x k and b of k x n, row-major, consecutive rows `stride` elements apart.
// A transposed operand lies in memory as its transpose (k x m, n x k). Products are summed in fp32. With beta 0 c is not read.
struct MatrixProduct {
  std::int64_t m = 0, n = 0, k = 0;
  TensorArgument a, b, c;
  std::int64_t a_stride = 0, b_stride = 0, c_stride = 0;
  bool a_transposed = false, b_transposed = false;
  DType input = DType::fp32, output = DType::fp32;  // of a and b; of c
  float beta = 0;
};

// Programs of an entry of the compiled text, or, where `product` is set, a matrix product by the device's library.
struct Launch {
  std::string entry;
  std::int64_t programs = 0;
  int threads = 0;  // CUDA: threads of a block. CPU: worker threads, 0 = all
  std::int64_t dynamic_shared_bytes = 0;
  int cluster_size = 1;
  std::vector<Argument> arguments;
  std::optional<MatrixProduct> product = {};  // then `entry` is its name in messages alone
};

// A pass as compiled texts and launches. `scratch` are tensors that exist only for it (partial sums, temporaries).
struct Plan {
  std::string main_file;                                     // of embedded_sources()
  std::vector<std::pair<std::string, std::string>> defines;  // settings, dtype, options
  std::vector<TensorSpec> scratch;
  std::vector<Launch> launches;
  // A launch may begin before the one ahead of it has ended: programs of TILE_ENTRY wait for that one themselves.
  bool begins_early = true;
};

struct Traffic {
  double bytes_read = 0, bytes_written = 0;  // the least any implementation moves: each input once, each output once
  double flops = 0;
  double matrix_flops = 0;  // those of `flops` that are in matrix products of the problem's type
  double bytes() const { return bytes_read + bytes_written; }
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

// Ablations of a tile program, as the define TILE_ABLATION: 0 none; 1 no arithmetic, same bytes; 2 no memory traffic, same
// arithmetic (every row is row 0, which stays in the first-level cache).
enum class Ablation { none = 0, no_compute = 1, no_memory = 2 };

// Values of tensors in double precision, dense (rows * columns, no padding), by tensor name.
using Values = std::map<std::string, std::vector<double>>;

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
