#include "source/triton/host/in_place.hpp"

#include <algorithm>
#include <set>

#include "source/triton/host/buffer_origin.hpp"
#include "source/triton/launch/setting_source.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

bool is_flag_name(const std::string& name) {
  return name == "in_place" || name == "inplace" || name == "in_place_backward" || name == "inplace_backward";
}

// The argument bound to a kernel parameter, where no `*x` stands before it.
Node argument_for(const Launch& launch, const model::KernelFact& kernel, const std::string& param) {
  const Arguments arguments = arguments_of(launch.call);
  if (const Node* named = arguments.keyword(param)) return *named;
  const auto at =
      static_cast<std::size_t>(std::find(kernel.params.begin(), kernel.params.end(), param) - kernel.params.begin());
  if (at >= arguments.positional.size()) return {};
  for (std::size_t i = 0; i <= at; ++i) {
    if (arguments.positional[i].is(Kind::list_splat)) return {};
  }
  return arguments.positional[at];
}

class InPlaceReader {
 public:
  InPlaceReader(ModuleSet& modules, KernelCatalog& catalog) : catalog_(catalog), tracer_(modules) {}

  model::InPlaceFact read(const std::vector<const Module*>& own, const std::vector<Launch>& launches,
                          const std::vector<model::AutogradFact>& functions) {
    read_flag(own, functions);
    for (const Launch& launch : launches) {
      if (launch.kernel) read_launch(launch);
    }
    return std::move(fact_);
  }

 private:
  void read_flag(const std::vector<const Module*>& own, const std::vector<model::AutogradFact>& functions) {
    for (const model::AutogradFact& function : functions) {
      if (!function.forward) continue;
      for (const model::FunctionParameter& parameter : function.forward->params) {
        if (!is_flag_name(parameter.name) || fact_.flag) continue;
        fact_.flag = parameter.name;
        fact_.flag_default = parameter.default_value;
        fact_.evidence.push_back({function.file, function.forward->line, parameter.name,
                                  "flag of " + function.name + ".forward, default " +
                                      parameter.default_value.value_or("none: the caller must give it")});
      }
    }
    for (const Module* module : own) {
      for (const Function& function : module->functions()) {
        for (const Parameter& parameter : function.params) {
          if (fact_.flag || !is_flag_name(parameter.name)) continue;
          fact_.flag = parameter.name;
          if (parameter.default_value) fact_.flag_default = text_of(parameter.default_value);
          fact_.evidence.push_back(
              {module->path(), parameter.node.line(), parameter.name, "flag of " + function.qualified_name});
        }
      }
    }
  }

  // Does a condition on the way depend on the flag? Words are compared, so that "inplace_ok" is not "inplace".
  bool flagged(const BufferOrigin& origin) const {
    if (!fact_.flag) return false;
    for (const std::string& condition : origin.conditions) {
      for (std::size_t at = condition.find(*fact_.flag); at != std::string::npos;
           at = condition.find(*fact_.flag, at + 1)) {
        const auto is_word = [&](std::size_t i) {
          return i < condition.size() &&
                 (std::isalnum(static_cast<unsigned char>(condition[i])) || condition[i] == '_');
        };
        if ((at == 0 || !is_word(at - 1)) && !is_word(at + fact_.flag->size())) return true;
      }
    }
    return false;
  }

  void read_launch(const Launch& launch) {
    const model::KernelFact& kernel = catalog_.facts(launch.kernel);
    std::set<std::string> stored;
    for (const model::AccessFact& access : kernel.accesses) {
      if (access.store && !access.base.empty()) stored.insert(access.base);
    }
    for (const std::string& param : kernel.params) {
      if (stored.count(param) == 0) continue;
      const Node argument = argument_for(launch, kernel, param);
      if (!argument) continue;
      for (const BufferOrigin& origin : tracer_.trace(*launch.module, launch.scope, argument))
        add(launch, kernel, param, argument, origin);
    }
    read_hazards(launch, kernel, stored);
  }

  void add(const Launch& launch, const model::KernelFact& kernel, const std::string& param, Node argument,
           const BufferOrigin& origin) {
    if (origin.kind == BufferKind::fresh) return;
    const bool by_flag = flagged(origin);
    const char* what = origin.kind == BufferKind::forward_input ? "overwrites an input of forward"
                       : origin.kind == BufferKind::saved_tensor
                           ? "overwrites a tensor saved for backward with a gradient"
                           : "overwrites the incoming gradient";
    if (origin.kind == BufferKind::forward_input) {
      fact_.forward_overwrites_input = true;
    } else {
      fact_.gradient_written_into_existing_buffer = true;
    }
    if (!by_flag) fact_.unconditional = true;
    const std::string text = kernel.name + ": " + param + " = " + text_of(argument);
    for (const model::InPlaceEvidence& known : fact_.evidence) {
      if (known.line == launch.fact.line && known.text == text && known.what.rfind(what, 0) == 0) return;
    }
    fact_.evidence.push_back({launch.fact.file, launch.fact.line, text,
                              std::string(what) + (by_flag ? " when " + *fact_.flag + " is set" : "")});
    if (origin.kind == BufferKind::saved_tensor && !by_flag) {
      fact_.reads_of_overwritten.push_back(
          {launch.fact.file, launch.fact.line, text_of(argument),
           "a second backward pass through the same graph reads the gradient where the saved tensor was"});
    }
  }

  // Loads that come after a store to the same memory in the kernel's text: through the same parameter, or through
  // another one that the launch gives the same buffer.
  void read_hazards(const Launch& launch, const model::KernelFact& kernel, const std::set<std::string>& stored) {
    std::map<std::string, std::string> bound;
    for (const std::string& param : kernel.params) {
      const Node argument = argument_for(launch, kernel, param);
      if (argument && argument.is(Kind::identifier)) bound[param] = std::string(argument.text());
    }
    for (const model::AccessFact& load : kernel.accesses) {
      if (load.store || load.base.empty()) continue;
      for (const int earlier : load.after_stores) {
        const model::AccessFact& store = kernel.accesses[static_cast<std::size_t>(earlier)];
        if (store.atomic || stored.count(store.base) == 0) continue;
        const bool same = store.base == load.base;
        const bool aliased =
            !same && bound.count(store.base) > 0 && bound.count(load.base) > 0 && bound[store.base] == bound[load.base];
        if (!same && !aliased) continue;
        const std::string text = load.base + " at line " + std::to_string(load.line);
        const bool listed =
            std::any_of(fact_.reads_of_overwritten.begin(), fact_.reads_of_overwritten.end(),
                        [&](const model::InPlaceEvidence& e) { return e.line == load.line && e.file == kernel.file; });
        if (!listed) {
          fact_.reads_of_overwritten.push_back(
              {kernel.file, load.line, text,
               kernel.name + " stores to this memory at line " + std::to_string(store.line) +
                   " and loads from it here: right only where the elements differ or a barrier stands between"});
        }
        break;
      }
    }
  }

  KernelCatalog& catalog_;
  BufferTracer tracer_;
  model::InPlaceFact fact_;
};

}  // namespace

model::InPlaceFact read_in_place(ModuleSet& modules, KernelCatalog& catalog, const std::vector<const Module*>& own,
                                 const std::vector<Launch>& launches,
                                 const std::vector<model::AutogradFact>& functions) {
  return InPlaceReader(modules, catalog).read(own, launches, functions);
}

}  // namespace hone::source
