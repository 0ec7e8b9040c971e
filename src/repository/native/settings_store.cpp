#include "repository/native/settings_store.hpp"

#include <cstdlib>

#include "base/regular_file.hpp"
#include "model/variant_fields.hpp"

namespace hone::repository::launch {

void fields(auto& archive, model::of<InstalledEntry> auto& entry) {
  archive.required("device", entry.device);
  archive.required("dtype", entry.dtype);
  archive.optional("reason", entry.reason);
  archive.optional("created", entry.created);
  archive.optional("hone_version", entry.hone_version);
  archive.required_object("variant", [&](auto& variant) {
    model::schema_field(variant, model::kVariantSchema);
    fields(variant, entry.variant);
  });
}

}  // namespace hone::repository::launch

namespace hone::repository::native {

namespace {

constexpr const char* kSchema = "hone.settings/1";

struct SettingsFile {
  std::string kernel;
  std::vector<InstalledEntry> entries;
};

void fields(auto& archive, model::of<SettingsFile> auto& file) {
  archive.required("kernel", file.kernel);
  archive.required("entries", file.entries);
}

}  // namespace

std::string SettingsStore::default_directory() {
  if (const char* directory = std::getenv("HONE_SETTINGS_DIR"); directory && *directory) return directory;
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) return base::join(data, "hone/settings");
  const char* home = std::getenv("HOME");
  return base::join(home && *home ? home : "/tmp", ".local/share/hone/settings");
}

std::string SettingsStore::path(const std::string& kernel) const { return base::join(directory_, kernel + ".json"); }

base::Result<std::string> SettingsStore::text(const std::string& kernel) const {
  if (!files_.exists(path(kernel))) return std::string();
  return base::read_regular(files_, path(kernel));
}

base::Result<std::vector<InstalledEntry>> SettingsStore::entries(const std::string& kernel) const {
  HONE_TRY(content, text(kernel));
  if (content->empty()) return std::vector<InstalledEntry>{};
  const std::string remedy = "remove the file to return to the shipped settings, or finalize again";
  HONE_TRY(file, model::parse_document<SettingsFile>(*content, kSchema, path(kernel), remedy));
  if (file->kernel != kernel)
    return base::Error{base::ErrorKind::preflight, "the settings of " + kernel, "those of '" + file->kernel + "'",
                       path(kernel), remedy};
  return std::move(file->entries);
}

base::Result<std::optional<InstalledEntry>> SettingsStore::load(const std::string& kernel, const std::string& device,
                                                                const std::string& dtype) const {
  HONE_TRY(all, entries(kernel));
  for (InstalledEntry& entry : *all)
    if (entry.device == device && entry.dtype == dtype) return std::optional<InstalledEntry>(std::move(entry));
  return std::optional<InstalledEntry>();
}

base::Result<std::string> SettingsStore::text_with(const std::string& kernel, const InstalledEntry& entry) const {
  HONE_TRY(all, entries(kernel));
  std::erase_if(*all, [&](const InstalledEntry& e) { return e.device == entry.device && e.dtype == entry.dtype; });
  all->push_back(entry);
  return model::write_document(kSchema, SettingsFile{kernel, std::move(*all)}).dump_plain(2) + "\n";
}

}  // namespace hone::repository::native
