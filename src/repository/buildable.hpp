// Builds of a kernel: variants and single settings, told apart by their machine code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/variant.hpp"

namespace hone::repository {

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

class Buildable {
 public:
  virtual ~Buildable() = default;

  // Compiles every part; an error carries the compiler's words.
  virtual base::Result<Built> build(const model::Variant& variant) = 0;
  virtual base::Result<BuiltPart> build_settings(const std::string& pass, const std::string& x_value,
                                                 const model::Settings& settings) = 0;
  // Told before many of these are built: may compile them on several cores. What it does shows in no result.
  virtual void build_ahead(const std::string& pass, const std::vector<std::string>& x_values,
                           const std::vector<model::Settings>& settings) {
    (void)pass, (void)x_values, (void)settings;
  }
};

}  // namespace hone::repository
