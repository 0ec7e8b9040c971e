#include "source/triton/kernel/row_mode.hpp"

#include <algorithm>
#include <set>

#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

constexpr std::string_view kName = "row_mode";

// Handing the value on in a call decides nothing; declaring, testing and storing it do.
bool only_passed_on(Node identifier) {
  for (Node at = identifier; at; at = at.parent()) {
    if (at.is(Kind::argument_list)) return true;
    if (at.is(Kind::block) || at.is(Kind::if_statement) || at.is(Kind::parameters)) return false;
  }
  return false;
}

}  // namespace

model::RowModeFact read_row_mode(const std::vector<const Module*>& own, const std::vector<model::KernelFact>& kernels,
                                 const std::vector<model::LaunchFact>& launches,
                                 const std::vector<model::TodoComment>& remarks) {
  model::RowModeFact fact;
  for (const model::TodoComment& remark : remarks) {
    const bool block_kernel =
        remark.text.find("_block_") != std::string::npos && remark.text.find("_kernel") != std::string::npos;
    if (block_kernel || remark.text.find(kName) != std::string::npos) fact.open_task_lines.push_back(remark.line);
  }
  std::set<int> lines;
  for (const Module* module : own) {
    for (const Function& function : module->functions()) {
      if (function.param(kName) != nullptr) fact.row_mode_param = true;
    }
    for (Node node : module->tree().root().descendants()) {
      if (node.is(Kind::identifier) && node.text() == kName && !only_passed_on(node)) lines.insert(node.line());
    }
  }
  fact.lines.assign(lines.begin(), lines.end());
  for (const model::KernelFact& kernel : kernels) {
    const bool block_row = std::find(kernel.params.begin(), kernel.params.end(), "BLOCK_ROW") != kernel.params.end();
    if (block_row && !kernel.is_device_helper) fact.block_row_kernels.push_back(kernel.name);
  }
  if (fact.block_row_kernels.empty()) return fact;
  std::string dispatch;
  for (const model::LaunchFact& launch : launches) {
    if (launch.note && launch.note->rfind("only if ", 0) == 0)
      dispatch += (dispatch.empty() ? "" : "; ") + launch.kernel + " " + *launch.note;
  }
  fact.dispatch = (dispatch.empty() ? "no condition found" : dispatch) + "; otherwise the BLOCK_ROW kernels";
  return fact;
}

}  // namespace hone::source
