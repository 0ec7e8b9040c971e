#include "repository/python/builds.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.hpp"

namespace hone::repository::python {

namespace {

std::string key_of(const std::string& implementation, const std::string& pass, const std::string& x_value) {
  return implementation + "|" + pass + "|" + x_value;
}

std::string text_of_launch(const LaunchedKernel& kernel) {
  std::string text = kernel.name;
  for (const std::int64_t extent : kernel.grid) text += "," + std::to_string(extent);
  return text + fmt::format(" w{} s{}", kernel.num_warps, kernel.shared_bytes);
}

BuiltPart part_of(const BuildReply& reply, const std::string& pass, const std::string& x_value) {
  BuiltPart part;
  part.pass = pass;
  part.x_value = x_value;
  part.spill_bytes = 0;
  std::string code, launch = reply.operations;
  for (const LaunchedKernel& kernel : reply.kernels) {
    code += kernel.code_hash + "\n";
    launch += text_of_launch(kernel) + "\n";
    part.registers_per_thread = std::max(part.registers_per_thread, kernel.registers);
    part.spill_bytes += std::max(0, kernel.spills);
    part.code_bytes += kernel.code_bytes;
  }
  part.machine_code_hash = base::content_hash(code);
  part.launch_hash = base::content_hash(launch);
  return part;
}

}  // namespace

bool Builds::is_built(const std::string& implementation, const std::string& pass, const std::string& x_value) const {
  return built_.count(key_of(implementation, pass, x_value)) > 0;
}

const BuiltPart* Builds::original(const std::string& pass, const std::string& x_value) const {
  const auto known = built_.find(key_of(kOriginal, pass, x_value));
  return known == built_.end() ? nullptr : &known->second;
}

base::Result<BuiltPart> Builds::part(const std::string& implementation, const std::string& pass,
                                     const std::string& x_value) {
  const std::string key = key_of(implementation, pass, x_value);
  if (const auto known = built_.find(key); known != built_.end()) return known->second;
  HONE_TRY(spec, cases_.at(x_value));
  auto reply =
      implementations_.ask(implementation, [&](Worker& worker) { return worker.build(implementation, *spec, pass); });
  if (!reply) return reply.error();
  if (implementation == kOriginal)
    knobs_.learn(pass, x_value, reply->kernels, implementations_.started()->device.sm_count);
  return built_[key] = part_of(*reply, pass, x_value);
}

void Builds::learn_shipped() {
  const std::vector<std::string> passes = cases_.passes();
  std::vector<std::string> all = cases_.size_names();
  for (const std::string& x : cases_.held_out_names()) all.push_back(x);
  std::vector<CaseSpec> missing;
  for (const std::string& x : all) {
    auto spec = cases_.at(x);
    if (!spec) return;
    if (!knobs_.is_known(passes.front(), x)) missing.push_back(std::move(*spec));
  }
  if (!missing.empty()) implementations_.compile_ahead({kOriginal}, missing, passes);
  for (const std::string& x : all)
    for (const std::string& pass : passes)
      if (!knobs_.is_known(pass, x)) (void)part(kOriginal, pass, x).ok();
}

base::Result<Built> Builds::build(const model::Variant& variant) {
  HONE_TRY(implementation, variants_.implementation_of(variant));
  const std::vector<std::string> sizes = cases_.size_names(), passes = cases_.passes();
  HONE_TRY(specs, cases_.at_each(sizes));
  if (!is_built(*implementation, passes.back(), sizes.back()))
    implementations_.compile_ahead({*implementation}, *specs, passes);
  Built built;
  for (const std::string& x : sizes)
    for (const std::string& pass : passes) {
      HONE_TRY(one, part(*implementation, pass, x));
      built.parts.push_back(std::move(*one));
    }
  return built;
}

// A failure here is met again, with its reason, where the configuration is built.
void Builds::build_ahead(const std::string& pass, const std::vector<std::string>& x_values,
                         const std::vector<model::Settings>& settings) {
  if (implementations_.interpreted()) return;
  std::vector<AheadItem> items;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    auto implementation = variants_.implementation_with(pass, x_values[i], settings[i]);
    if (!implementation || is_built(*implementation, pass, x_values[i])) continue;
    if (auto spec = cases_.at(x_values[i])) items.push_back({*implementation, std::move(*spec), pass});
  }
  implementations_.compile_ahead(items);
}

base::Result<BuiltPart> Builds::build_settings(const std::string& pass, const std::string& x_value,
                                               const model::Settings& settings) {
  HONE_TRY(implementation, variants_.implementation_with(pass, x_value, settings));
  return part(*implementation, pass, x_value);
}

}  // namespace hone::repository::python
