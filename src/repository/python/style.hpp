// The text of a Python file as its tree's own style checks want it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/report.hpp"
#include "repository/python/context.hpp"
#include "repository/python/operator_source.hpp"

namespace hone::repository::python {

struct Styled {
  std::string text;
  model::GateCount checks;
};

// ruff with the tree's configuration: checked, and where it complains fixed and formatted once.
base::Result<Styled> styled(const Context& context, const OperatorSource& source, const std::string& text);

}  // namespace hone::repository::python
