// Where a setting of a launch comes from: followed through variables, helper functions, parameters and their callers,
// values that travel from forward to backward through ctx, and across modules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/source_facts.hpp"
#include "source/triton/module/module_set.hpp"

namespace hone::source {

// The words of the audit document.
inline constexpr const char* kFromCalculateSettings = "calculate_settings";
inline constexpr const char* kFromNextPowerOf2 = "next_power_of_2";
inline constexpr const char* kHardCoded = "hard-coded";
inline constexpr const char* kFromAutotune = "autotune";
inline constexpr const char* kFromHelper = "heuristic-helper";
inline constexpr const char* kFromCaller = "caller-parameter";
inline constexpr const char* kConditional = "conditional";
inline constexpr const char* kByDefault = "default";
inline constexpr const char* kOther = "other";

struct Origin {
  std::string source = kOther;
  std::string detail;                 // the way there, in words with lines
  std::optional<long long> constant;  // where it is one number whatever happens
  std::optional<model::RoundedUp> rounded_up = std::nullopt;
};

class OriginFinder {
 public:
  explicit OriginFinder(ModuleSet& modules) : modules_(modules) {}
  // Of an expression standing in function `scope` of `module`.
  Origin find(const Module& module, int scope, Node expression);

 private:
  Origin expression(const Module& module, int scope, Node node, int depth);
  Origin name(const Module& module, int scope, Node node, int depth);
  Origin definition(const Module& module, int scope, const Assignment& assignment, int depth);
  Origin element_of(const Module& module, int scope, Node value, int element, int depth);
  Origin parameter(const Module& module, int scope, const Parameter& parameter, int depth);
  Origin call(const Module& module, int scope, Node node, int element, int depth);
  Origin returned(const FunctionRef& function, int element, int depth);
  Origin context_attribute(const Module& module, int scope, const std::string& attribute, int element, int depth);
  Origin combined(const std::vector<Origin>& parts) const;
  Origin rounded(const Module& module, Node node, Node argument, const std::string& detail);
  std::optional<model::RoundedUp> bounded(const Module& module, const std::vector<Node>& arguments,
                                          const std::vector<Origin>& parts, bool by_min);
  std::optional<long long> number(const Module& module, Node node);
  bool is_context(const Module& module, int scope, Node node) const;

  ModuleSet& modules_;
  int steps_ = 0;
};

// Does the function launch a kernel itself? Such a function is an operation; others are helpers.
bool launches_kernels(ModuleSet& modules, const FunctionRef& function);

// The kernel that a call `kernel[grid](...)` launches; several where the name stands for several; empty for other
// calls.
std::vector<FunctionRef> launched_kernels(ModuleSet& modules, const Module& module, Node call, int scope);

// Is the function, or an enclosing one, a method of a torch.autograd.Function?
bool is_autograd_class(const Module& module, const Class& candidate);

}  // namespace hone::source
