// The operator's own tests as a gate: a variant's list against the same list run on the original, which is run once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "repository/python/context.hpp"
#include "repository/python/operator_source.hpp"
#include "repository/python/test_run.hpp"

namespace hone::repository::python {

class OwnTests {
 public:
  // `device`: "cpu" is Triton's interpreter.
  OwnTests(const Context& context, const OperatorSource& source, std::string device)
      : context_(context),
        source_(source),
        device_(std::move(device)),
        servers_(context.processes, context.python, base::join(context.scripts(), "hone_tests.py")) {}

  // Of the operator's file with this text.
  base::Result<GateResult> judge(GateLevel level, const std::string& text);

 private:
  std::size_t shares() const;
  TestRun run_of(GateLevel level, const std::string& name, const std::string& text) const;
  std::vector<TestRun> runs_of(GateLevel level, const std::string& text, bool first) const;
  std::vector<base::Result<TestResults>> run_together(const std::vector<TestRun>& runs);
  base::Result<TestResults> run(GateLevel level, const std::string& text);

  const Context& context_;
  const OperatorSource& source_;
  std::string device_;
  TestServers servers_;
  std::map<GateLevel, TestResults> original_;
};

}  // namespace hone::repository::python
