#include "model/source_facts.hpp"

#include <nlohmann/json.hpp>

namespace hone::model {

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson text_or_null(const OptionalText& text) { return text ? OrderedJson(*text) : OrderedJson(nullptr); }

OrderedJson object_of(const NamedTexts& texts) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [name, text] : texts) object[name] = text;
  return object;
}

// Axes are digits, or the text of an expression.
OrderedJson axes_of(const std::vector<std::string>& axes) {
  OrderedJson list = OrderedJson::array();
  for (const std::string& axis : axes) {
    const bool digits = !axis.empty() && axis.size() < 6 && axis.find_first_not_of("0123456789") == std::string::npos;
    list.push_back(digits ? OrderedJson(std::stoi(axis)) : OrderedJson(axis));
  }
  return list;
}

OrderedJson item_json(const AtomicFact&);
OrderedJson item_json(const AutogradFact&);
OrderedJson item_json(const CacheHint&);
OrderedJson item_json(const CommentedAutotune&);
OrderedJson item_json(const CppKernelFact&);
OrderedJson item_json(const CudaLaunchFact&);
OrderedJson item_json(const InPlaceEvidence&);
OrderedJson item_json(const IndirectLaunch&);
OrderedJson item_json(const KernelFact&);
OrderedJson item_json(const LaunchFact&);
OrderedJson item_json(const LoopFact&);
OrderedJson item_json(const MathFact&);
OrderedJson item_json(const ElementAccess&);
OrderedJson item_json(const Opportunity&);
OrderedJson item_json(const ReductionFact&);
OrderedJson item_json(const SettingSource&);
OrderedJson item_json(const SourceFile&);
OrderedJson item_json(const SourceProblem&);
OrderedJson item_json(const StrategyStep&);
OrderedJson item_json(const TodoComment&);

template <class T>
OrderedJson list_of(const std::vector<T>& items) {
  OrderedJson list = OrderedJson::array();
  for (const T& item : items) list.push_back(item_json(item));
  return list;
}

OrderedJson item_json(const SourceProblem& p) {
  return {{"file", p.file}, {"line", p.line}, {"column", p.column}, {"what", p.what}};
}
OrderedJson item_json(const SourceFile& f) { return {{"path", f.path}, {"sha256", f.sha256}, {"lines", f.lines}}; }
OrderedJson item_json(const ReductionFact& r) {
  return {{"line", r.line}, {"op", r.op}, {"kind", r.kind}, {"axis", text_or_null(r.axis)}, {"text", r.text}};
}
OrderedJson item_json(const LoopFact& l) {
  return {{"line", l.line}, {"stmt", l.stmt}, {"kind", l.kind}, {"depth", l.depth}, {"target", text_or_null(l.target)},
          {"iter", l.iter}};
}
OrderedJson item_json(const CacheHint& h) {
  return {{"line", h.line}, {"kwarg_line", h.keyword_line}, {"call", h.call}, {"kwarg", h.keyword}, {"value", h.value}};
}
OrderedJson item_json(const MathFact& m) { return {{"line", m.line}, {"op", m.op}, {"spelled", m.spelled}}; }
OrderedJson item_json(const AtomicFact& a) {
  return {{"line", a.line}, {"op", a.op}, {"kwargs", object_of(a.keywords)}};
}

OrderedJson item_json(const KernelFact& k) {
  OrderedJson j = {{"name", k.name},
                   {"file", k.file},
                   {"line", k.line},
                   {"decorator_line", k.decorator_line},
                   {"end_line", k.end_line},
                   {"decorators", k.decorators},
                   {"decorator_lines", k.decorator_lines},
                   {"decorator_texts", k.decorator_texts},
                   {"params", k.params},
                   {"constexpr_params", k.constexpr_params},
                   {"param_defaults", object_of(k.param_defaults)},
                   {"other_annotations", object_of(k.other_annotations)},
                   {"unused_params", k.unused_params},
                   {"is_device_helper", k.is_device_helper}};
  j["autotune"] = nullptr;
  if (k.autotune) {
    OrderedJson tuned = {{"configs", k.autotune->configs}, {"n_configs", nullptr}};
    if (k.autotune->n_configs) tuned["n_configs"] = *k.autotune->n_configs;
    if (k.autotune->n_configs_if_env_disabled)
      tuned["n_configs_if_env_disabled"] = *k.autotune->n_configs_if_env_disabled;
    tuned["key"] = k.autotune->key;
    tuned["reset_to_zero"] = k.autotune->reset_to_zero;
    tuned["values"] = k.autotune->values;
    j["autotune"] = std::move(tuned);
  }
  j["heuristics"] = k.heuristics;
  if (k.heuristics) j["heuristics_params"] = k.heuristics_params;
  j["program_id_axes"] = axes_of(k.program_id_axes);
  j["program_id_lines"] = k.program_id_lines;
  j["num_programs_axes"] = axes_of(k.num_programs_axes);
  j["reductions"] = list_of(k.reductions);
  j["has_loop"] = !k.loops.empty();
  j["loops"] = list_of(k.loops);
  j["uses_dot"] = !k.dot_lines.empty();
  j["dot_lines"] = k.dot_lines;
  j["loads"] = k.load_lines.size();
  j["load_lines"] = k.load_lines;
  j["stores"] = k.store_lines.size();
  j["store_lines"] = k.store_lines;
  if (!k.descriptor_load_lines.empty()) j["descriptor_load_lines"] = k.descriptor_load_lines;
  if (!k.descriptor_store_lines.empty()) j["descriptor_store_lines"] = k.descriptor_store_lines;
  j["cache_hints"] = list_of(k.cache_hints);
  j["precision_ops"] = list_of(k.precision_ops);
  OrderedJson via = OrderedJson::array(), calls = OrderedJson::array();
  for (const HelperCall& call : k.calls_jit_helpers) {
    OrderedJson entry = {{"line", call.line}, {"name", call.name}};
    if (call.via) entry["via"] = *call.via;
    calls.push_back(std::move(entry));
    via.push_back({{"line", call.line}, {"helper", call.name}, {"ops", call.precision_ops}});
  }
  j["precision_ops_via_helpers"] = std::move(via);
  j["other_math"] = list_of(k.other_math);
  j["atomics"] = list_of(k.atomics);
  j["barrier_lines"] = k.barrier_lines;
  j["early_return_lines"] = k.early_return_lines;
  j["calls_jit_helpers"] = std::move(calls);
  j["casts_to_float32"] = !k.float32_cast_lines.empty();
  j["float32_cast_lines"] = k.float32_cast_lines;
  j["float32_alloc_lines"] = k.float32_alloc_lines;
  j["int32_offset_lines"] = k.int32_offset_lines;
  return j;
}

OrderedJson setting_json(const SettingSource& s, bool with_param) {
  OrderedJson j = OrderedJson::object();
  if (with_param) j["param"] = s.param;
  j["text"] = text_or_null(s.text);
  j["source"] = s.source;
  j["detail"] = s.detail;
  j["passed_as"] = text_or_null(s.passed_as);
  if (s.bound_to_kernel_parameter) j["bound_to_kernel_parameter"] = true;
  if (!s.rounded_up) return j;
  OrderedJson masked = OrderedJson::array();
  for (const MaskedLanes& lanes : s.rounded_up->masked) masked.push_back({{"size", lanes.size}, {"pct", lanes.pct}});
  const auto& largest = s.rounded_up->largest;
  j["rounded_up"] = {{"of", s.rounded_up->of},
                     {"largest", largest ? OrderedJson(*largest) : OrderedJson(nullptr)},
                     {"masked_lanes", std::move(masked)}};
  return j;
}

OrderedJson item_json(const SettingSource& s) { return setting_json(s, true); }

OrderedJson item_json(const LaunchFact& l) {
  OrderedJson j = {{"kernel", l.kernel},
                   {"file", l.file},
                   {"line", l.line},
                   {"call_paren_line", l.call_paren_line},
                   {"end_line", l.end_line},
                   {"in_function", l.in_function},
                   {"kernel_defined_in", text_or_null(l.kernel_defined_in)}};
  j["kernel_def_line"] = l.kernel_defined_in ? OrderedJson(l.kernel_def_line) : OrderedJson(nullptr);
  j["grid_text"] = l.grid_text;
  j["grid_form"] = l.grid_form;
  j["grid_resolved"] = l.grid_resolved;
  j["grid_unparsed"] = l.grid_unparsed;
  j["grid_assigned_line"] = l.grid_assigned_line;
  j["grid_ndim"] = l.grid_ndim ? OrderedJson(*l.grid_ndim) : OrderedJson(nullptr);
  j["grid_is_lambda"] = l.grid_is_lambda;
  j["positional_args"] = l.positional_args;
  j["keyword_args"] = object_of(l.keyword_args);
  j["star_kwargs"] = l.star_kwargs;
  j["star_kwargs_resolved"] = l.star_kwargs.empty() ? OrderedJson(nullptr) : object_of(l.star_kwargs_resolved);
  j["bound_params"] = object_of(l.bound_params);
  j["launch_options"] = object_of(l.launch_options);
  j["block_sources"] = list_of(l.block_sources);
  j["num_warps"] = setting_json(l.num_warps, false);
  j["num_warps"]["effective"] = l.num_warps_effective;
  j["num_stages"] = setting_json(l.num_stages, false);
  j["num_stages"]["effective"] = l.num_stages_effective;
  j["num_stages"]["live"] = word(l.num_stages_live);
  j["num_stages"]["reason"] = l.num_stages_reason;
  j["note"] = text_or_null(l.note);
  return j;
}

OrderedJson item_json(const IndirectLaunch& l) {
  return {
      {"line", l.line}, {"file", l.file}, {"callee", l.callee}, {"callee_file", l.callee_file}, {"kernels", l.kernels}};
}

OrderedJson method_json(const std::optional<MethodFact>& method) {
  if (!method) return nullptr;
  OrderedJson params = OrderedJson::array();
  for (const FunctionParameter& p : method->params) {
    params.push_back({{"name", p.name},
                      {"annotation", text_or_null(p.annotation)},
                      {"default", text_or_null(p.default_value)},
                      {"kind", p.kind}});
  }
  return {{"line", method->line}, {"decorators", method->decorators}, {"params", std::move(params)}};
}

OrderedJson item_json(const AutogradFact& a) {
  OrderedJson saved = OrderedJson::array(), attributes = OrderedJson::array(), calls = OrderedJson::array();
  for (const SavedTensors& s : a.save_for_backward) saved.push_back({{"line", s.line}, {"args", s.args}});
  for (const ContextAttribute& c : a.ctx_attributes) {
    attributes.push_back({{"name", c.name}, {"line", c.line}, {"value", c.value}, {"method", c.method}});
  }
  for (const ContextCall& c : a.ctx_calls) calls.push_back({{"line", c.line}, {"text", c.text}});
  return {{"name", a.name},
          {"file", a.file},
          {"line", a.line},
          {"end_line", a.end_line},
          {"forward", method_json(a.forward)},
          {"backward", method_json(a.backward)},
          {"save_for_backward", std::move(saved)},
          {"ctx_attributes", std::move(attributes)},
          {"ctx_calls", std::move(calls)},
          {"backward_is_staticmethod", a.backward_is_staticmethod}};
}

OrderedJson item_json(const InPlaceEvidence& e) {
  return {{"file", e.file}, {"line", e.line}, {"text", e.text}, {"what", e.what}};
}
OrderedJson item_json(const TodoComment& t) {
  return {{"file", t.file},
          {"line", t.line},
          {"tag", t.tag},
          {"text", t.text},
          {"performance", t.performance},
          {"in_docstring", t.in_docstring}};
}
OrderedJson item_json(const CommentedAutotune& c) {
  return {{"file", c.file},
          {"line", c.line},
          {"end_line", c.end_line},
          {"text", c.text},
          {"above_kernel", text_or_null(c.above_kernel)}};
}

OrderedJson item_json(const ElementAccess& a) {
  return {{"line", a.line},           {"store", a.store},           {"base", a.base},      {"index", a.index},
          {"loop_line", a.loop_line}, {"loop_depth", a.loop_depth}, {"step", word(a.step)}};
}

OrderedJson item_json(const CppKernelFact& k) {
  OrderedJson params = OrderedJson::array(), shared = OrderedJson::array(), unroll = OrderedJson::array();
  for (const CppParameter& p : k.params) {
    params.push_back({{"name", p.name},
                      {"type", p.type},
                      {"pointer", p.pointer},
                      {"const", p.is_const},
                      {"restrict", p.restricted}});
  }
  for (const CudaSharedArray& s : k.shared_arrays) {
    shared.push_back(
        {{"name", s.name}, {"type", s.type}, {"extent", s.extent}, {"line", s.line}, {"dynamic", s.dynamic}});
  }
  for (const auto& [line, factor] : k.unroll_pragmas) unroll.push_back({{"line", std::stoi(line)}, {"factor", factor}});
  return {{"name", k.name},
          {"file", k.file},
          {"line", k.line},
          {"end_line", k.end_line},
          {"template_parameters", k.template_parameters},
          {"params", std::move(params)},
          {"launch_bounds", k.launch_bounds},
          {"cluster_dims", k.cluster_dims},
          {"shared_memory", std::move(shared)},
          {"vector_types", k.vector_types},
          {"has_loop", !k.loops.empty()},
          {"loops", list_of(k.loops)},
          {"unroll_pragmas", std::move(unroll)},
          {"barrier_lines", k.barrier_lines},
          {"atomics", list_of(k.atomics)},
          {"intrinsics", list_of(k.intrinsics)},
          {"accesses", list_of(k.accesses)},
          {"accumulations", list_of(k.accumulations)},
          {"math_calls", list_of(k.math_calls)},
          {"simd_lines", k.simd_lines},
          {"double_lines", k.double_lines},
          {"int32_offset_lines", k.int32_offset_lines},
          {"invariant_division_lines", k.invariant_division_lines},
          {"free_macros", k.free_macros}};
}

OrderedJson item_json(const CudaLaunchFact& l) {
  return {{"kernel", l.kernel},
          {"file", l.file},
          {"line", l.line},
          {"in_function", l.in_function},
          {"template_arguments", l.template_arguments},
          {"grid", l.grid},
          {"block", l.block},
          {"shared_bytes", l.shared_bytes},
          {"stream", l.stream},
          {"args", l.args},
          {"kernel_is_known", l.kernel_is_known}};
}

OrderedJson counts_of(const AuditedOp& op) {
  const auto defined_here = [&](const std::string& name) {
    for (const KernelFact& kernel : op.jit_kernels) {
      if (kernel.name == name) return true;
    }
    return false;
  };
  std::map<std::string, bool> launched;
  for (const LaunchFact& launch : op.launches) launched[launch.kernel] = true;
  OrderedJson imported = OrderedJson::array(), never = OrderedJson::array();
  for (const auto& [name, yes] : launched) {
    if (!defined_here(name)) imported.push_back(name);
  }
  int launchable = 0;
  for (const KernelFact& kernel : op.jit_kernels) {
    if (!kernel.is_device_helper) ++launchable;
    if (launched.count(kernel.name) == 0) never.push_back(kernel.name);
  }
  return {{"jit_functions", op.jit_kernels.size()},
          {"jit_launchable", launchable},
          {"launches", op.launches.size()},
          {"distinct_kernels_launched", launched.size()},
          {"imported_kernels_launched", std::move(imported)},
          {"jit_never_launched", std::move(never)},
          {"autograd_functions", op.autograd_functions.size()}};
}

OrderedJson preflight_of(const AuditedOp& op) {
  if (!op.preflight.applies) return nullptr;
  const Preflight& p = op.preflight;
  return {
      {"ops_file_exists", true},  {"benchmark_script", p.benchmark_script}, {"benchmark_exists", p.benchmark_exists},
      {"test_file", p.test_file}, {"test_exists", p.test_exists},           {"csv_rows", p.csv_rows},
      {"notes", p.notes}};
}

OrderedJson configuration_of(const Configuration& c) {
  OrderedJson parameters = OrderedJson::array();
  for (const Parameter& p : c.parameters) {
    parameters.push_back({{"name", p.name},
                          {"value", p.value},
                          {"how_set", word(p.how_set)},
                          {"notes", p.notes},
                          {"live", word(p.live)},
                          {"live_evidence", p.live_evidence}});
  }
  return {{"measured", false},
          {"parameters", std::move(parameters)},
          {"memory_access",
           {{"stride_pattern", c.memory_access.stride_pattern},
            {"cache_modifiers", c.memory_access.cache_modifiers},
            {"in_place", c.memory_access.in_place},
            {"saved_vs_recomputed", c.memory_access.saved_vs_recomputed}}},
          {"compute",
           {{"precision_ops", c.compute.precision_ops},
            {"casting_mode", c.compute.casting_mode},
            {"algorithm", c.compute.algorithm},
            {"constexpr_parameters", c.compute.constexpr_parameters}}}};
}

OrderedJson item_json(const Opportunity& o) {
  OrderedJson places = OrderedJson::array();
  for (const Location& place : o.locations) places.push_back({{"file", place.file}, {"line", place.line}});
  return {{"title", o.title},
          {"detail", o.detail},
          {"locations", std::move(places)},
          {"strategy", o.strategy},
          {"risk", o.risk}};
}
OrderedJson item_json(const StrategyStep& s) {
  return {{"strategy", s.strategy}, {"title", s.title}, {"reason", s.reason}};
}

void add_conclusions(const AuditedOp& op, OrderedJson& j) {
  j["tier"] = op.tier == 0 ? OrderedJson(nullptr) : OrderedJson(op.tier);
  j["tier_reason"] = op.tier_reason;
  j["tier_ambiguous"] = !op.tier_alternatives.empty();
  j["tier_alternatives"] = op.tier_alternatives;
  j["configuration"] = configuration_of(op.configuration);
  j["opportunities"] = list_of(op.opportunities);
  j["strategy_order"] = list_of(op.strategy_order);
}

OrderedJson op_json(const AuditedOp& op) {
  OrderedJson j = {{"op", op.op}, {"language", op.language}, {"files", list_of(op.files)}};
  if (!op.problems.empty()) j["problems"] = list_of(op.problems);
  if (op.language != "triton") {
    j[op.language == "cuda" ? "cuda_kernels" : "cpp_kernels"] = list_of(op.cpp_kernels);
    if (op.language == "cuda") j["cuda_launches"] = list_of(op.cuda_launches);
    j["todo_comments"] = list_of(op.todo_comments);
    add_conclusions(op, j);
    return j;
  }
  j["preflight"] = preflight_of(op);
  j["counts"] = counts_of(op);
  j["jit_kernels"] = list_of(op.jit_kernels);
  j["launches"] = list_of(op.launches);
  j["indirect_launches"] = list_of(op.indirect_launches);
  j["autograd_functions"] = list_of(op.autograd_functions);
  j["in_place"] = {{"in_place_flag", text_or_null(op.in_place.flag)},
                   {"in_place_flag_default", text_or_null(op.in_place.flag_default)},
                   {"gradient_written_into_existing_buffer", op.in_place.gradient_written_into_existing_buffer},
                   {"forward_overwrites_input", op.in_place.forward_overwrites_input},
                   {"unconditional", op.in_place.unconditional},
                   {"evidence", list_of(op.in_place.evidence)},
                   {"reads_of_overwritten", list_of(op.in_place.reads_of_overwritten)}};
  j["todo_comments"] = list_of(op.todo_comments);
  j["commented_out_autotune"] = list_of(op.commented_out_autotune);
  j["row_mode"] = {{"row_mode_param", op.row_mode.row_mode_param},
                   {"row_mode_lines", op.row_mode.lines},
                   {"block_row_kernels", op.row_mode.block_row_kernels},
                   {"dispatch", text_or_null(op.row_mode.dispatch)}};
  if (!op.row_mode.open_task_lines.empty()) j["row_mode"]["todo_lines"] = op.row_mode.open_task_lines;
  add_conclusions(op, j);
  return j;
}

}  // namespace

std::string to_json(const Audit& audit) {
  OrderedJson j = {
      {"schema", kAuditSchema},
      {"evidence", "source-code"},
      {"note", "Read from source; no measurement stands behind configuration, opportunities and strategy_order."}};
  if (!audit.problems.empty()) j["problems"] = list_of(audit.problems);
  j["kernels"] = OrderedJson::array();
  for (const AuditedOp& op : audit.kernels) j["kernels"].push_back(op_json(op));
  return j.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace hone::model
