// What a manifest says of a user's kernel: sizes, tensors, launches, knobs, traffic, reference. docs/manifest.md describes the
// file; this is its meaning, checked, with every expression still an expression.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/catalog/plan.hpp"
#include "repository/document/expression.hpp"

namespace hone::repository::manifest {

enum class Language { cuda, cpp };
const char* word(Language language);

// Who touches a tensor in a pass. Scratch is the pass's own and may depend on knobs.
enum class Role { input, output, inout, scratch };
std::optional<Role> parse_role(const std::string& text);

// A name for a number of elements. A free one may be any positive number and is set small where correctness is tried; a derived
// one follows from the others.
struct SizeSymbol {
  std::string name;
  Expression value;
  bool derived = false;
};

struct VerifyDecl {
  std::vector<std::int64_t> values;
  Place place;
};

struct DTypeDecl {
  std::string name;  // "fp32", "fp16" or "bf16"
  kernels::DType type = kernels::DType::fp32;
  std::vector<std::pair<std::string, std::string>> defines;
};

// normal: mean first, deviation second. uniform: from first to second. labels: integers from first to second - 1. zeros.
struct ValuesDecl {
  kernels::Distribution distribution = kernels::Distribution::normal;
  Expression first = Expression(std::int64_t{0}, {}), second = Expression(std::int64_t{1}, {});
};

struct TensorDecl {
  std::string name;
  Role role = Role::input;
  std::vector<Expression> shape;
  std::optional<kernels::DType> type;  // none: the dtype asked for
  ValuesDecl values;
  std::optional<Expression> tolerance;
  Place place;
};

enum class ScalarType { int32, int64, fp32 };

struct ScalarDecl {
  std::string name;
  ScalarType type = ScalarType::fp32;
  Expression value;
};

struct KnobDecl {
  std::string name, help, strategy;
  std::vector<std::int64_t> values;
  std::vector<std::string> passes;
  std::map<std::string, std::int64_t> current;  // by pass
  std::optional<Expression> valid;
  Place place;
};

// A tensor's address, or a number.
struct ArgumentDecl {
  std::string tensor;  // empty: a number
  ScalarType type = ScalarType::int64;
  Expression value;
};

struct LaunchDecl {
  std::string entry;
  std::vector<Expression> grid;   // one to three extents
  std::vector<Expression> block;  // of a CUDA kernel: one to three extents
  Expression shared_bytes;
  Expression workers;  // of a C++ kernel: threads; 0 = one for each core
  std::vector<ArgumentDecl> arguments;
  Place place;  // of its arguments
};

// A function in double precision: tensors as arrays of double, sizes and scalars as they are.
struct ReferenceDecl {
  std::string function;
  std::vector<ArgumentDecl> arguments;
  Place place;  // of its arguments, or of the function where they are the launch's
};

struct PassDecl {
  std::string name;  // "forward" or "backward"
  std::vector<LaunchDecl> launches;
  std::map<std::string, Role> roles;  // of every tensor that the pass touches
  std::optional<Expression> bytes_read, bytes_written, flops, matrix_flops, valid;
  std::optional<ReferenceDecl> reference;
};

struct Manifest {
  std::string path, folder, text;  // the file, the folder it stands in, its bytes
  std::string name, description, tier_reason;
  int tier = 0;
  Language language = Language::cuda;
  std::string source;     // relative to the folder, as everything below
  std::string reference;  // empty: none
  std::string settings;   // where finalize writes
  std::string x_name;
  std::vector<std::int64_t> sizes;
  std::vector<SizeSymbol> symbols;  // without x, in an order in which each needs only those before it
  std::optional<Expression> valid;
  std::map<std::string, VerifyDecl> verify;  // by free size: what correctness is tried on
  std::vector<DTypeDecl> dtypes;
  std::vector<std::pair<std::string, std::string>> defines;
  std::vector<TensorDecl> tensors;
  std::vector<ScalarDecl> scalars;
  std::vector<KnobDecl> knobs;
  std::vector<PassDecl> passes;  // forward before backward
  bool deterministic = true;     // two runs on the same inputs give the same bits
  std::vector<std::string> test;
  std::int64_t test_timeout_s = 600;

  const PassDecl* find_pass(const std::string& name) const;
  const TensorDecl* find_tensor(const std::string& name) const;
  std::vector<const KnobDecl*> knobs_of(const std::string& pass) const;
  std::vector<std::string> size_names() const;  // x first
  std::string full(const std::string& relative) const;
};

}  // namespace hone::repository::manifest
