#include "repository/manifest/reference.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "base/text.hpp"
#include "repository/launch/bound_plan.hpp"

namespace hone::repository::manifest {

namespace {

constexpr std::int64_t kDeadlineNs = 120'000'000'000;

}  // namespace

std::string Reference::words() const {
  std::vector<std::string> parts;
  for (const PassDecl& pass : manifest_.passes)
    parts.push_back(
        pass.name + " " +
        (pass.reference ? "compared with " + manifest_.reference + " in double precision"
                        : "compared with the original; no reference is given, so a fault of the original is not seen"));
  return base::join_text(parts, ", ");
}

base::Result<void> Reference::compile() {
  if (host_ == nullptr)
    return base::Error{base::ErrorKind::preflight, "a CPU with a C++ compiler for the reference", "none",
                       manifest_.path, "apt-get install g++, or name a compiler with HONE_CXX"};
  if (program_) return {};
  HONE_TRY(source, reference_source(sources_, manifest_));
  auto compiled = host_->compile(*source);
  if (!compiled) {
    // A gate's word for the kernel; here it is the manifest that has to be corrected.
    base::Error error = in_users_files(compiled.error(), manifest_, sources_.files());
    if (error.kind == base::ErrorKind::gate) error.kind = base::ErrorKind::usage;
    return error;
  }
  program_ = std::move(*compiled);
  return {};
}

base::Result<void> Reference::run(const ProblemSizes& problem, const PassDecl& pass, kernels::Values& values) {
  if (auto compiled = compile(); !compiled) return compiled;
  HONE_TRY(tensors, tensors_of(manifest_, problem));
  for (const kernels::TensorSpec& tensor : *tensors)
    if (const auto role = pass.roles.find(tensor.name); role != pass.roles.end() && role->second == Role::output)
      values[tensor.name].assign(static_cast<std::size_t>(tensor.columns), std::numeric_limits<double>::quiet_NaN());
  HONE_TRY(arguments, arguments_of(manifest_, problem, pass.reference->arguments, {}));
  std::map<std::string, std::unique_ptr<device::Buffer>> buffers;
  launch::TensorViews views;
  for (const kernels::Argument& argument : *arguments) {
    const auto* tensor = std::get_if<kernels::TensorArgument>(&argument);
    if (tensor == nullptr || buffers.count(tensor->name) > 0) continue;
    const std::vector<double>& content = values.at(tensor->name);
    HONE_TRY(made, host_->allocate(std::max<std::size_t>(content.size() * sizeof(double), 1)));
    views[tensor->name] = {made->get(), 0};
    if (auto sent = host_->upload(views[tensor->name], content.data(), content.size() * sizeof(double)); !sent)
      return sent;
    buffers[tensor->name] = std::move(*made);
  }
  kernels::Plan plan;
  plan.launches = {{reference_entry(pass.name), 1, 1, 0, 1, std::move(*arguments)}};
  HONE_TRY(bound, launch::bind(*host_, plan, program_, views));
  if (auto ran = host_->try_run(bound->launches, kDeadlineNs); !ran) {
    if (ran.error().kind == base::ErrorKind::interrupted) return ran;
    return base::Error{base::ErrorKind::usage, "a reference that runs: " + pass.reference->function, ran.error().found,
                       manifest_.full(manifest_.reference), "correct the reference, or its arguments in the manifest"};
  }
  for (auto& [name, buffer] : buffers) {
    std::vector<double>& content = values.at(name);
    if (auto read = host_->download(content.data(), {buffer.get(), 0}, content.size() * sizeof(double)); !read)
      return read;
  }
  return {};
}

}  // namespace hone::repository::manifest
