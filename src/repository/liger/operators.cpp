#include "repository/liger/operators.hpp"

#include "repository/liger/embedded.hpp"
#include "repository/python/read_operators.hpp"

namespace hone::repository::liger {

namespace {

std::string text_of(const std::string& name) {
  for (const python::Script& file : embedded())
    if (file.name == name) return file.text;
  return "";
}

base::Result<Operators> read_embedded() {
  HONE_TRY(read, python::read_operators(text_of("operators.toml"), "operators.toml", text_of("formulas.py")));
  Operators all;
  for (python::OperatorDescription& description : *read) {
    description.adjustable[kTokens] = "rows";
    all.push_back(std::make_shared<const python::OperatorDescription>(std::move(description)));
  }
  return all;
}

}  // namespace

const base::Result<Operators>& operators() {
  static const base::Result<Operators> all = read_embedded();
  return all;
}

std::shared_ptr<const python::OperatorDescription> find_operator(const std::string& op) {
  if (operators())
    for (const auto& description : *operators())
      if (description->name == op) return description;
  return nullptr;
}

}  // namespace hone::repository::liger
