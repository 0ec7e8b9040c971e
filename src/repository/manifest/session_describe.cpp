// What the profile says of the kernel beside its times: knobs, live or dead by machine code, and what the source shows.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/manifest/manifest_session.hpp"
#include "source/audit.hpp"

namespace hone::repository::manifest {

namespace {

// "4", or "1024: 4, 8192: 2" where the value varies by size.
std::string by_size(const std::vector<std::pair<std::int64_t, std::int64_t>>& values) {
  if (values.empty()) return "not set";
  const bool constant =
      std::all_of(values.begin(), values.end(), [&](const auto& v) { return v.second == values.front().second; });
  if (constant) return std::to_string(values.front().second);
  std::vector<std::string> parts;
  for (const auto& [x, value] : values) parts.push_back(fmt::format("{}: {}", x, value));
  return base::join_text(parts, ", ");
}

std::string listed(const std::set<std::string>& names, const std::string& otherwise) {
  return names.empty() ? otherwise : base::join_text({names.begin(), names.end()}, ", ");
}

void describe_source(const model::AuditedOp& op, model::Configuration& configuration) {
  std::set<std::string> vectors, hints, shared, math;
  int barriers = 0, atomics = 0, loops = 0;
  for (const model::CudaKernelFact& kernel : op.cuda_kernels) {
    vectors.insert(kernel.vector_types.begin(), kernel.vector_types.end());
    for (const model::MathFact& call : kernel.intrinsics)
      (base::starts_with(call.op, "__ld") || base::starts_with(call.op, "__st") ? hints : math).insert(call.op);
    for (const model::CudaSharedArray& array : kernel.shared_arrays) shared.insert(array.name);
    barriers += static_cast<int>(kernel.barrier_lines.size());
    atomics += static_cast<int>(kernel.atomics.size());
    loops += static_cast<int>(kernel.loops.size());
  }
  configuration.memory_access.stride_pattern =
      vectors.empty() ? "no vector types in the source: one element for each access, unless the compiler joins them"
                      : "vector types in the source: " + listed(vectors, "");
  configuration.memory_access.cache_modifiers = listed(hints, "none in the source");
  configuration.compute.algorithm = fmt::format("{} loops, {} barriers, {} atomics; shared arrays: {}", loops, barriers,
                                                atomics, listed(shared, "none"));
  configuration.compute.precision_ops = listed(math, "no intrinsics in the source");
}

}  // namespace

base::Result<model::Parameter> ManifestSession::parameter_of(const Knob& knob) {
  const PassDecl& pass = pass_of(knob.pass);
  model::Parameter parameter;
  parameter.name = fmt::format("{} ({})", knob.name, knob.pass);
  parameter.how_set =
      installed_ && installed_->settings.count(knob.pass) ? model::HowSet::settings_file : model::HowSet::default_value;
  parameter.notes = knob.help;
  std::vector<std::pair<std::int64_t, std::int64_t>> values;
  for (const std::int64_t x : sizes_) {
    auto at = problem_at(*manifest_, x, *dtype_);
    auto settings = at ? resolve({}, pass, *at) : base::Result<model::Settings>(at.error());
    if (settings) values.emplace_back(x, settings->at(knob.name));
  }
  parameter.value = by_size(values);
  if (!unmeasurable().empty()) {
    parameter.live_evidence = "not compiled here";
    return parameter;
  }
  auto at = problem_at(*manifest_, sizes_.back(), *dtype_);
  if (!at) return at.error();
  auto in_force = resolve({}, pass, *at);
  if (!in_force) return in_force.error();
  std::set<std::string> programs, codes;
  int tried = 0;
  for (const std::int64_t value : knob.values) {
    model::Settings settings = *in_force;
    settings[knob.name] = value;
    auto planned = plan_of(*manifest_, *at, pass, settings);
    if (!planned) continue;
    auto built = build_part(*planned, *at, {});
    // Values that do not compile are the sweep's to report; that nothing compiles is an error of the one in force.
    if (!built && (built.error().kind != base::ErrorKind::gate || settings == *in_force)) return built.error();
    if (!built) continue;
    codes.insert(built->machine_code_hash);
    programs.insert(built->machine_code_hash + built->launch_hash);
    ++tried;
  }
  if (tried < 2) {
    parameter.live_evidence =
        fmt::format("{} of its {} values can be built at {} = {}", tried, knob.values.size(), x_name(), sizes_.back());
    return parameter;
  }
  parameter.live = programs.size() > 1 ? model::Liveness::live : model::Liveness::dead;
  parameter.live_evidence = fmt::format("{} values give {} distinct machine codes and {} distinct launches at {} = {}",
                                        tried, codes.size(), programs.size(), x_name(), sizes_.back());
  return parameter;
}

base::Result<model::Configuration> ManifestSession::configuration() {
  model::Configuration configuration;
  for (const Knob& knob : knobs()) {
    auto parameter = parameter_of(knob);
    if (!parameter) return parameter.error();
    configuration.parameters.push_back(std::move(*parameter));
  }
  if (manifest_->language == Language::cuda) {
    describe_source(source::audit_text(context_.files, "source.cu", snapshot_.front().second), configuration);
  } else {
    configuration.memory_access.stride_pattern = configuration.memory_access.cache_modifiers =
        configuration.compute.algorithm = configuration.compute.precision_ops =
            "not read: hone reads CUDA and Triton source";
  }
  std::vector<std::string> overwritten;
  for (const PassDecl& pass : manifest_->passes)
    for (const std::string& tensor : overwritten_in(pass)) overwritten.push_back(tensor + " (" + pass.name + ")");
  configuration.memory_access.in_place =
      overwritten.empty() ? "no" : "overwrites " + base::join_text(overwritten, ", ");
  configuration.memory_access.saved_vs_recomputed =
      manifest_->passes.size() > 1 ? "what backward reads of forward's results is saved" : "no backward pass";
  configuration.compute.casting_mode = "as the source does it; tensors of type dtype are " + dtype_->name;
  std::vector<std::string> constants;
  for (const KnobDecl& knob : manifest_->knobs) constants.push_back(knob.name);
  configuration.compute.constexpr_parameters =
      constants.empty() ? "none" : "macros: " + base::join_text(constants, ", ");
  return configuration;
}

std::vector<model::Opportunity> ManifestSession::source_opportunities() const {
  if (manifest_->language != Language::cuda) return {};
  return source::audit_text(context_.files, manifest_->full(manifest_->source), snapshot_.front().second).opportunities;
}

std::vector<std::string> ManifestSession::remarks() {
  std::vector<std::string> remarks = {"correctness: " + reference_words()};
  bool derived = false;
  for (const PassDecl& pass : manifest_->passes) derived |= !pass.bytes_read || !pass.bytes_written;
  if (derived)
    remarks.emplace_back(
        "least traffic: where the manifest does not state it, each input read once and each output written once");
  return remarks;
}

}  // namespace hone::repository::manifest
