// Variants of a Triton operator by rewriting its source: what each rewrite changes, where it applies, and the new text.
//
// Everything here is a pure function of the text (the file system is only asked for the modules the text imports). A
// rewrite changes the spans it names and nothing else: comments, line endings, names and the public functions stay. It
// never introduces triton.autotune. What the result computes is the original's result, except where a rewrite states that
// sums are taken in another order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/source_facts.hpp"

namespace hone::source::rewrite {

// The autograd pass that a launch serves. `any`: both, or the source does not tell.
enum class Pass { any, forward, backward };
const char* word(Pass pass);

// One place that a rewrite changes: a launch, or something inside a kernel.
struct Site {
  std::string kernel;    // the jit function concerned
  std::string function;  // the host function that launches it; empty where the change is inside the kernel
  int line = 0;          // in the text given, 1-based
  Pass pass = Pass::any;
  std::string what;  // "launch", "load of W_ptr", ...
};

struct Knob {
  std::string name;
  std::vector<std::string> values;  // worth trying; the first is the one `survey` tries
  std::string meaning;
  bool by_size = false;  // may be given per size, in SizeRow::values
};

inline constexpr long long kAnySize = 1LL << 62;

// Integer knobs for the sizes from `from` to `to`, both included. The size is what the operator's own settings are chosen
// by (the argument of calculate_settings, or the row length). Rows do not overlap; sizes in none keep the original.
struct SizeRow {
  long long from = 0, to = kAnySize;
  std::map<std::string, long long> values;
};

struct Request {
  std::string rewrite;                        // Rewrite::name
  Pass pass = Pass::any;                      // only sites of this pass; any: all
  std::vector<std::string> kernels;           // only these kernels; empty: all
  std::map<std::string, std::string> values;  // knobs, for all sizes
  std::vector<SizeRow> by_size;               // knobs by size
  std::string reason;                         // why, for the header: "measured on an H200: 0.182 -> 0.111 ms"
};

struct Rewrite {
  const char* name;
  const char* strategy;  // a word of the profile's strategy order; "correctness" where speed is not the aim
  const char* title;
  const char* where;  // where it applies, one sentence
  std::vector<Knob> knobs;
};
const std::vector<Rewrite>& rewrites();
const Rewrite* find_rewrite(const std::string& name);

// One rewrite against one text: the places it would change, or why there are none.
struct Finding {
  const Rewrite* rewrite = nullptr;
  std::vector<Site> sites;
  std::vector<Knob> knobs;  // those that act here
  std::string reason;       // why it does not apply; empty where it does
};
// All rewrites, in the order of rewrites().
std::vector<Finding> survey(base::FileSystem& files, const std::string& path, const std::string& text);

struct Variant {
  std::string text;
  model::AuditedOp facts;     // of the new text
  std::vector<Site> touched;  // lines are those of the text before the step that changed them
};

// Applies the requests in order, each group of neighbours with the same rewrite as one step (settings for forward and for
// backward are decided together), and puts one header comment at the top: `header`, then a line for each change and why.
// Fails, with the reason in `found`, where a rewrite does not apply, a value is not valid, or the result would not parse.
base::Result<Variant> compose(base::FileSystem& files, const std::string& path, const std::string& text,
                              const std::vector<Request>& requests, const std::string& header);

}  // namespace hone::source::rewrite
