#include "model/source_facts.hpp"

#include "model/profile_fields.hpp"

namespace hone::model {

namespace {

Json object_of(const NamedTexts& texts) {
  Json object = Json::object();
  for (const auto& [name, text] : texts) object.set(name, text);
  return object;
}

// Axes are digits, or the text of an expression.
Json axes_of(const std::vector<std::string>& axes) {
  return Json::list(axes, [](const std::string& axis) {
    const bool digits = !axis.empty() && axis.size() < 6 && axis.find_first_not_of("0123456789") == std::string::npos;
    return digits ? Json(std::stoi(axis)) : Json(axis);
  });
}

template <class T>
Json list_of(const std::vector<T>& items) {
  return Json::list(items, [](const T& item) { return item_json(item); });
}

}  // namespace

// Found beside the types, by list_of as well.
Json item_json(const SourceProblem& p) {
  return Json::object({{"file", p.file}, {"line", p.line}, {"column", p.column}, {"what", p.what}});
}
Json item_json(const SourceFile& f) {
  return Json::object({{"path", f.path}, {"sha256", f.sha256}, {"lines", f.lines}});
}
Json item_json(const ReductionFact& r) {
  return Json::object({{"line", r.line}, {"op", r.op}, {"kind", r.kind}, {"axis", r.axis}, {"text", r.text}});
}
Json item_json(const LoopFact& l) {
  return Json::object({{"line", l.line},
                       {"stmt", l.stmt},
                       {"kind", l.kind},
                       {"depth", l.depth},
                       {"target", l.target},
                       {"iter", l.iter}});
}
Json item_json(const CacheHint& h) {
  return Json::object(
      {{"line", h.line}, {"kwarg_line", h.keyword_line}, {"call", h.call}, {"kwarg", h.keyword}, {"value", h.value}});
}
Json item_json(const MathFact& m) { return Json::object({{"line", m.line}, {"op", m.op}, {"spelled", m.spelled}}); }
Json item_json(const AtomicFact& a) {
  return Json::object({{"line", a.line}, {"op", a.op}, {"kwargs", object_of(a.keywords)}});
}

Json item_json(const AutotuneFact& a) {
  Json j = Json::object({{"configs", a.configs}, {"n_configs", a.n_configs}});
  if (a.n_configs_if_env_disabled) j.add("n_configs_if_env_disabled", *a.n_configs_if_env_disabled);
  j.add("key", a.key);
  j.add("reset_to_zero", a.reset_to_zero);
  j.add("values", a.values);
  return j;
}

Json item_json(const KernelFact& k) {
  Json j = Json::object({{"name", k.name},
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
                         {"is_device_helper", k.is_device_helper}});
  j.add("autotune", k.autotune ? item_json(*k.autotune) : Json());
  j.add("heuristics", k.heuristics);
  if (k.heuristics) j.add("heuristics_params", k.heuristics_params);
  j.add("program_id_axes", axes_of(k.program_id_axes));
  j.add("program_id_lines", k.program_id_lines);
  j.add("num_programs_axes", axes_of(k.num_programs_axes));
  j.add("reductions", list_of(k.reductions));
  j.add("has_loop", !k.loops.empty());
  j.add("loops", list_of(k.loops));
  j.add("uses_dot", !k.dot_lines.empty());
  j.add("dot_lines", k.dot_lines);
  j.add("loads", k.load_lines.size());
  j.add("load_lines", k.load_lines);
  j.add("stores", k.store_lines.size());
  j.add("store_lines", k.store_lines);
  if (!k.descriptor_load_lines.empty()) j.add("descriptor_load_lines", k.descriptor_load_lines);
  if (!k.descriptor_store_lines.empty()) j.add("descriptor_store_lines", k.descriptor_store_lines);
  j.add("cache_hints", list_of(k.cache_hints));
  j.add("precision_ops", list_of(k.precision_ops));
  Json via = Json::array(), calls = Json::array();
  for (const HelperCall& call : k.calls_jit_helpers) {
    Json entry = Json::object({{"line", call.line}, {"name", call.name}});
    if (call.via) entry.add("via", *call.via);
    calls.push(std::move(entry));
    via.push(Json::object({{"line", call.line}, {"helper", call.name}, {"ops", call.precision_ops}}));
  }
  j.add("precision_ops_via_helpers", std::move(via));
  j.add("other_math", list_of(k.other_math));
  j.add("atomics", list_of(k.atomics));
  j.add("barrier_lines", k.barrier_lines);
  j.add("early_return_lines", k.early_return_lines);
  j.add("calls_jit_helpers", std::move(calls));
  j.add("casts_to_float32", !k.float32_cast_lines.empty());
  j.add("float32_cast_lines", k.float32_cast_lines);
  j.add("float32_alloc_lines", k.float32_alloc_lines);
  j.add("int32_offset_lines", k.int32_offset_lines);
  return j;
}

Json setting_json(const SettingSource& s, bool with_param) {
  Json j = Json::object();
  if (with_param) j.add("param", s.param);
  j.add("text", s.text);
  j.add("source", s.source);
  j.add("detail", s.detail);
  j.add("passed_as", s.passed_as);
  if (s.bound_to_kernel_parameter) j.add("bound_to_kernel_parameter", true);
  if (!s.rounded_up) return j;
  const RoundedUp& rounded = *s.rounded_up;
  j.add("rounded_up", Json::object({{"of", rounded.of},
                                    {"largest", rounded.largest},
                                    {"masked_lanes", Json::list(rounded.masked, [](const MaskedLanes& lanes) {
                                       return Json::object({{"size", lanes.size}, {"pct", lanes.pct}});
                                     })}}));
  return j;
}

Json item_json(const SettingSource& s) { return setting_json(s, true); }

Json item_json(const LaunchFact& l) {
  Json j = Json::object({{"kernel", l.kernel},
                         {"file", l.file},
                         {"line", l.line},
                         {"call_paren_line", l.call_paren_line},
                         {"end_line", l.end_line},
                         {"in_function", l.in_function},
                         {"kernel_defined_in", l.kernel_defined_in}});
  j.add("kernel_def_line", l.kernel_defined_in ? Json(l.kernel_def_line) : Json());
  j.add("grid_text", l.grid_text);
  j.add("grid_form", l.grid_form);
  j.add("grid_resolved", l.grid_resolved);
  j.add("grid_unparsed", l.grid_unparsed);
  j.add("grid_assigned_line", l.grid_assigned_line);
  j.add("grid_ndim", l.grid_ndim);
  j.add("grid_is_lambda", l.grid_is_lambda);
  j.add("positional_args", l.positional_args);
  j.add("keyword_args", object_of(l.keyword_args));
  j.add("star_kwargs", l.star_kwargs);
  j.add("star_kwargs_resolved", l.star_kwargs.empty() ? Json() : object_of(l.star_kwargs_resolved));
  j.add("bound_params", object_of(l.bound_params));
  j.add("launch_options", object_of(l.launch_options));
  j.add("block_sources", list_of(l.block_sources));
  Json warps = setting_json(l.num_warps, false), stages = setting_json(l.num_stages, false);
  warps.add("effective", l.num_warps_effective);
  stages.add("effective", l.num_stages_effective);
  stages.add("live", word(l.num_stages_live));
  stages.add("reason", l.num_stages_reason);
  j.add("num_warps", std::move(warps));
  j.add("num_stages", std::move(stages));
  j.add("note", l.note);
  return j;
}

Json item_json(const IndirectLaunch& l) {
  return Json::object({{"line", l.line},
                       {"file", l.file},
                       {"callee", l.callee},
                       {"callee_file", l.callee_file},
                       {"kernels", l.kernels}});
}

Json item_json(const FunctionParameter& p) {
  return Json::object({{"name", p.name}, {"annotation", p.annotation}, {"default", p.default_value}, {"kind", p.kind}});
}
Json item_json(const MethodFact& m) {
  return Json::object({{"line", m.line}, {"decorators", m.decorators}, {"params", list_of(m.params)}});
}
Json item_json(const SavedTensors& s) { return Json::object({{"line", s.line}, {"args", s.args}}); }
Json item_json(const ContextAttribute& c) {
  return Json::object({{"name", c.name}, {"line", c.line}, {"value", c.value}, {"method", c.method}});
}
Json item_json(const ContextCall& c) { return Json::object({{"line", c.line}, {"text", c.text}}); }

Json item_json(const AutogradFact& a) {
  return Json::object({{"name", a.name},
                       {"file", a.file},
                       {"line", a.line},
                       {"end_line", a.end_line},
                       {"forward", a.forward ? item_json(*a.forward) : Json()},
                       {"backward", a.backward ? item_json(*a.backward) : Json()},
                       {"save_for_backward", list_of(a.save_for_backward)},
                       {"ctx_attributes", list_of(a.ctx_attributes)},
                       {"ctx_calls", list_of(a.ctx_calls)},
                       {"backward_is_staticmethod", a.backward_is_staticmethod}});
}

Json item_json(const InPlaceEvidence& e) {
  return Json::object({{"file", e.file}, {"line", e.line}, {"text", e.text}, {"what", e.what}});
}
Json item_json(const TodoComment& t) {
  return Json::object({{"file", t.file},
                       {"line", t.line},
                       {"tag", t.tag},
                       {"text", t.text},
                       {"performance", t.performance},
                       {"in_docstring", t.in_docstring}});
}
Json item_json(const CommentedAutotune& c) {
  return Json::object({{"file", c.file},
                       {"line", c.line},
                       {"end_line", c.end_line},
                       {"text", c.text},
                       {"above_kernel", c.above_kernel}});
}

Json item_json(const ElementAccess& a) {
  return Json::object({{"line", a.line},
                       {"store", a.store},
                       {"base", a.base},
                       {"index", a.index},
                       {"loop_line", a.loop_line},
                       {"loop_depth", a.loop_depth},
                       {"step", word(a.step)}});
}

Json item_json(const CppParameter& p) {
  return Json::object(
      {{"name", p.name}, {"type", p.type}, {"pointer", p.pointer}, {"const", p.is_const}, {"restrict", p.restricted}});
}
Json item_json(const CudaSharedArray& s) {
  return Json::object(
      {{"name", s.name}, {"type", s.type}, {"extent", s.extent}, {"line", s.line}, {"dynamic", s.dynamic}});
}

Json item_json(const CppKernelFact& k) {
  const auto unroll = [](const auto& pragma) {
    return Json::object({{"line", std::stoi(pragma.first)}, {"factor", pragma.second}});
  };
  return Json::object({{"name", k.name},
                       {"file", k.file},
                       {"line", k.line},
                       {"end_line", k.end_line},
                       {"template_parameters", k.template_parameters},
                       {"params", list_of(k.params)},
                       {"launch_bounds", k.launch_bounds},
                       {"cluster_dims", k.cluster_dims},
                       {"shared_memory", list_of(k.shared_arrays)},
                       {"vector_types", k.vector_types},
                       {"has_loop", !k.loops.empty()},
                       {"loops", list_of(k.loops)},
                       {"unroll_pragmas", Json::list(k.unroll_pragmas, unroll)},
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
                       {"free_macros", k.free_macros}});
}

Json item_json(const CudaLaunchFact& l) {
  return Json::object({{"kernel", l.kernel},
                       {"file", l.file},
                       {"line", l.line},
                       {"in_function", l.in_function},
                       {"template_arguments", l.template_arguments},
                       {"grid", l.grid},
                       {"block", l.block},
                       {"shared_bytes", l.shared_bytes},
                       {"stream", l.stream},
                       {"args", l.args},
                       {"kernel_is_known", l.kernel_is_known}});
}

Json counts_of(const AuditedOp& op) {
  const auto defined_here = [&](const std::string& name) {
    for (const KernelFact& kernel : op.jit_kernels) {
      if (kernel.name == name) return true;
    }
    return false;
  };
  std::map<std::string, bool> launched;
  for (const LaunchFact& launch : op.launches) launched[launch.kernel] = true;
  Json imported = Json::array(), never = Json::array();
  for (const auto& [name, yes] : launched) {
    if (!defined_here(name)) imported.push(name);
  }
  int launchable = 0;
  for (const KernelFact& kernel : op.jit_kernels) {
    if (!kernel.is_device_helper) ++launchable;
    if (launched.count(kernel.name) == 0) never.push(kernel.name);
  }
  return Json::object({{"jit_functions", op.jit_kernels.size()},
                       {"jit_launchable", launchable},
                       {"launches", op.launches.size()},
                       {"distinct_kernels_launched", launched.size()},
                       {"imported_kernels_launched", std::move(imported)},
                       {"jit_never_launched", std::move(never)},
                       {"autograd_functions", op.autograd_functions.size()}});
}

Json preflight_of(const AuditedOp& op) {
  if (!op.preflight.applies) return {};
  const Preflight& p = op.preflight;
  return Json::object({{"ops_file_exists", true},
                       {"benchmark_script", p.benchmark_script},
                       {"benchmark_exists", p.benchmark_exists},
                       {"test_file", p.test_file},
                       {"test_exists", p.test_exists},
                       {"csv_rows", p.csv_rows},
                       {"notes", p.notes}});
}

Json item_json(const Parameter& p) {
  return Json::object({{"name", p.name},
                       {"value", p.value},
                       {"how_set", word(p.how_set)},
                       {"notes", p.notes},
                       {"live", word(p.live)},
                       {"live_evidence", p.live_evidence}});
}
Json item_json(const Opportunity& o) {
  return Json::object({{"title", o.title},
                       {"detail", o.detail},
                       {"locations", json_of(o.locations)},
                       {"strategy", o.strategy},
                       {"risk", o.risk}});
}
Json item_json(const StrategyStep& s) {
  return Json::object({{"strategy", s.strategy}, {"title", s.title}, {"reason", s.reason}});
}

void add_conclusions(const AuditedOp& op, Json& j) {
  j.add("tier", op.tier == 0 ? Json() : Json(op.tier));
  j.add("tier_reason", op.tier_reason);
  j.add("tier_ambiguous", !op.tier_alternatives.empty());
  j.add("tier_alternatives", op.tier_alternatives);
  j.add("configuration", Json::object({{"measured", false},
                                       {"parameters", list_of(op.configuration.parameters)},
                                       {"memory_access", json_of(op.configuration.memory_access)},
                                       {"compute", json_of(op.configuration.compute)}}));
  j.add("opportunities", list_of(op.opportunities));
  j.add("strategy_order", list_of(op.strategy_order));
}

Json item_json(const AuditedOp& op) {
  Json j = Json::object({{"op", op.op}, {"language", op.language}, {"files", list_of(op.files)}});
  if (!op.problems.empty()) j.add("problems", list_of(op.problems));
  if (op.language != "triton") {
    j.add(op.language == "cuda" ? "cuda_kernels" : "cpp_kernels", list_of(op.cpp_kernels));
    if (op.language == "cuda") j.add("cuda_launches", list_of(op.cuda_launches));
    j.add("todo_comments", list_of(op.todo_comments));
    add_conclusions(op, j);
    return j;
  }
  j.add("preflight", preflight_of(op));
  j.add("counts", counts_of(op));
  j.add("jit_kernels", list_of(op.jit_kernels));
  j.add("launches", list_of(op.launches));
  j.add("indirect_launches", list_of(op.indirect_launches));
  j.add("autograd_functions", list_of(op.autograd_functions));
  const InPlaceFact& in_place = op.in_place;
  j.add("in_place",
        Json::object({{"in_place_flag", in_place.flag},
                      {"in_place_flag_default", in_place.flag_default},
                      {"gradient_written_into_existing_buffer", in_place.gradient_written_into_existing_buffer},
                      {"forward_overwrites_input", in_place.forward_overwrites_input},
                      {"unconditional", in_place.unconditional},
                      {"evidence", list_of(in_place.evidence)},
                      {"reads_of_overwritten", list_of(in_place.reads_of_overwritten)}}));
  j.add("todo_comments", list_of(op.todo_comments));
  j.add("commented_out_autotune", list_of(op.commented_out_autotune));
  Json row_mode = Json::object({{"row_mode_param", op.row_mode.row_mode_param},
                                {"row_mode_lines", op.row_mode.lines},
                                {"block_row_kernels", op.row_mode.block_row_kernels},
                                {"dispatch", op.row_mode.dispatch}});
  if (!op.row_mode.open_task_lines.empty()) row_mode.add("todo_lines", op.row_mode.open_task_lines);
  j.add("row_mode", std::move(row_mode));
  add_conclusions(op, j);
  return j;
}

std::string to_json(const Audit& audit) {
  Json j = Json::object(
      {{"schema", kAuditSchema},
       {"evidence", "source-code"},
       {"note", "Read from source; no measurement stands behind configuration, opportunities and strategy_order."}});
  if (!audit.problems.empty()) j.add("problems", list_of(audit.problems));
  j.add("kernels", list_of(audit.kernels));
  return j.dump_plain(2, Json::Keys::as_written);
}

}  // namespace hone::model
