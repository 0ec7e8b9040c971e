// Cache policy on the loads and stores of tiles: what is read once may leave the cache first, what every program reads
// again stays.
#include <algorithm>

#include "source/triton/module/python.hpp"
#include "source/triton/rewrite/editor.hpp"
#include "source/triton/rewrite/kernel_flow.hpp"
#include "source/triton/rewrite/plans.hpp"

namespace hone::source::rewrite {

namespace {

enum class Role { streamed_load, reused_load, store, other };

const char* knob_of(Role role) {
  switch (role) {
    case Role::streamed_load: return "streamed_loads";
    case Role::reused_load: return "reused_loads";
    case Role::store: return "stores";
    case Role::other: break;
  }
  return "";
}

bool is_policy(const std::string& knob, const std::string& value) {
  static const std::set<std::string> eviction = {"evict_first", "evict_last", "evict_normal"};
  static const std::set<std::string> of_loads = {".ca", ".cg", ".cv"}, of_stores = {".wb", ".cg", ".cs", ".wt"};
  return eviction.count(value) > 0 || (knob == "stores" ? of_stores : of_loads).count(value) > 0;
}

// Tells the accesses of one kernel apart.
class Roles {
 public:
  Roles(const Subject& subject, int kernel) : flow_(subject, kernel) {
    const auto is_op = [this](const char* first, const char* second) {
      return [this, first, second](Node node) {
        const std::string op = flow_.op(node);
        return op == first || op == second;
      };
    };
    program_ = is_op("program_id", "program_id");
    tile_ = is_op("arange", "make_block_ptr");
    of_program_ = flow_.depending(program_);
    of_tile_ = flow_.depending(tile_);
    for (Node access : flow_.accesses(true, false)) ++loads_of_[flow_.base_of(access)];
  }

  Role role(Node access) const {
    const Node pointer = KernelFlow::pointer_of(access);
    if (!flow_.depends(pointer, tile_, of_tile_)) return Role::other;  // one number: no policy helps
    if (flow_.op(access) == "store") return Role::store;
    if (!flow_.depends(pointer, program_, of_program_)) return Role::reused_load;
    const std::string base = flow_.base_of(access);
    const bool once = !base.empty() && loads_of_.at(base) == 1;
    return once ? Role::streamed_load : Role::other;  // read again by the same program: it should stay
  }

  const KernelFlow& flow() const { return flow_; }

 private:
  KernelFlow flow_;
  std::function<bool(Node)> program_, tile_;
  std::set<std::string> of_program_, of_tile_;
  std::map<std::string, int> loads_of_;
};

}  // namespace

base::Result<Plan> plan_cache_policy(const Subject& subject, const Rewrite& rewrite,
                                     const std::vector<Request>& requests) {
  if (subject.kernels().empty()) return not_here(subject, rewrite, "the file has no kernel of its own");
  Plan plan;
  Editor editor(subject);
  std::set<std::uint32_t> done;
  for (const Request& request : requests) {
    for (const auto& [knob, value] : request.values) {
      if (knob != "streamed_loads" && knob != "reused_loads" && knob != "stores")
        return bad_value(subject, rewrite, "the knobs streamed_loads, reused_loads, stores", knob);
      if (!is_policy(knob, value))
        return bad_value(subject, rewrite, "an eviction policy or a cache modifier that Triton has for " + knob, value);
    }
    for (const int kernel : wanted_kernels(subject, request)) {
      const Roles roles(subject, kernel);
      const std::string& name = subject.function(kernel).name;
      std::map<std::string, int> changed;
      for (Node access : roles.flow().accesses(true, true)) {
        const std::string knob = knob_of(roles.role(access));
        const auto value = request.values.find(knob);
        if (value == request.values.end() || !done.insert(access.start()).second) continue;
        const bool eviction = value->second[0] != '.';
        const std::string keyword = eviction ? "eviction_policy" : "cache_modifier";
        const Arguments arguments = arguments_of(access);
        const std::string text = "\"" + value->second + "\"";
        const Node* given = arguments.keyword(keyword);
        const Node* other = arguments.keyword(eviction ? "cache_modifier" : "eviction_policy");
        if (given != nullptr && other == nullptr && string_value(*given) == value->second) continue;
        if (given != nullptr && other != nullptr)
          continue;  // two that the assembler may not combine: not ours to sort out
        if (given != nullptr) {
          editor.replace(*given, text);
        } else if (other != nullptr) {
          editor.replace(other->parent(), keyword + "=" + text);  // one access has one policy: PTX combines few of them
        } else {
          editor.append(access.child(Field::arguments), keyword + "=" + text);
        }
        ++changed[knob + " " + value->second];
        const std::string base = roles.flow().base_of(access);
        plan.sites.push_back({name, "", access.line(), subject.pass_of_kernel(kernel),
                              roles.flow().op(access) + (base.empty() ? "" : " of " + base)});
      }
      for (const auto& [what, count] : changed) {
        plan.notes.push_back(name + ": " + what + " (" + std::to_string(count) +
                             (count == 1 ? " access)" : " accesses)") +
                             (request.reason.empty() ? "" : "; " + request.reason));
      }
    }
  }
  if (plan.sites.empty())
    return not_here(subject, rewrite, "no tile access of the kind asked for that has not got this policy");
  if (!editor.problem().empty()) return not_here(subject, rewrite, editor.problem());
  plan.replacements = editor.take();
  return plan;
}

}  // namespace hone::source::rewrite
