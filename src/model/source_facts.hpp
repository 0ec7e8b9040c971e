// What is read from kernel source: one AuditedOp per operation, with the keys of the audit document (hone.audit/1).
// Lines are 1-based. Texts are source text with white space collapsed; `*_unparsed` and decorator texts are normalized.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/profile.hpp"

namespace hone::model {

inline constexpr const char* kAuditSchema = "hone.audit/1";

// Absent is written as null.
using OptionalText = std::optional<std::string>;
// Keeps the order of the source.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

struct SourceFile {
  std::string path, sha256;
  int lines = 0;
};

// A place where the parser met text that is not the language; facts before and after it hold.
struct SourceProblem {
  std::string file;
  int line = 0, column = 0;
  std::string what;
};

struct Preflight {
  bool applies = false;  // false outside a checkout: there is nowhere to look
  std::string benchmark_script, test_file;
  bool benchmark_exists = false, test_exists = false;
  std::map<std::string, int> csv_rows;
  std::vector<std::string> notes;
};

struct ReductionFact {
  int line = 0;
  std::string op, kind;  // kind: reduction, scan, sort
  OptionalText axis;
  std::string text;
};

struct LoopFact {
  int line = 0;
  std::string stmt, kind;  // stmt: for, while; kind: range, tl.range, static_range, while, other
  int depth = 1;
  OptionalText target;
  std::string iter;
  bool loads_inside = false;  // a load or a dot in the body: what software pipelining acts on
};

struct CacheHint {
  int line = 0, keyword_line = 0;
  std::string call, keyword, value;
};

struct MathFact {
  int line = 0;
  std::string op, spelled;
};

struct HelperCall {
  int line = 0;
  std::string name;
  OptionalText via;
  std::vector<std::string> precision_ops;  // of the helper and of those it calls
};

struct AtomicFact {
  int line = 0;
  std::string op;
  NamedTexts keywords;
};

struct AutotuneFact {
  std::string configs;
  std::optional<int> n_configs, n_configs_if_env_disabled;
  std::vector<std::string> key, reset_to_zero;
  std::map<std::string, std::vector<std::string>>
      values;  // of each parameter and of num_warps, num_stages over the configs
};

// One memory access of a kernel and the pointer parameter it goes through.
struct AccessFact {
  int line = 0;
  bool store = false;
  std::string base;  // kernel parameter; empty when it can not be traced
  bool masked = false, atomic = false;
  std::vector<int> after_stores;  // of a load: indices into the kernel's accesses of stores that may have run before it
};

struct KernelFact {
  std::string name, file;
  int line = 0, decorator_line = 0, end_line = 0;
  std::vector<std::string> decorators, decorator_texts;
  std::vector<int> decorator_lines;
  std::vector<std::string> params, constexpr_params, unused_params;
  NamedTexts param_defaults, other_annotations;
  bool is_device_helper = false;
  std::optional<AutotuneFact> autotune;
  bool heuristics = false;
  std::vector<std::string> heuristics_params;
  std::vector<std::string> program_id_axes, num_programs_axes;  // digits, or the text of an axis that is no literal
  std::vector<int> program_id_lines;
  std::vector<ReductionFact> reductions;
  std::vector<LoopFact> loops;
  std::vector<int> dot_lines, load_lines, store_lines, descriptor_load_lines, descriptor_store_lines;
  std::vector<CacheHint> cache_hints;
  std::vector<MathFact> precision_ops, other_math;
  std::vector<AtomicFact> atomics;
  std::vector<int> barrier_lines, early_return_lines, float32_cast_lines, float32_alloc_lines;
  std::vector<HelperCall> calls_jit_helpers;
  std::vector<AccessFact> accesses;
  std::vector<int> int32_offset_lines;         // products of a 32-bit program index that can pass 2^31 for large shapes
  std::vector<std::string> row_offset_params;  // the factors in them
};

// Lanes of a tile that a row of `size` elements leaves idle.
struct MaskedLanes {
  long long size = 0;
  double pct = 0;
};

// A tile that is rounded up to a power of two, and to how much at most (calculate_settings, min(LARGEST, ...)).
struct RoundedUp {
  std::string of;  // what is rounded, as source text
  std::optional<long long> largest;
  std::vector<MaskedLanes> masked;  // for the sizes asked for, or the usual ones
};

// Where one setting of a launch comes from.
struct SettingSource {
  std::string param;
  OptionalText text;
  std::string source, detail;
  OptionalText passed_as;
  bool bound_to_kernel_parameter = false;  // and to nothing else, so it is no launch option, whatever its name
  std::optional<RoundedUp> rounded_up;
};

struct LaunchFact {
  std::string kernel, file, in_function;
  int line = 0, call_paren_line = 0, end_line = 0;
  OptionalText kernel_defined_in;
  int kernel_def_line = 0;
  std::string grid_text, grid_form, grid_resolved, grid_unparsed;
  int grid_assigned_line = 0;
  std::optional<int> grid_ndim;
  bool grid_is_lambda = false;
  std::vector<std::string> positional_args, star_kwargs;
  NamedTexts keyword_args, star_kwargs_resolved, bound_params, launch_options;
  std::vector<SettingSource> block_sources;
  SettingSource num_warps, num_stages;
  std::string num_warps_effective, num_stages_effective;  // in words: value or source, with the default of the back end
  Liveness num_stages_live = Liveness::unknown;
  std::string num_stages_reason;
  OptionalText note;
};

struct IndirectLaunch {
  int line = 0;
  std::string file, callee, callee_file;
  std::vector<std::string> kernels;
};

struct FunctionParameter {
  std::string name;
  OptionalText annotation, default_value;
  std::string kind;  // positional, keyword_only, vararg, kwarg
};

struct MethodFact {
  int line = 0;
  std::vector<std::string> decorators;
  std::vector<FunctionParameter> params;
};

struct SavedTensors {
  int line = 0;
  std::vector<std::string> args;
};

struct ContextAttribute {
  std::string name, value, method;
  int line = 0;
};

struct ContextCall {
  int line = 0;
  std::string text;
};

struct AutogradFact {
  std::string name, file;
  int line = 0, end_line = 0;
  std::optional<MethodFact> forward, backward;
  std::vector<SavedTensors> save_for_backward;
  std::vector<ContextAttribute> ctx_attributes;
  std::vector<ContextCall> ctx_calls;
  bool backward_is_staticmethod = false;
};

struct InPlaceEvidence {
  std::string file;
  int line = 0;
  std::string text, what;
};

struct InPlaceFact {
  OptionalText flag, flag_default;
  bool gradient_written_into_existing_buffer = false, forward_overwrites_input = false, unconditional = false;
  std::vector<InPlaceEvidence> evidence;
  std::vector<InPlaceEvidence> reads_of_overwritten;  // uses of a buffer after a kernel has overwritten it
};

struct TodoComment {
  std::string file;
  int line = 0;
  std::string tag, text;
  bool performance = false, in_docstring = false;
};

struct CommentedAutotune {
  std::string file;
  int line = 0, end_line = 0;
  std::string text;
  OptionalText above_kernel;
};

struct RowModeFact {
  bool row_mode_param = false;
  std::vector<int> lines;
  std::vector<std::string> block_row_kernels;
  OptionalText dispatch;
  std::vector<int> open_task_lines;  // of remarks that a row mode or a kernel for blocks of rows is still to come
};

// A kernel in C++ or CUDA C++, as far as its source tells: a __global__ function, or a function that walks over the elements
// of its pointers in loops.
struct CppParameter {
  std::string name, type;
  bool pointer = false, is_const = false, restricted = false;
};

struct CudaSharedArray {
  std::string name, type, extent;
  int line = 0;
  bool dynamic = false;
};

// What the index of an access does from one thread to its neighbour (CUDA), or from one turn of the innermost loop to the next
// (C++).
enum class Step { same, unit, strided, unknown };
template <>
inline constexpr std::array kWords<Step>{"same", "unit", "strided", "unknown"};

// One access `base[index]` through a pointer or span that the kernel was given.
struct ElementAccess {
  int line = 0;
  bool store = false;
  std::string base, index;            // the parameter, also where a local pointer leads to it; the index as written
  int loop_line = 0, loop_depth = 0;  // of the innermost loop around it; 0: in none
  Step step = Step::unknown;
};

struct CppKernelFact {
  std::string name, file, template_parameters;
  int line = 0, end_line = 0;
  std::vector<CppParameter> params;
  std::vector<std::string> launch_bounds;
  std::vector<CudaSharedArray> shared_arrays;
  std::vector<std::string> vector_types;
  std::vector<LoopFact> loops;
  NamedTexts unroll_pragmas;  // line as text, factor ("" = full)
  std::vector<int> barrier_lines;
  std::vector<AtomicFact> atomics;
  std::vector<MathFact>
      intrinsics;  // __ldg, warp shuffles, tensor-core and asynchronous-copy calls; of processors: _mm*
  std::vector<std::string> cluster_dims;
  std::vector<ElementAccess> accesses;
  std::vector<ReductionFact>
      accumulations;                    // a scalar that each turn of the innermost loop adds to; axis: its variable
  std::vector<MathFact> math_calls;     // functions of the mathematical library, inside loops
  std::vector<int> simd_lines;          // loops under #pragma omp simd
  std::vector<int> double_lines;        // double precision beside floats: an unsuffixed literal, a double
  std::vector<int> int32_offset_lines;  // products of 32-bit names in an index or an offset
  std::vector<int> invariant_division_lines;  // in a loop, by what does not change in it
  std::vector<std::string> free_macros;  // constants that the file does not define: the compiler's command line does
};

struct CudaLaunchFact {
  std::string kernel, file, in_function, grid, block, shared_bytes, stream, template_arguments;
  int line = 0;
  std::vector<std::string> args;
  bool kernel_is_known = false;
};

struct AuditedOp {
  std::string op, language;  // language: triton, cuda, c++
  std::vector<SourceFile> files;
  std::vector<SourceProblem> problems;
  Preflight preflight;
  std::vector<KernelFact> jit_kernels;
  std::vector<LaunchFact> launches;
  std::vector<KernelFact>
      launched;  // the kernel of each launch, wherever it is defined; no name: not found. Not written out
  std::vector<IndirectLaunch> indirect_launches;
  std::vector<AutogradFact> autograd_functions;
  InPlaceFact in_place;
  std::vector<TodoComment> todo_comments;
  std::vector<CommentedAutotune> commented_out_autotune;
  RowModeFact row_mode;
  int tier = 0;  // 0: no kernel, so no tier
  std::string tier_reason;
  std::vector<int> tier_alternatives;
  std::vector<CppKernelFact> cpp_kernels;
  std::vector<CudaLaunchFact> cuda_launches;
  Configuration configuration;
  std::vector<Opportunity> opportunities;
  std::vector<StrategyStep> strategy_order;
};

// One `hone audit`: all ops, and what could not be read at all.
struct Audit {
  std::string commit;  // of the checkout, if it tells; empty otherwise
  std::vector<AuditedOp> kernels;
  std::vector<SourceProblem> problems;
};

// The document of the contract (hone.audit/1), UTF-8, two spaces of indentation.
std::string to_json(const Audit& audit);

}  // namespace hone::model
