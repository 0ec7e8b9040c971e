#include "repository/manifest/manifest_repository.hpp"

#include "base/text.hpp"
#include "repository/manifest/manifest_operation.hpp"
#include "repository/manifest/manifest_problem.hpp"

namespace hone::repository::manifest {

std::vector<KernelEntry> list_kernels(const Manifest& manifest) {
  KernelEntry entry{manifest.name, manifest.description, manifest.tier, {}, {}};
  entry.passes = pass_names(manifest);
  if (manifest.passes.size() > 1) entry.passes.emplace_back("full");
  for (const DTypeDecl& dtype : manifest.dtypes) entry.dtypes.push_back(dtype.name);
  return {entry};
}

base::Result<void> check_kernel(const Manifest& manifest, const std::string& kernel) {
  if (kernel == manifest.name) return {};
  return base::Error{base::ErrorKind::usage, "the kernel of " + manifest.path, "'" + kernel + "'", "KERNEL",
                     "its name is " + manifest.name};
}

std::string why_not_on(const Manifest& manifest, const model::DeviceInfo& device) {
  if (manifest.language == Language::cuda && device.kind != "cuda")
    return "a CUDA kernel runs on a GPU, and " + device.id + " is none; with --device cuda:N it is measured";
  if (manifest.language == Language::cpp && device.kind == "cuda")
    return "a C++ kernel runs on the CPU; with --device cpu it is measured";
  return "";
}

std::vector<KernelEntry> ManifestRepository::list() const { return list_kernels(*manifest_); }

std::vector<PreflightCheck> ManifestRepository::preflight(const model::Request& request) {
  std::vector<PreflightCheck> checks;
  const Manifest& manifest = *manifest_;
  checks.push_back({"manifest", manifest.path, "", true, true});
  checks.push_back({"source", manifest.source, "", true, true});
  const model::DeviceInfo& info = context_.device.info();
  checks.push_back({"device", info.id + ": " + info.name, "", true, true});
  if (const std::string why = why_not_on(manifest, info); !why.empty())
    checks.push_back({"language", word(manifest.language), why, false, false});
  else
    checks.push_back(launch::compiler_check(info));
  checks.push_back(
      {"reference", manifest.reference.empty() ? "none" : manifest.reference,
       "variants are compared with the original instead; a wrong original stays undetected: add 'reference'",
       !manifest.reference.empty(), false});
  if (!manifest.reference.empty())
    checks.push_back({"compiler of the reference",
                      host_ && !host_->info().compiler.empty() ? host_->info().compiler : "none",
                      "install a C++ compiler: apt-get install g++", host_ && !host_->info().compiler.empty(), true});
  checks.push_back({"test command", manifest.test.empty() ? "none" : base::join_text(manifest.test, " "),
                    "finalize then stands on hone's own gate alone: add 'test'", !manifest.test.empty(), false});
  checks.push_back(launch::target_check(info, request));
  return checks;
}

base::Result<std::unique_ptr<Session>> ManifestRepository::open(const model::Request& request) {
  HONE_PROPAGATE(check_kernel(*manifest_, request.kernel));
  HONE_TRY(operation, manifest_operation(context_, host_, manifest_, request));
  return launch::LaunchSession::open(context_, std::move(*operation), request);
}

}  // namespace hone::repository::manifest
