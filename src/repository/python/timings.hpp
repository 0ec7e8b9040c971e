// Times and memory of implementations, and what was seen while they were taken.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "repository/python/cases.hpp"
#include "repository/python/implementations.hpp"
#include "repository/python/variants.hpp"
#include "repository/timed.hpp"

namespace hone::repository::python {

// The formula in plain PyTorch as a row of the tables.
inline constexpr const char* kTorchProvider = "torch";

class Timings {
 public:
  Timings(const Cases& cases, Implementations& implementations, Variants& variants)
      : cases_(cases), implementations_(implementations), variants_(variants) {}

  // Subjects must not outlive this.
  base::Result<std::unique_ptr<measure::Subject>> subject(const model::Variant& variant, const Cell& cell);
  base::Result<std::unique_ptr<measure::Subject>> subject_with(const Cell& cell, const model::Settings& settings);
  base::Result<std::unique_ptr<measure::Subject>> provider_subject(const std::string& provider, const Cell& cell);
  base::Result<std::optional<PassParts>> parts(const model::Variant& variant, const Cell& cell);
  base::Result<MemoryUse> memory(const model::Variant& variant, const std::string& x_value);
  base::Result<MemoryUse> provider_memory(const std::string& provider, const std::string& x_value);
  base::Result<MemoryUse> memory_of(const std::string& implementation, const std::string& x_value);
  base::Result<model::Sample> sample(const std::string& implementation, const Cell& cell);

  // Cells in most of whose samples the host was still queueing when the device was free.
  std::vector<std::string> cells_with_gaps() const;

 private:
  base::Result<std::unique_ptr<measure::Subject>> subject_of(const std::string& name, const std::string& implementation,
                                                             const Cell& cell);

  const Cases& cases_;
  Implementations& implementations_;
  Variants& variants_;
  std::map<std::string, std::pair<int, int>> gaps_;  // by cell: samples with gaps of the host, all samples
};

}  // namespace hone::repository::python
