// A settings function of the operator's own in place of calculate_settings, for forward and for backward apart.
//
//   BLOCK_SIZE, num_warps = calculate_settings(n_cols)   ->   BLOCK_SIZE, num_warps = _forward_settings(n_cols)
//
// Where forward hands its settings on to backward (through what it returns and ctx), the values for backward are put in
// their place just before forward returns; where backward calls calculate_settings itself, that call is replaced.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "source/triton/module/python.hpp"
#include "source/triton/rewrite/editor.hpp"
#include "source/triton/rewrite/plans.hpp"
#include "source/triton/rewrite/settings_calls.hpp"
#include "source/triton/rewrite/size_table.hpp"

namespace hone::source::rewrite {

namespace {

class SettingsPlanner {
 public:
  SettingsPlanner(const Subject& subject, const Rewrite& rewrite)
      : subject_(subject), rewrite_(rewrite), editor_(subject), calls_(find_settings_calls(subject)) {}

  base::Result<Plan> plan(const std::vector<Request>& requests) {
    if (calls_.empty())
      return not_here(subject_, rewrite_, "no host function takes its settings from calculate_settings(size)");
    static const std::vector<KnobRange> ranges = {
        {"BLOCK_SIZE", 16, 1 << 16, true}, {"num_warps", 1, 32, true}, {"num_stages", 1, 8, false}};
    for (const Request& request : requests) {
      HONE_TRY(table, table_of(subject_, rewrite_, request, ranges));
      if (table->empty()) return bad_value(subject_, rewrite_, "at least one value", "none");
      for (const Pass pass : {Pass::any, Pass::forward, Pass::backward}) {
        const bool shared = request.pass == Pass::any;
        if (!shared && request.pass != pass) continue;
        if (shared && tables_.count(pass) > 0) continue;  // a request for this pass alone goes before one for all
        tables_[pass] = *table;
        shared ? (void)together_.insert(pass) : (void)together_.erase(pass);
      }
      if (!request.kernels.empty())
        return bad_value(subject_, rewrite_, "a pass: the settings are those of all its kernels", "kernels by name");
    }
    carried_ = backward_takes_them(subject_, calls_);
    for (const SettingsCall& call : calls_) {
      const base::Result<bool> changed = change(call);
      if (!changed) return changed.error();
    }
    if (plan_.sites.empty())
      return not_here(subject_, rewrite_, "no call of calculate_settings serves the pass asked for alone");
    if (!editor_.problem().empty()) return not_here(subject_, rewrite_, editor_.problem());
    plan_.replacements = editor_.take();
    return std::move(plan_);
  }

 private:
  const SizeTable* table(Pass pass) const {
    const auto known = tables_.find(pass);
    return known == tables_.end() ? nullptr : &known->second;
  }

  std::vector<const Launch*> launches_of_pass(Pass pass) const {
    std::vector<const Launch*> found;
    for (const Launch& launch : subject_.launches()) {
      if (launch.scope != kNoFunction && subject_.pass_of_function(launch.scope) == pass) found.push_back(&launch);
    }
    return found;
  }

  // One call site, with what forward hands on.
  base::Result<bool> change(const SettingsCall& call) {
    const SizeTable* own = table(call.pass);
    const bool hands_on = carried_ && call.pass == Pass::forward && !returns_with_settings(subject_, call).empty();
    const SizeTable* later = hands_on ? table(Pass::backward) : nullptr;
    if (own == nullptr && later == nullptr) return false;
    if (own != nullptr) {
      if (auto wrong = check(*own, call, call.launches)) return *wrong;
      editor_.replace(call.callee, settings_name(call.pass, *own, call));
      if (own->has("num_stages")) {
        if (auto wrong = add_stages(call)) return *wrong;
      }
      note(call.launches, call, *own);
    }
    if (!hands_on) return true;
    const bool same = own != nullptr && later != nullptr && together_.count(Pass::forward) > 0;
    const std::vector<const Launch*> backward = launches_of_pass(Pass::backward);
    if (later != nullptr) {
      if (auto wrong = check(*later, call, backward)) return *wrong;
      note(backward, call, *later);
    }
    if (!same) {
      if (auto wrong = hand_on(call, later)) return *wrong;
    }
    if (later != nullptr && later->has("num_stages") && !hands_on_stages(call)) {
      if (auto wrong = stages_at_backward(call, *later, backward)) return *wrong;
    }
    return true;
  }

  // Backward's own values, put in the place of forward's just before they are returned.
  std::optional<base::Error> hand_on(const SettingsCall& call, const SizeTable* later) {
    for (const Assignment& assignment : subject_.module().assignments(call.function, call.size)) {
      if (assignment.statement.start() > call.statement.end())
        return not_here(
            subject_, rewrite_,
            call.size + " changes between the settings and the return of " + subject_.function(call.function).name);
    }
    const SizeTable* own = table(call.pass);
    const bool stages_changed = own != nullptr && own->has("num_stages");
    const bool stages_later = later != nullptr && later->has("num_stages");
    std::string value =
        later == nullptr ? std::string(call.callee.text()) : settings_name(Pass::backward, *later, call);
    value += "(" + call.size + ")";
    for (Node leave : returns_with_settings(subject_, call)) {
      const bool stages_too = mentions(leave, "num_stages");
      std::vector<std::string> lines = {later != nullptr ? "# Backward runs with settings of its own."
                                                         : "# Backward keeps the settings it had."};
      const std::string targets(call.targets.text());
      const char* stages = !stages_later ? "" : stages_too ? ", num_stages" : ", _";
      lines.push_back(targets + stages + " = " + value);
      if (stages_changed && stages_too && !stages_later)
        lines.push_back("num_stages = " + std::to_string(stages_before(call)));
      editor_.lines_before(leave, lines);
    }
    return std::nullopt;
  }

  // The function's name; its text goes in before the first operator function that calls it.
  std::string settings_name(Pass pass, const SizeTable& table, const SettingsCall& call) {
    const bool shared = together_.count(pass) > 0;
    const Pass key = shared ? Pass::any : pass;
    const auto known = names_.find(key);
    if (known != names_.end()) return known->second;
    const std::string name = subject_.fresh_name(shared                   ? "_settings"
                                                 : pass == Pass::backward ? "_backward_settings"
                                                                          : "_forward_settings");
    names_[key] = name;
    editor_.function_before(top_level_of(first_call(key).statement), text_of_function(name, table, call));
    return name;
  }

  // The first call in the file that will name the function: forward's where it hands on.
  const SettingsCall& first_call(Pass key) const {
    for (const SettingsCall& call : calls_) {
      const bool hands_on = carried_ && call.pass == Pass::forward;
      if (key == Pass::any || call.pass == key || (key == Pass::backward && hands_on)) return call;
    }
    return calls_.front();
  }

  std::string text_of_function(const std::string& name, const SizeTable& table, const SettingsCall& call) const {
    const bool stages = table.has("num_stages");
    std::string text = "def " + name + "(n):\n";
    text += docstring(std::string("(BLOCK_SIZE, num_warps") + (stages ? ", num_stages" : "") +
                          ") by row length, calculate_settings where nothing was measured",
                      table.reason);
    text += "    BLOCK_SIZE, num_warps = " + std::string(call.callee.text()) + "(n)\n";
    if (stages && table.everywhere.count("num_stages") == 0)
      text += "    num_stages = " + std::to_string(stages_before(call)) + "\n";
    for (const auto& [knob, value] : table.everywhere) text += "    " + knob + " = " + std::to_string(value) + "\n";
    const char* word = "if ";
    for (const SizeRow& row : table.rows) {
      text += std::string("    ") + word + condition_text(row, "n") + ":\n";
      for (const auto& [knob, value] : row.values) text += "        " + knob + " = " + std::to_string(value) + "\n";
      word = "elif ";
    }
    return text + "    return BLOCK_SIZE, num_warps" + (stages ? ", num_stages" : "") + "\n\n\n";
  }

  // `num_stages = 2` of the same function, which its launches pass on.
  const Assignment* stages_assignment(const SettingsCall& call) const {
    const auto& all = subject_.module().assignments(call.function, "num_stages");
    return all.size() == 1 && all[0].element < 0 && integer_value(all[0].value) ? &all[0] : nullptr;
  }
  long long stages_before(const SettingsCall& call) const {
    const Assignment* own = stages_assignment(call);
    return own != nullptr ? *integer_value(own->value) : 3;  // Triton's default on NVIDIA devices
  }

  std::optional<base::Error> add_stages(const SettingsCall& call) {
    editor_.insert(call.targets.end(), ", num_stages");
    if (const Assignment* own = stages_assignment(call)) {
      if (own->statement.start() < call.statement.start())
        return not_here(subject_, rewrite_, "num_stages is set before calculate_settings is called");
      editor_.remove_lines(statement_of(own->statement));
    } else if (!subject_.module().assignments(call.function, "num_stages").empty()) {
      return not_here(subject_, rewrite_, "num_stages is computed in " + subject_.function(call.function).name);
    }
    for (const Launch* launch : call.launches) {
      if (auto wrong = pass_stages(*launch, "num_stages")) return wrong;
    }
    return std::nullopt;
  }

  // Does forward return its num_stages too?
  bool hands_on_stages(const SettingsCall& call) const {
    const std::vector<Node> leaves = returns_with_settings(subject_, call);
    return std::all_of(leaves.begin(), leaves.end(), [](Node leave) { return mentions(leave, "num_stages"); });
  }

  std::optional<base::Error> stages_at_backward(const SettingsCall& call, const SizeTable& table,
                                                const std::vector<const Launch*>& launches) {
    for (const Launch* launch : launches) {
      const Function& function = subject_.function(launch->scope);
      const bool known =
          function.param(call.size) != nullptr || !subject_.module().assignments(launch->scope, call.size).empty();
      if (!known)
        return not_here(subject_, rewrite_, function.name + " has no " + call.size + " to choose num_stages by");
      const std::string value = settings_name(Pass::backward, table, call) + "(" + call.size + ")[2]";
      if (auto wrong = pass_stages(*launch, value)) return wrong;
    }
    return std::nullopt;
  }

  // Makes a launch take `value` as its num_stages.
  std::optional<base::Error> pass_stages(const Launch& launch, const std::string& value) {
    const Arguments arguments = arguments_of(launch.call);
    if (const Node* given = arguments.keyword("num_stages")) {
      if (given->text() != value) editor_.replace(*given, value);
      return std::nullopt;
    }
    for (const auto& [name, content] : launch.fact.star_kwargs_resolved) {
      if (content.find("\"num_stages\"") == std::string::npos) continue;
      for (const Assignment& assignment : subject_.module().assignments(launch.scope, name)) {
        if (!assignment.value.is(Kind::dictionary)) continue;
        editor_.append(assignment.value, "\"num_stages\": " + value);
        return std::nullopt;
      }
      return not_here(subject_, rewrite_, name + " sets num_stages in a way that can not be followed");
    }
    editor_.append(launch.call.child(Field::arguments), "num_stages=" + value);
    return std::nullopt;
  }

  // Values that would have no effect, or make a kernel miss a part of its rows.
  std::optional<base::Error> check(const SizeTable& table, const SettingsCall& call,
                                   const std::vector<const Launch*>& launches) const {
    if (launches.empty())
      return not_here(subject_, rewrite_, subject_.function(call.function).name + " launches no kernel with them");
    for (const Launch* launch : launches) {
      const model::LaunchFact& fact = launch->fact;
      if (table.has("num_warps") && fact.num_warps.bound_to_kernel_parameter)
        return not_here(subject_, rewrite_,
                        "num_warps goes to a parameter of " + fact.kernel +
                            " and never becomes a launch option, so it changes nothing");
      if (table.has("num_stages") &&
          (fact.num_stages.bound_to_kernel_parameter || fact.num_stages_live == model::Liveness::dead))
        return not_here(subject_, rewrite_,
                        "num_stages changes nothing in " + fact.kernel + ": " + fact.num_stages_reason);
      if (!table.has("BLOCK_SIZE") || !needs_whole_rows(subject_, *launch, call.block)) continue;
      const auto everywhere = table.everywhere.find("BLOCK_SIZE");
      if (everywhere != table.everywhere.end())
        return bad_value(subject_, rewrite_, "BLOCK_SIZE by size: a block of " + fact.kernel + " holds a whole row",
                         "BLOCK_SIZE=" + std::to_string(everywhere->second) + " for all sizes");
      for (const SizeRow& row : table.rows) {
        const auto block = row.values.find("BLOCK_SIZE");
        if (block != row.values.end() && block->second < row.to)
          return bad_value(subject_, rewrite_, "a BLOCK_SIZE that holds a whole row of " + fact.kernel,
                           std::to_string(block->second) + " for sizes up to " + std::to_string(row.to));
      }
    }
    return std::nullopt;
  }

  void note(const std::vector<const Launch*>& launches, const SettingsCall& call, const SizeTable& table) {
    std::string kernels;
    for (const Launch* launch : launches) {
      plan_.sites.push_back({launch->fact.kernel, launch->fact.in_function, launch->fact.line,
                             subject_.pass_of_function(launch->scope), "settings by " + call.size});
      if (kernels.find(launch->fact.kernel) == std::string::npos)
        kernels += (kernels.empty() ? "" : ", ") + launch->fact.kernel;
    }
    std::string values;
    for (const auto& [knob, value] : table.everywhere)
      values += fmt::format("{}{}={}", values.empty() ? "" : ", ", knob, value);
    for (const SizeRow& row : table.rows) {
      std::string set;
      for (const auto& [knob, value] : row.values) set += fmt::format(" {}={}", knob, value);
      values += fmt::format("{}{}:{}", values.empty() ? "" : "; ", condition_text(row, call.size), set);
    }
    std::string line = kernels + " launched with settings of their own: " + values;
    if (!table.reason.empty()) line += " (" + one_line(table.reason) + ")";
    if (std::find(plan_.notes.begin(), plan_.notes.end(), line) == plan_.notes.end())
      plan_.notes.push_back(std::move(line));
  }

  const Subject& subject_;
  const Rewrite& rewrite_;
  Editor editor_;
  std::vector<SettingsCall> calls_;
  std::map<Pass, SizeTable> tables_;
  std::set<Pass> together_;  // passes that share one table, so one function
  std::map<Pass, std::string> names_;
  bool carried_ = false;
  Plan plan_;
};

}  // namespace

base::Result<Plan> plan_settings_function(const Subject& subject, const Rewrite& rewrite,
                                          const std::vector<Request>& requests) {
  return SettingsPlanner(subject, rewrite).plan(requests);
}

}  // namespace hone::source::rewrite
