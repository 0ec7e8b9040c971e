#include "repository/python/cases.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"

namespace hone::repository::python {

namespace {

base::Error usage(std::string expected, std::string found, std::string where, std::string remedy) {
  return {base::ErrorKind::usage, std::move(expected), std::move(found), std::move(where), std::move(remedy)};
}

}  // namespace

base::Result<std::int64_t> parse_size(const std::string& text, const std::string& where) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return usage("an integer of at least 1", "'" + text + "'", where, "give numbers like 4096");
  return value;
}

base::Result<Cases> Cases::of(const OperatorSource& source, const model::Request& request, const std::string& device) {
  Cases cases;
  cases.description_ = source.description;
  cases.kernel_ = source.identity.kernel;
  cases.request_ = request;
  const std::vector<std::string> dtypes = {"bf16", "fp32", "fp16"};
  std::string& dtype = cases.request_.dtype;
  if (dtype.empty()) dtype = device == "cpu" ? "fp32" : "bf16";
  if (!base::contains(dtypes, dtype))
    return usage("a dtype: " + base::join_text(dtypes, ", "), "'" + dtype + "'", "--dtype", "choose one of them");
  for (const std::string& text : request.sizes) {
    HONE_TRY(size, parse_size(text, "--sizes"));
    cases.sizes_.push_back(*size);
  }
  HONE_PROPAGATE(cases.complete(source));
  return cases;
}

// Options, and the sizes where none are asked for.
base::Result<void> Cases::complete(const OperatorSource& source) {
  if (description_) options_ = description_->default_options();
  std::vector<std::string> known = source.more_options;
  if (description_)
    for (const auto& [option, extent] : description_->adjustable) known.push_back(option);
  for (const auto& [name, value] : request_.options) {
    const OptionDecl* own = description_ ? description_->find_option(name) : nullptr;
    if (own) {
      if (!base::contains(own->values, value))
        return usage(name + " to be one of " + base::join_text(own->values, ", "), "'" + value + "'", "--option",
                     "give an allowed value");
      options_[name] = value;
    } else if (!base::contains(known, name)) {
      for (const auto& [option, value_of] : options_) known.push_back(option);
      return usage("an option of " + kernel_ + ": " + base::join_text(known, ", "), "'" + name + "'", "--option",
                   "leave it out, or correct its name");
    } else if (!base::contains(source.more_options, name)) {
      HONE_TRY(extent, parse_size(value, "--option " + name));
      given_[description_->adjustable.at(name)] = *extent;
    }
  }
  for (const auto& [name, value] : options_) request_.options[name] = value;
  if (sizes_.empty() && description_) {
    sizes_ = description_->sizes;
    if (request_.quick && sizes_.size() > 2) sizes_ = {sizes_[sizes_.size() / 2], sizes_.back()};
  }
  std::sort(sizes_.begin(), sizes_.end());
  sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
  request_.sizes = size_names();
  return {};
}

std::vector<std::string> Cases::size_names() const {
  std::vector<std::string> names;
  for (const std::int64_t x : sizes_) names.push_back(std::to_string(x));
  return names;
}

std::vector<std::string> Cases::held_out_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < sizes_.size(); ++i) {
    const double middle = std::sqrt(static_cast<double>(sizes_[i]) * static_cast<double>(sizes_[i + 1]));
    const std::int64_t x = std::llround(middle / 256.0) * 256;
    if (x > sizes_[i] && x < sizes_[i + 1]) names.push_back(std::to_string(x));
  }
  return names;
}

std::vector<std::string> Cases::modes() const {
  return description_ ? description_->modes() : std::vector<std::string>{"forward", "backward", "full"};
}

std::vector<std::string> Cases::passes() const {
  std::vector<std::string> passes = modes();
  std::erase(passes, "full");
  return passes;
}

base::Result<CaseSpec> Cases::judged(const Shape& shape, const std::string& dtype) const {
  if (!description_)
    return base::Error{base::ErrorKind::preflight, "inputs for " + kernel_, "hone does not know how to build them",
                       "the operator's description", "describe the operator (docs/operators.md)"};
  return description_->case_of(shape, dtype, options_, request_.seed + 1);
}

base::Result<CaseSpec> Cases::at(const std::string& x_value) const {
  auto spec = judged(description_ ? description_->at(std::strtoll(x_value.c_str(), nullptr, 10), given_) : Shape{},
                     request_.dtype);
  if (spec) spec->seed = request_.seed;
  return spec;
}

base::Result<std::vector<CaseSpec>> Cases::at_each(const std::vector<std::string>& x_values) const {
  std::vector<CaseSpec> specs;
  if (x_values.empty())
    return base::Error{base::ErrorKind::usage, "a size of " + kernel_, "none", "--sizes", "name one"};
  for (const std::string& x_value : x_values) {
    HONE_TRY(spec, at(x_value));
    specs.push_back(std::move(*spec));
  }
  return specs;
}

std::int64_t Cases::rows() const {
  if (!description_) return 0;
  const Shape shape = description_->at(0, given_);
  const auto rows = shape.find("rows");
  return rows == shape.end() ? 0 : rows->second;
}

}  // namespace hone::repository::python
