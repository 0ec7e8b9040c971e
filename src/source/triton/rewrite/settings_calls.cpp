#include "source/triton/rewrite/settings_calls.hpp"

#include <algorithm>

#include "source/triton/module/python.hpp"

namespace hone::source::rewrite {

bool mentions(Node root, const std::string& name) { return !names_in(root, name).empty(); }

std::vector<SettingsCall> find_settings_calls(const Subject& subject) {
  std::vector<SettingsCall> found;
  const Module& module = subject.module();
  for (int scope = 0; scope < static_cast<int>(module.functions().size()); ++scope) {
    if (is_jit(module, subject.function(scope))) continue;
    for (Node node : module.calls(scope)) {
      const std::string name = module.canonical(node.child(Field::function));
      if (name.substr(name.rfind('.') + 1) != "calculate_settings") continue;
      const Node assignment = node.parent();
      const std::vector<Node> targets = elements_of(assignment.child(Field::left));
      const Arguments arguments = arguments_of(node);
      if (!assignment.is(Kind::assignment) || targets.size() != 2 || arguments.positional.size() != 1) continue;
      if (!targets[0].is(Kind::identifier) || !targets[1].is(Kind::identifier)) continue;
      SettingsCall call;
      call.function = scope;
      call.statement = statement_of(node);
      call.callee = node.child(Field::function);
      call.targets = assignment.child(Field::left);
      call.block = std::string(targets[0].text());
      call.warps = std::string(targets[1].text());
      call.size = std::string(arguments.positional[0].text());
      call.pass = subject.pass_of_function(scope);
      for (const Launch* launch : subject.launches_in(scope)) {
        if (launch->call.start() < node.end()) continue;
        call.launches.push_back(launch);
      }
      found.push_back(std::move(call));
    }
  }
  return found;
}

std::vector<Node> returns_with_settings(const Subject& subject, const SettingsCall& call) {
  std::vector<Node> found;
  for (Node node : subject.function(call.function).body.descendants()) {
    if (!node.is(Kind::return_statement) || node.start() < call.statement.end()) continue;
    if (subject.module().function_at(node) != call.function) continue;
    if (mentions(node, call.block) || mentions(node, call.warps)) found.push_back(node);
  }
  return found;
}

bool backward_takes_them(const Subject& subject, const std::vector<SettingsCall>& calls) {
  for (const Launch& launch : subject.launches()) {
    if (launch.scope == kNoFunction || subject.pass_of_function(launch.scope) != Pass::backward) continue;
    const bool own =
        std::any_of(calls.begin(), calls.end(), [&](const SettingsCall& c) { return c.function == launch.scope; });
    if (!own && launch.fact.num_warps.source == "calculate_settings") return true;
    for (const model::SettingSource& block : launch.fact.block_sources) {
      if (!own && block.source == "calculate_settings") return true;
    }
  }
  return false;
}

bool needs_whole_rows(const Subject& subject, const Launch& launch, const std::string& block) {
  if (!launch.kernel || launch.fact.grid_resolved.find(block) != std::string::npos) return false;
  std::string param;
  for (const auto& [name, value] : launch.fact.bound_params) {
    if (value == block) param = name;
  }
  if (param.empty()) return false;
  for (const model::LoopFact& loop : subject.facts_of(launch.kernel).loops) {
    if (loop.iter.find(param) != std::string::npos) return false;
  }
  return true;
}

}  // namespace hone::source::rewrite
