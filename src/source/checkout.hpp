// The layout of a Liger checkout: where operations, benchmarks, tests and recorded results are.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "model/source_facts.hpp"

namespace hone::source {

struct Checkout {
  std::string root, ops;  // ops: the folder of the operations
};

// The checkout that `path` is the root of, or that it lies in; nothing if it is no such place.
std::optional<Checkout> checkout_at(base::FileSystem& files, const std::string& path);
std::optional<Checkout> checkout_around(base::FileSystem& files, const std::string& path);

// Pre-flight of operations: benchmark script, test file, and rows of the recorded results.
class PreflightReader {
 public:
  PreflightReader(base::FileSystem& files, std::string root) : files_(files), root_(std::move(root)) {}
  // `own` are the operation's files, for notes on those without a benchmark of their own.
  model::Preflight read(const std::string& op, const std::vector<std::string>& own);

 private:
  void count_rows();
  base::FileSystem& files_;
  std::string root_;
  bool counted_ = false;
  std::map<std::string, int> rows_;  // by kernel_name
};

}  // namespace hone::source
