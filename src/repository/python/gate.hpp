// What a variant must pass before it is timed and after it is installed: numerics, then the operator's own tests.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "repository/judged.hpp"
#include "repository/python/cases.hpp"
#include "repository/python/implementations.hpp"
#include "repository/python/own_tests.hpp"

namespace hone::repository::python {

class Gate {
 public:
  Gate(const Context& context, const OperatorSource& source, const Cases& cases, Implementations& implementations)
      : context_(context),
        source_(source),
        cases_(cases),
        implementations_(implementations),
        tests_(context, source, implementations.device()) {}

  // A text that has been judged is judged: finalize asks again for what optimize has asked.
  base::Result<GateResult> judge(const std::string& text, GateLevel level);

 private:
  base::Result<GateResult> judge_anew(const std::string& implementation, const std::string& text, GateLevel level);
  std::string hashes_of_judges() const;

  const Context& context_;
  const OperatorSource& source_;
  const Cases& cases_;
  Implementations& implementations_;
  OwnTests tests_;
  std::map<std::pair<std::string, GateLevel>, GateResult> judged_;  // by implementation
};

}  // namespace hone::repository::python
