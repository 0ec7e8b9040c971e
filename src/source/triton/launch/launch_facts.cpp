#include "source/triton/launch/launch_facts.hpp"

#include <algorithm>
#include <functional>

#include "source/triton/kernel/kernel_facts.hpp"
#include "source/triton/launch/launch_grid.hpp"
#include "source/triton/launch/launch_settings.hpp"
#include "source/triton/launch/setting_source.hpp"
#include "source/triton/launch/star_kwargs.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

// Binds arguments to the kernel's parameters the way the launcher does.
void bind_parameters(const Arguments& arguments, const std::vector<StarDictionary>& stars,
                     const model::KernelFact* kernel, model::LaunchFact& fact) {
  if (kernel == nullptr) return;
  const std::vector<std::string>& params = kernel->params;
  std::map<std::string, std::string> bound;
  std::vector<std::string> free;  // what only a positional argument can fill
  const auto has_keyword = [&](const std::string& name) { return arguments.keyword(name) != nullptr; };
  const auto star_entry = [&](const std::string& name) {
    return std::any_of(stars.begin(), stars.end(), [&](const StarDictionary& star) {
      return std::any_of(star.entries.begin(), star.entries.end(),
                         [&](const StarEntry& e) { return e.key == name && !e.elsewhere; });
    });
  };
  const auto tuned = [&](const std::string& name) {
    return kernel->autotune && kernel->autotune->values.count(name) > 0;
  };
  const auto by_heuristic = [&](const std::string& name) {
    return std::find(kernel->heuristics_params.begin(), kernel->heuristics_params.end(), name) !=
           kernel->heuristics_params.end();
  };
  const auto default_of = [&](const std::string& name) -> const std::string* {
    for (const auto& [param, text] : kernel->param_defaults) {
      if (param == name) return &text;
    }
    return nullptr;
  };
  for (const std::string& param : params) {
    if (!has_keyword(param) && !star_entry(param) && !tuned(param) && !by_heuristic(param)) free.push_back(param);
  }
  std::size_t plain = 0, splats = 0;
  for (const Node& argument : arguments.positional) (argument.is(Kind::list_splat) ? splats : plain) += 1;
  // A single `*x` fills what the others leave; parameters with defaults at the end can do without it.
  std::size_t needed = free.size();
  while (needed > 0 && default_of(free[needed - 1]) != nullptr) --needed;
  const std::size_t splat_size = splats == 1 && needed > plain ? needed - plain : 0;
  std::size_t at = 0;
  for (const Node& argument : arguments.positional) {
    const std::string text = text_of(strip_parentheses(argument));
    const std::size_t count = argument.is(Kind::list_splat) ? splat_size : 1;
    for (std::size_t i = 0; i < count && at < params.size(); ++i, ++at) {
      bound[params[at]] = argument.is(Kind::list_splat) ? text + " [" + std::to_string(i) + "]" : text;
    }
  }
  for (const auto& [name, value] : arguments.keywords) {
    if (std::find(params.begin(), params.end(), name) != params.end()) {
      bound[name] = text_of(strip_parentheses(value));
    } else {
      fact.launch_options.emplace_back(name, text_of(strip_parentheses(value)));
    }
  }
  for (const std::string& param : params) {
    if (bound.count(param) > 0) continue;
    if (star_entry(param)) {
      bound[param] = "<from **kwargs>";
    } else if (tuned(param)) {
      bound[param] = "<autotune>";
    } else if (by_heuristic(param)) {
      bound[param] = "<heuristics>";
    } else if (const std::string* text = default_of(param)) {
      bound[param] = "<default " + *text + ">";
    } else if (kernel->autotune && !kernel->autotune->n_configs) {
      bound[param] = "<autotune>";
    } else if (!stars.empty()) {
      bound[param] = "<from **kwargs>";
    }
  }
  for (const std::string& param : params) {
    const auto value = bound.find(param);
    if (value != bound.end()) fact.bound_params.emplace_back(param, value->second);
  }
}

std::string enclosing_name(const Module& module, int scope) {
  return scope == kNoFunction ? "<module>" : module.functions()[static_cast<std::size_t>(scope)].qualified_name;
}

// What the reader of a launch should know that its arguments do not tell.
model::OptionalText note_on(Node call) {
  std::string note;
  for (Node at = call.parent(); at && !at.is(Kind::function_definition); at = at.parent()) {
    if (at.is(Kind::for_statement) || at.is(Kind::while_statement)) {
      note += std::string(note.empty() ? "" : "; ") + "launched once per turn of the host loop at line " +
              std::to_string(at.line());
    }
    if (at.is(Kind::if_statement) && at.child(Field::consequence).contains(call)) {
      note += std::string(note.empty() ? "" : "; ") + "only if " + text_of(at.child(Field::condition)) + " (line " +
              std::to_string(at.line()) + ")";
    }
  }
  return note.empty() ? model::OptionalText() : model::OptionalText(note);
}

// A launch of something whose definition is not here: an imported name, subscripted with what can only be a grid.
bool looks_like_launch(ModuleSet& modules, const Module& module, Node call, int scope) {
  const Node callee = strip_parentheses(call.child(Field::function));
  if (!callee.is(Kind::subscript) || scope == kNoFunction) return false;
  const Node name = callee.child(Field::value);
  if (!name.is(Kind::identifier) || !modules.is_unresolved_import(module, std::string(name.text()))) return false;
  const std::string origin = module.canonical(name);
  for (const char* library : {"typing.", "torch.", "numpy.", "collections."}) {
    if (origin.rfind(library, 0) == 0) return false;
  }
  const Node grid = resolved_grid(module, scope, call);
  return grid.is(Kind::tuple) || grid.is(Kind::lambda);
}

Launch read_launch(ModuleSet& modules, KernelCatalog& catalog, const Module& module, Node call, int scope,
                   const FunctionRef& kernel) {
  Launch launch{{}, &module, scope, call, kernel};
  model::LaunchFact& fact = launch.fact;
  const Node subscript = strip_parentheses(call.child(Field::function));
  const model::KernelFact* known = kernel ? &catalog.facts(kernel) : nullptr;
  fact.kernel = kernel ? kernel->name : std::string(subscript.child(Field::value).text());
  fact.file = module.path();
  fact.in_function = enclosing_name(module, scope);
  fact.line = call.line();
  fact.call_paren_line = subscript.end_line();
  fact.end_line = call.end_line();
  if (kernel) {
    fact.kernel_defined_in = kernel.module->path();
    fact.kernel_def_line = kernel->definition.line();
  }
  read_grid(module, scope, call, fact);
  const Arguments arguments = arguments_of(call);
  for (const Node& argument : arguments.positional)
    fact.positional_args.push_back(text_of(strip_parentheses(argument)));
  for (const auto& [name, value] : arguments.keywords)
    fact.keyword_args.emplace_back(name, text_of(strip_parentheses(value)));
  std::vector<StarDictionary> stars;
  for (const Node& splat : arguments.double_splats) {
    fact.star_kwargs.push_back(text_of(splat));
    stars.push_back(read_star_dictionary(module, scope, splat, call));
    std::string content, elsewhere;
    for (const StarEntry& entry : stars.back().entries) {
      std::string& list = entry.elsewhere ? elsewhere : content;
      list += (list.empty() ? "" : ", ") + ("\"" + entry.key + "\": ") + text_of(entry.value);
    }
    content = "{" + content + "}";
    if (!elsewhere.empty()) content += " ; on other vendors' devices also " + elsewhere;
    if (!stars.back().complete) content += " ; and what can not be followed";
    fact.star_kwargs_resolved.emplace_back(text_of(splat), content);
  }
  bind_parameters(arguments, stars, known, fact);
  read_settings({modules, module, scope, call, known, kernel}, arguments, stars, fact);
  fact.note = note_on(call);
  return launch;
}

}  // namespace

const model::KernelFact& KernelCatalog::facts(const FunctionRef& kernel) {
  auto& known = known_[kernel];
  if (!known) known = std::make_unique<model::KernelFact>(read_kernel(modules_, *kernel.module, kernel.index));
  return *known;
}

std::vector<Launch> read_launches(ModuleSet& modules, KernelCatalog& catalog, const Module& module) {
  std::vector<Launch> launches;
  for (int scope = kNoFunction; scope < static_cast<int>(module.functions().size()); ++scope) {
    if (scope != kNoFunction && is_jit(module, module.functions()[static_cast<std::size_t>(scope)])) continue;
    for (Node call : module.calls(scope)) {
      const std::vector<FunctionRef> kernels = launched_kernels(modules, module, call, scope);
      for (const FunctionRef& kernel : kernels) {
        launches.push_back(read_launch(modules, catalog, module, call, scope, kernel));
        if (kernels.size() > 1) {
          auto& note = launches.back().fact.note;
          note = "one of " + std::to_string(kernels.size()) + " kernels the name can stand for" +
                 (note ? "; " + *note : "");
        }
      }
      if (kernels.empty() && looks_like_launch(modules, module, call, scope)) {
        launches.push_back(read_launch(modules, catalog, module, call, scope, FunctionRef{}));
        launches.back().fact.note = "the kernel's definition is not among the files read";
      }
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const Launch& a, const Launch& b) { return a.call.start() < b.call.start(); });
  return launches;
}

std::vector<model::IndirectLaunch> read_indirect_launches(ModuleSet& modules, const Module& module,
                                                          const std::vector<const Module*>& own) {
  std::vector<model::IndirectLaunch> found;
  const auto is_own = [&](const Module* candidate) {
    return std::find(own.begin(), own.end(), candidate) != own.end();
  };
  // The kernels a function launches, itself or through functions of its own file.
  const auto kernels_of = [&](const FunctionRef& function) {
    std::vector<std::string> names;
    std::vector<FunctionRef> seen, open = {function};
    while (!open.empty() && seen.size() < 64) {
      const FunctionRef at = open.back();
      open.pop_back();
      if (std::find(seen.begin(), seen.end(), at) != seen.end()) continue;
      seen.push_back(at);
      for (Node call : at.module->calls(at.index)) {
        for (const FunctionRef& kernel : launched_kernels(modules, *at.module, call, at.index)) {
          if (std::find(names.begin(), names.end(), kernel->name) == names.end()) names.push_back(kernel->name);
        }
        const Node callee = strip_parentheses(call.child(Field::function));
        if (!callee.is(Kind::identifier)) continue;
        const FunctionRef inner = modules.function_named(*at.module, callee, at.index);
        if (inner && !is_jit(*inner.module, *inner)) open.push_back(inner);
      }
    }
    return names;
  };
  std::map<FunctionRef, std::vector<std::string>> known;
  for (int scope = kNoFunction; scope < static_cast<int>(module.functions().size()); ++scope) {
    for (Node call : module.calls(scope)) {
      const Node callee = strip_parentheses(call.child(Field::function));
      if (!callee.is(Kind::identifier) && !callee.is(Kind::attribute)) continue;
      const FunctionRef function = modules.function_named(module, callee, scope);
      if (!function || is_own(function.module) || is_jit(*function.module, *function)) continue;
      auto kernels = known.find(function);
      if (kernels == known.end()) kernels = known.emplace(function, kernels_of(function)).first;
      if (kernels->second.empty()) continue;
      found.push_back({callee_line(call), module.path(), function->name, function.module->path(), kernels->second});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return found;
}

}  // namespace hone::source
