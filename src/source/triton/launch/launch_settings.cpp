#include "source/triton/launch/launch_settings.hpp"

#include <algorithm>
#include <set>

#include "source/triton/kernel/kernel_facts.hpp"
#include "source/triton/launch/setting_source.hpp"

namespace hone::source {

namespace {

// Triton's defaults on NVIDIA devices (triton/backends/nvidia/compiler.py, CUDAOptions).
constexpr const char* kDefaultWarps = "4";
constexpr const char* kDefaultStages = "3";

bool has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

// Compile-time parameters that are sizes of tiles: by their names, or perhaps because tl.arange runs to them.
struct TileParameters {
  std::set<std::string> named, ranged;
};

TileParameters tile_parameters(const LaunchSite& site) {
  TileParameters tiles;
  const model::KernelFact& kernel = *site.kernel;
  for (const std::string& name : kernel.constexpr_params) {
    if (has(name, "BLOCK") || has(name, "TILE") || has(name, "POW2") || has(name, "GROUP_SIZE") ||
        name.rfind("pad_", 0) == 0 || name.rfind("block_", 0) == 0) {
      tiles.named.insert(name);
    }
  }
  for (Node call : site.kernel_function.module->calls(site.kernel_function.index)) {
    if (language_op(*site.kernel_function.module, call.child(Field::function)) != "arange") continue;
    for (Node bound : arguments_of(call).positional) {
      const std::string name = dotted_name(strip_parentheses(bound));
      const bool constant = std::find(kernel.constexpr_params.begin(), kernel.constexpr_params.end(), name) !=
                            kernel.constexpr_params.end();
      if (constant && tiles.named.count(name) == 0) tiles.ranged.insert(name);
    }
  }
  return tiles;
}

std::string values_text(const std::string& name, const std::vector<std::string>& values) {
  if (values.size() == 1) return name + " = " + values[0] + " in every config";
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return name + " in [" + text + "]";
}

class SettingsReader {
 public:
  SettingsReader(const LaunchSite& site, const Arguments& arguments, const std::vector<StarDictionary>& stars)
      : site_(site), arguments_(arguments), stars_(stars), origins_(site.modules) {}

  void read(model::LaunchFact& fact) {
    if (site_.kernel != nullptr) {
      const TileParameters tiles = tile_parameters(site_);
      for (const std::string& param : site_.kernel->params) {
        if (tiles.named.count(param) > 0) fact.block_sources.push_back(setting(param));
        if (tiles.ranged.count(param) == 0) continue;
        // A range may also run over a dimension of the problem; a chosen value shows that it is a tile.
        model::SettingSource source = setting(param);
        if (source.source != kOther) fact.block_sources.push_back(std::move(source));
      }
      read_kernel_local_tiles(fact);
    }
    fact.num_warps = setting("num_warps");
    fact.num_stages = setting("num_stages");
    fact.num_warps_effective = effective(fact.num_warps, kDefaultWarps);
    fact.num_stages_effective = effective(fact.num_stages, kDefaultStages);
    read_stage_liveness(fact);
  }

 private:
  model::SettingSource from_expression(const std::string& name, Node value, const char* passed_as) {
    const Origin origin = origins_.find(site_.module, site_.scope, value);
    return {name, text_of(strip_parentheses(value)), origin.source, origin.detail, passed_as, false, origin.rounded_up};
  }

  bool is_parameter(const std::string& name) const {
    return site_.kernel != nullptr &&
           std::find(site_.kernel->params.begin(), site_.kernel->params.end(), name) != site_.kernel->params.end();
  }

  model::SettingSource setting(const std::string& name) {
    const bool option = name == "num_warps" || name == "num_stages";
    const bool bound = is_parameter(name);
    model::SettingSource source = look_up(name, option, bound);
    if (!option || !bound) return source;
    // Triton reads its options from the keywords of the launch (JITFunction.run: parse_options(kwargs)), and a keyword
    // that is a parameter too stays among them. By position, or by the kernel's own default, nothing is there to read.
    const bool as_keyword = source.passed_as == "keyword" || source.passed_as == "star_kwargs" ||
                            source.passed_as == "autotune" || source.source == kFromHelper;
    source.bound_to_kernel_parameter = !as_keyword;
    source.detail += (source.detail.empty() ? "" : "; ") +
                     std::string(as_keyword ? "the launch's option and the kernel's parameter of that name"
                                            : "bound to the kernel's parameter of that name, so no launch option");
    return source;
  }

  model::SettingSource look_up(const std::string& name, bool option, bool bound) {
    if (const Node* value = arguments_.keyword(name)) return from_expression(name, *value, "keyword");
    if (bound) {
      const auto& params = site_.kernel->params;
      const auto position = static_cast<std::size_t>(std::find(params.begin(), params.end(), name) - params.begin());
      if (position < arguments_.positional.size() && !has_splat_before(position)) {
        return from_expression(name, arguments_.positional[position], option ? "positional-constexpr" : "positional");
      }
    }
    std::string elsewhere;
    for (const StarDictionary& star : stars_) {
      for (const StarEntry& entry : star.entries) {
        if (entry.key != name) continue;
        if (entry.elsewhere) {
          elsewhere = "; only on other vendors' devices: " + entry.text + " (" + entry.how + ")";
          continue;
        }
        model::SettingSource source = from_expression(name, entry.value, "star_kwargs");
        source.text = entry.text;
        source.detail += ", " + entry.how;
        return source;
      }
    }
    if (site_.kernel != nullptr && site_.kernel->autotune) {
      const model::AutotuneFact& tuned = *site_.kernel->autotune;
      const auto values = tuned.values.find(name);
      if (values != tuned.values.end()) {
        return {name,
                std::nullopt,
                kFromAutotune,
                tuned.configs.substr(0, 60) + ": " + values_text(name, values->second),
                "autotune",
                false,
                {}};
      }
      if (!tuned.n_configs && !option)
        return {name, std::nullopt, kFromAutotune, tuned.configs.substr(0, 60), "autotune", false, {}};
    }
    if (site_.kernel != nullptr) {
      const auto& heuristics = site_.kernel->heuristics_params;
      if (std::find(heuristics.begin(), heuristics.end(), name) != heuristics.end()) {
        return {name, std::nullopt, kFromHelper, "@triton.heuristics of the kernel", std::nullopt, false, {}};
      }
      for (const auto& [param, text] : site_.kernel->param_defaults) {
        if (param == name)
          return {name, std::nullopt, kByDefault, "the kernel's own default " + text, std::nullopt, false, {}};
      }
    }
    const std::string what = name == "num_warps"    ? "not passed at launch: Triton's default on NVIDIA devices, 4"
                             : name == "num_stages" ? "not passed at launch: Triton's default on NVIDIA devices, 3"
                                                    : "not passed in a way that can be followed";
    return {name, std::nullopt, option ? kByDefault : kOther, what + elsewhere, std::nullopt, false, {}};
  }

  bool has_splat_before(std::size_t position) const {
    for (std::size_t i = 0; i <= position; ++i) {
      if (arguments_.positional[i].is(Kind::list_splat)) return true;
    }
    return false;
  }

  // `BLOCK_SIZE: tl.constexpr = A * B` in the kernel's body: a tile size that no caller sees.
  void read_kernel_local_tiles(model::LaunchFact& fact) {
    const Module& module = *site_.kernel_function.module;
    for (Node statement : module.statements(site_.kernel_function.index)) {
      const Node target = statement.is(Kind::assignment) ? statement.child(Field::left) : Node();
      const Node annotation = statement.child(Field::type);
      if (!target.is(Kind::identifier) || !annotation || !is_constexpr(module, annotation)) continue;
      const std::string name(target.text());
      if (!has(name, "BLOCK")) continue;
      fact.block_sources.push_back({name,
                                    std::nullopt,
                                    kOther,
                                    "derived inside the kernel: " + text_of(statement) + " (" + module.path() + ":" +
                                        std::to_string(statement.line()) + ")",
                                    "kernel-local constexpr",
                                    false,
                                    {}});
    }
  }

  std::string effective(const model::SettingSource& source, const char* by_default) const {
    if (source.source == kByDefault) return by_default;
    if (source.bound_to_kernel_parameter)
      return std::string(by_default) + " (the value given reaches only the kernel's parameter)";
    if (source.passed_as == "autotune")
      return source.detail.substr(source.detail.rfind(": ") == std::string::npos ? 0 : source.detail.rfind(": ") + 2);
    if (!source.text) return source.detail;
    // Of an entry of a dictionary, shown as `options["num_warps"] = 8`, the value.
    const std::size_t stored = source.passed_as == "star_kwargs" ? source.text->find("\"] = ") : std::string::npos;
    return stored == std::string::npos ? *source.text : source.text->substr(stored + 5);
  }

  // num_stages is the depth of software pipelining; it acts on loops that load or multiply, and on nothing else.
  void read_stage_liveness(model::LaunchFact& fact) const {
    if (site_.kernel == nullptr) {
      fact.num_stages_reason = "the kernel's source is not here";
      return;
    }
    if (site_.kernel->loops.empty()) {
      fact.num_stages_live = model::Liveness::dead;
      fact.num_stages_reason = "the kernel has no loop, so there is nothing to pipeline";
      return;
    }
    for (const model::LoopFact& loop : site_.kernel->loops) {
      const bool pipelined = (loop.kind == "range" || loop.kind == "tl.range") && loop.loads_inside;
      if (!pipelined) continue;
      fact.num_stages_live = model::Liveness::unknown;
      fact.num_stages_reason = "the loop at line " + std::to_string(loop.line) +
                               " loads, so it can be pipelined; compare machine code to know";
      if (!site_.kernel->dot_lines.empty()) {
        fact.num_stages_live = model::Liveness::live;
        fact.num_stages_reason =
            "the loop at line " + std::to_string(loop.line) + " feeds a matrix product and is pipelined";
      }
      return;
    }
    fact.num_stages_live = model::Liveness::dead;
    fact.num_stages_reason = "no loop of the kernel that could be pipelined loads anything";
  }

  const LaunchSite& site_;
  const Arguments& arguments_;
  const std::vector<StarDictionary>& stars_;
  OriginFinder origins_;
};

}  // namespace

void read_settings(const LaunchSite& site, const Arguments& arguments, const std::vector<StarDictionary>& stars,
                   model::LaunchFact& fact) {
  SettingsReader(site, arguments, stars).read(fact);
}

}  // namespace hone::source
