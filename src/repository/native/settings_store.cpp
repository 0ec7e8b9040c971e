#include "repository/native/settings_store.hpp"

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/regular_file.hpp"

namespace hone::repository::native {

using nlohmann::json;

namespace {

constexpr const char* kSchema = "hone.settings/1";

base::Error damaged(const std::string& path, const std::string& found) {
  return {base::ErrorKind::preflight, std::string("a settings file of schema ") + kSchema, found, path,
          "remove the file to return to the shipped settings, or finalize again"};
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
  std::vector<InstalledEntry> found;
  if (content->empty()) return found;
  json document = json::parse(*content, nullptr, false);
  if (document.is_discarded() || !document.is_object()) return damaged(path(kernel), "text that is no JSON object");
  if (document.value("schema", json()) != kSchema)
    return damaged(path(kernel), "schema " + document.value("schema", json()).dump());
  if (document.value("kernel", json()) != kernel)
    return damaged(path(kernel), "kernel " + document.value("kernel", json()).dump());
  if (!document.contains("entries") || !document["entries"].is_array())
    return damaged(path(kernel), "no list 'entries'");
  for (const json& item : document["entries"]) {
    if (!item.is_object() || !item.value("device", json()).is_string() || !item.value("dtype", json()).is_string() ||
        !item.contains("variant"))
      return damaged(path(kernel), "an entry without device, dtype or variant");
    HONE_TRY(variant, model::parse_variant(item["variant"].dump(), path(kernel)));
    auto text_of = [&](const char* key) {
      return item.contains(key) && item[key].is_string() ? item[key].get<std::string>() : std::string();
    };
    found.push_back({item["device"], item["dtype"], std::move(*variant), text_of("reason"), text_of("created"),
                     text_of("hone_version")});
  }
  return found;
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
  json items = json::array();
  for (const InstalledEntry& e : *all) {
    json variant = json::parse(model::to_json(e.variant), nullptr, false);
    items.push_back({{"device", e.device},
                     {"dtype", e.dtype},
                     {"created", e.created},
                     {"hone_version", e.hone_version},
                     {"reason", e.reason},
                     {"variant", std::move(variant)}});
  }
  return json{{"schema", kSchema}, {"kernel", kernel}, {"entries", std::move(items)}}.dump(2) + "\n";
}

}  // namespace hone::repository::native
