// Opening a session: the files it stands on, the request filled in, and what follows from both.
#include "repository/manifest/manifest_session.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "measure/physics.hpp"
#include "repository/held_out.hpp"
#include "repository/document/expression_parser.hpp"

namespace hone::repository::manifest {

namespace {

base::Error usage(std::string expected, std::string found, std::string where, std::string remedy) {
  return {base::ErrorKind::usage, std::move(expected), std::move(found), std::move(where), std::move(remedy)};
}

base::Result<std::int64_t> parse_size(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return usage("a whole number of at least 1", "'" + text + "'", "--sizes", "give sizes like --sizes 1024,4096");
  return value;
}

std::string extension_of(const std::string& path) {
  const std::string name = base::file_name(path);
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot + 1 == name.size() ? "txt" : name.substr(dot + 1);
}

base::Result<const DTypeDecl*> choose_dtype(const Manifest& manifest, const std::string& wanted) {
  if (wanted.empty()) return &manifest.dtypes.front();
  std::vector<std::string> names;
  for (const DTypeDecl& dtype : manifest.dtypes) {
    if (dtype.name == wanted) return &dtype;
    names.push_back(dtype.name);
  }
  return usage("an element type of " + manifest.name + ": " + base::join_text(names, ", "), "'" + wanted + "'",
               "--dtype", nearest_remedy(wanted, names));
}

}  // namespace

base::Result<std::unique_ptr<Session>> ManifestSession::open(const ManifestContext& context,
                                                             std::shared_ptr<const Manifest> manifest,
                                                             const model::Request& request) {
  std::unique_ptr<ManifestSession> session(new ManifestSession(context, std::move(manifest)));
  const Manifest& its = *session->manifest_;
  session->request_ = request;
  if (!request.options.empty())
    return usage("no options, because a manifest has none", "'" + request.options.begin()->first + "'", "--option",
                 "leave it out; 'defines' and [scalar] of the manifest hold such choices");
  auto dtype = choose_dtype(its, request.dtype);
  if (!dtype) return dtype.error();
  session->dtype_ = *dtype;
  if (request.scope == "backward" && !its.find_pass("backward"))
    return usage("--scope general or forward, because the manifest has no [pass.backward]", "backward", "--scope",
                 "leave it out");
  if (auto chosen = session->choose_sizes(request); !chosen) return chosen.error();
  if (auto read = session->read_files(); !read) return read.error();
  if (auto runs = session->check_values_in_force(); !runs) return runs.error();

  model::Identity& identity = session->identity_;
  identity.kernel = its.name;
  identity.repository = "manifest";
  identity.source_file = {its.full(its.source), true, "described by " + its.path};
  identity.benchmark_script = {"", false, "hone launches the kernel as the manifest says"};
  identity.test_file = {"", false, its.test.empty() ? "the manifest has no 'test'" : base::join_text(its.test, " ")};
  identity.tier = its.tier;
  identity.tier_description = its.tier_reason.empty() ? "as the manifest says" : its.tier_reason;
  std::string material = "hone.manifest/1\n";
  for (const auto& [name, content] : session->snapshot_) material += name + "\n" + content + "\n";
  // No part of the snapshot: it is not there yet when most originals are taken, and finalize asks for the whole snapshot.
  if (!session->settings_before_.empty()) material += its.settings + "\n" + session->settings_before_ + "\n";
  auto gathered = session->sources_.gather(its.source, {});
  if (!gathered) return gathered.error();
  for (const auto& [path, content] : *gathered) material += path + base::content_hash(content);
  identity.source_hash = base::content_hash(material);
  return std::unique_ptr<Session>(std::move(session));
}

base::Result<void> ManifestSession::read_files() {
  auto source = sources_.read(manifest_->source);
  if (!source) return source.error();
  if (!manifest_->reference.empty())
    if (auto reference = sources_.read(manifest_->reference); !reference) return reference.error();
  snapshot_ = {{"original_" + manifest_->name + "." + variant_file_extension(), *source},
               {"original_" + manifest_->name + ".toml", manifest_->text}};
  const std::string settings = manifest_->full(manifest_->settings);
  if (!context_.files.exists(settings)) return {};
  auto text = base::read_regular(context_.files, settings, kLargestDocumentBytes);
  if (!text) return text.error();
  auto entries = parse_settings(*text, settings);
  if (!entries) return entries.error();
  for (SettingsEntry& entry : *entries)
    if (entry.device == context_.device.info().name && entry.dtype == dtype_->name) installed_ = std::move(entry);
  settings_before_ = std::move(*text);
  return {};
}

base::Result<void> ManifestSession::choose_sizes(const model::Request& request) {
  for (const std::string& text : request.sizes) {
    auto size = parse_size(text);
    if (!size) return size.error();
    sizes_.push_back(*size);
  }
  if (sizes_.empty()) {
    sizes_ = manifest_->sizes;
    if (request.quick && sizes_.size() > 2) sizes_ = {sizes_.front(), sizes_.back()};
  }
  std::sort(sizes_.begin(), sizes_.end());
  sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
  const bool runs_here = unmeasurable().empty();
  for (const std::int64_t size : sizes_) {
    auto problem = problem_at(*manifest_, size, *dtype_);
    if (!problem) return problem.error();
    auto tensors = tensors_of(*manifest_, *problem);
    if (!tensors) return tensors.error();
    double bytes = 0;
    for (const Tensor& tensor : *tensors) bytes += 2.0 * static_cast<double>(tensor.bytes());
    const auto memory = static_cast<double>(context_.device.info().total_memory_bytes);
    if (runs_here && bytes > 0.8 * memory)
      return usage(
          fmt::format("sizes whose tensors fit in the {:.1f} GB of {}", memory / 1e9, context_.device.info().name),
          fmt::format("{} = {} needs {:.1f} GB", x_name(), size, bytes / 1e9), "--sizes", "choose smaller sizes");
    // What can not be evaluated or launched is said before anything is measured.
    for (const PassDecl& pass : manifest_->passes) {
      if (auto traffic = traffic_of(*manifest_, *problem, pass); !traffic) return traffic.error();
      if (auto settings = resolve({}, pass, *problem); !settings) return settings.error();
      for (const auto& [name, role] : pass.roles) {
        const TensorDecl& tensor = *manifest_->find_tensor(name);
        if (auto tolerance = tolerance_of(*manifest_, *problem, tensor); !tolerance) return tolerance.error();
        if (!is_given(*manifest_, name)) continue;
        if (auto input = input_of(*manifest_, *problem, tensor, 0); !input) return input.error();
      }
    }
  }
  return {};
}

model::Request ManifestSession::resolved(const model::Request& asked) const {
  model::Request request = asked;
  request.dtype = dtype_->name;
  request.sizes = sizes();
  return request;
}

model::DeviceInfo ManifestSession::device() const {
  model::DeviceInfo info = context_.device.info();
  info.target_gpu = request_.target_gpu;
  info.hardware_match = request_.target_gpu == "auto" || request_.target_gpu == info.architecture;
  return info;
}

std::vector<std::string> ManifestSession::sizes() const {
  std::vector<std::string> names;
  for (const std::int64_t x : sizes_) names.push_back(std::to_string(x));
  return names;
}

std::vector<std::string> ManifestSession::held_out_sizes() const {
  std::vector<std::string> names;
  for (const std::int64_t x : sizes_between(sizes_))
    if (problem_at(*manifest_, x, *dtype_)) names.push_back(std::to_string(x));
  return names;
}

std::vector<std::string> ManifestSession::modes() const { return list_kernels(*manifest_).front().passes; }

std::string ManifestSession::variant_file_extension() const { return extension_of(manifest_->source); }

base::Result<Problem> ManifestSession::problem(const std::string& x_value) const {
  auto x = parse_size(x_value);
  if (!x) return x.error();
  return problem_at(*manifest_, *x, *dtype_);
}

std::vector<const PassDecl*> ManifestSession::passes_of(const std::string& mode) const {
  std::vector<const PassDecl*> passes;
  for (const PassDecl& pass : manifest_->passes)
    if (mode == "full" || pass.name == mode) passes.push_back(&pass);
  return passes;
}

std::vector<const PassDecl*> ManifestSession::passes_in_scope() const {
  return passes_of(request_.scope == "forward" || request_.scope == "backward" ? request_.scope : "full");
}

PassFloor ManifestSession::floor(const Cell& cell) {
  PassFloor total;
  auto at = problem(cell.x_value);
  if (!at) return total;
  for (const PassDecl* pass : passes_of(cell.mode)) {
    auto traffic = traffic_of(*manifest_, *at, *pass);
    if (!traffic) continue;
    total.bytes += traffic->bytes_read + traffic->bytes_written;
    total.flops += traffic->flops;
    total.bytes_read += traffic->bytes_read, total.bytes_written += traffic->bytes_written;
    if (!context_.ceilings->known()) continue;
    const std::string matrix_rate = dtype_->name == "fp32" ? "" : "matrix_" + dtype_->name + "_flops_per_s";
    const measure::PhysicsFloor floor = measure::physics_floor(
        {traffic->bytes_read, traffic->bytes_written, traffic->flops, traffic->matrix_flops, matrix_rate},
        *context_.ceilings->known(), {static_cast<double>(context_.device.info().largest_last_level_cache_bytes())});
    total.floor_ms += floor.reference_ns / 1e6;
    // Of both passes in a row only the longer one is certain: the first may leave the second its data in a cache.
    total.physics_floor_ms = std::max(total.physics_floor_ms, floor.floor_ns / 1e6);
    total.ceiling = floor.reference_ceiling;
  }
  return total;
}

}  // namespace hone::repository::manifest
