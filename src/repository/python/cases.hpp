// A request for an operator, checked and completed: the sizes, passes, types and options that every part of a session works with.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/profile.hpp"
#include "repository/python/operator_source.hpp"

namespace hone::repository::python {

class Cases {
 public:
  // Usage errors: a dtype, an option or a size that the operator does not have. `device` decides the default dtype.
  static base::Result<Cases> of(const OperatorSource& source, const model::Request& request, const std::string& device);

  const model::Request& request() const { return request_; }  // with dtype and options filled in
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  std::vector<std::string> size_names() const;
  std::vector<std::string> held_out_names() const;
  std::string x_name() const { return description_ ? description_->x_name : "size"; }
  std::vector<std::string> modes() const;
  std::vector<std::string> passes() const;  // modes without "full"

  // The case of one size as it is timed. Errors: no description, or an expression of it that has no value there.
  base::Result<CaseSpec> at(const std::string& x_value) const;
  base::Result<std::vector<CaseSpec>> at_each(const std::vector<std::string>& x_values) const;
  // A case of the numerics gate: other data than what is timed.
  base::Result<CaseSpec> judged(const Shape& shape, const std::string& dtype) const;
  std::int64_t rows() const;  // of every size; 0 where the operator has none

 private:
  base::Result<void> complete(const OperatorSource& source);

  std::shared_ptr<const OperatorDescription> description_;
  std::string kernel_;
  model::Request request_;
  std::map<std::string, std::string> options_;  // the operator's own
  Shape given_;                                 // extents that options set
  std::vector<std::int64_t> sizes_;
};

// A number of at least 1, as an option or a size gives it.
base::Result<std::int64_t> parse_size(const std::string& text, const std::string& where);

}  // namespace hone::repository::python
