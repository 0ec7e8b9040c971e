#include "stages/workspace.hpp"

#include <fmt/format.h>

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "stages/records.hpp"

namespace hone::stages {

namespace {

constexpr std::uint64_t kFreeBytesNeeded = 16u << 20;  // journals, samples and documents of one run, with room to spare

base::Error preflight(std::string expected, std::string found, std::string where, std::string remedy) {
  return {base::ErrorKind::preflight, std::move(expected), std::move(found), std::move(where), std::move(remedy)};
}

// A document of another kernel or schema must not be overwritten by this run; a torn one may be.
base::Result<void> check_document(base::FileSystem& files, const std::string& path, const std::string& kernel,
                                  const std::string& schema) {
  if (!files.exists(path)) return {};
  HONE_TRY(text, base::read_regular(files, path));
  const auto head = parse_head(*text);
  if (!head) return {};
  const std::string remedy = "move the folder away, or choose another one with --workspace";
  if (head->schema != schema) {
    return preflight("a document of schema " + schema, head->schema.empty() ? "no schema" : "schema " + head->schema,
                     path, remedy);
  }
  if (!head->kernel.empty() && head->kernel != kernel) {
    return preflight("the workspace of " + kernel, "the workspace of " + head->kernel, path, remedy);
  }
  return {};
}

// What stands in the folder is of this kernel and schema, and the folder takes what a run writes.
base::Result<void> check_folder(base::FileSystem& files, const std::string& folder, const std::string& kernel) {
  HONE_PROPAGATE(check_document(files, base::join(folder, "profile.json"), kernel, model::kProfileSchema));
  HONE_PROPAGATE(check_document(files, base::join(folder, "comparison.json"), kernel, model::kComparisonSchema));
  HONE_TRY(free, files.free_bytes(folder));
  if (*free < kFreeBytesNeeded) {
    return preflight("at least 16 MiB free for the workspace",
                     fmt::format("{:.1f} MiB", static_cast<double>(*free) / (1 << 20)), folder,
                     "free some space, or choose a folder on another disk with --workspace");
  }
  // Only a write shows that writing works: modes, read-only mounts and quotas all answer here.
  const std::string probe = base::join(folder, ".write_check");
  HONE_PROPAGATE(files.write_atomically(probe, "hone checks that this folder can be written\n"));
  return files.remove(probe);
}

}  // namespace

base::Result<Workspace> Workspace::open(base::FileSystem& files, const std::string& root, const std::string& kernel) {
  const std::string folder = base::join(root, kernel);
  const bool there = files.exists(folder);
  HONE_PROPAGATE(files.create_directories(folder));
  auto usable = check_folder(files, folder, kernel);
  if (!usable && !there) (void)files.remove_recursively(folder).ok();  // the refusal counts, not what is left of it
  if (!usable) return usable.error();
  return Workspace(files, folder, kernel);
}

std::string Workspace::at(const std::string& name) const { return base::join(folder_, name); }
std::string Workspace::notes_name(const std::string& variant) const { return kernel_ + "_" + variant + "_notes.md"; }
std::string Workspace::settings_name(const std::string& variant) const {
  return kernel_ + "_" + variant + "_settings.json";
}
std::string Workspace::source_name(const std::string& variant, const std::string& extension) const {
  return kernel_ + "_" + variant + "." + extension;
}
std::string Workspace::results_name(const std::string& variant) const {
  return "benchmarks/" + variant + "_results.csv";
}

std::string Workspace::snapshot_name(const std::string& source) const {
  const std::string name = base::file_name(source);
  if (base::starts_with(name, "original_")) return name;
  if (base::starts_with(name, kernel_ + ".")) return "original_" + name;
  return "original_" + kernel_ + "_" + name;
}

base::Result<std::vector<std::string>> Workspace::write_snapshot(
    const std::vector<std::pair<std::string, std::string>>& sources) const {
  std::vector<std::string> names;
  for (const auto& [source, content] : sources) {
    const std::string first = snapshot_name(source);
    const std::size_t dot = first.find('.');
    std::string name = first;
    for (int number = 2; files_->exists(at(name)); ++number) {
      HONE_TRY(present, files_->read(at(name)));
      if (*present == content) break;
      name = dot == std::string::npos ? fmt::format("{}_{}", first, number)
                                      : fmt::format("{}_{}{}", first.substr(0, dot), number, first.substr(dot));
    }
    if (!files_->exists(at(name))) {
      HONE_PROPAGATE(write(name, content));
    }
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> Workspace::missing_snapshot(
    const std::vector<std::pair<std::string, std::string>>& sources) const {
  std::vector<std::string> missing;
  for (const auto& source : sources) {
    if (!files_->exists(at(snapshot_name(source.first)))) missing.push_back(snapshot_name(source.first));
  }
  return missing;
}

base::Result<void> Workspace::write(const std::string& name, const std::string& content) const {
  return files_->write_atomically(at(name), content);
}

base::Result<std::string> Workspace::read(const std::string& name, const std::string& made_by) const {
  if (!files_->exists(at(name))) {
    return preflight(name + " in the workspace", "no such file", folder_, "'" + made_by + "' makes it");
  }
  return base::read_regular(*files_, at(name));
}

base::Result<model::Profile> Workspace::load_profile() const {
  HONE_TRY(text, read("profile.json", "hone profile " + kernel_));
  return model::parse_profile(*text, at("profile.json"));
}

base::Result<model::ComparisonDocument> Workspace::load_comparison() const {
  HONE_TRY(text, read("comparison.json", "hone optimize " + kernel_));
  return model::parse_comparison(*text, at("comparison.json"));
}

base::Result<model::Variant> Workspace::load_variant(const std::string& id) const {
  HONE_TRY(text, read(settings_name(id), "hone optimize " + kernel_));
  return model::parse_variant(*text, at(settings_name(id)));
}

}  // namespace hone::stages
