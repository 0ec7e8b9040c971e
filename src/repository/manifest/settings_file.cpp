#include "repository/manifest/settings_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/document/table_reader.hpp"

namespace hone::repository::manifest {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 53;

// A basic string of TOML.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

void read_rule(TableReader& table, InstalledEntry& entry) {
  model::SettingsRule rule;
  const std::string pass = table.choice("pass", {"forward", "backward"}, "");
  const std::string x_name = table.identifier("x_name", "the size that 'from' is a value of");
  rule.from_x = table.whole("from", 0, kMost, 0);
  rule.reason = table.text("reason");
  const Node* values = table.required("values", "the knobs with their values");
  if (values && values->kind == Node::Kind::table) {
    TableReader knobs(table.reading(), *values, "'values' of " + table.what());
    for (const Node::Member& knob : values->members)
      rule.settings[knob.name] = knobs.whole(knob.name, -kMost, kMost, 0);
  } else if (values) {
    table.wrong_kind("values", *values, "a table");
  }
  table.finish();
  if (table.reading().error) return;
  model::SettingsFunction& function = entry.variant.settings[pass];
  if (function.rules.empty() ? rule.from_x != 0 : rule.from_x <= function.rules.back().from_x)
    table.reading().fail(table.place("from"), "rules of a pass from 0 on, ascending", std::to_string(rule.from_x),
                         "put them in order; the first has from = 0");
  function.x_name = x_name;
  function.reason = entry.reason;
  function.rules.push_back(std::move(rule));
}

}  // namespace

base::Result<std::vector<InstalledEntry>> parse_settings(const std::string& text, const std::string& path) {
  std::vector<InstalledEntry> entries;
  if (base::trim(text).empty()) return entries;
  HONE_TRY(root, parse_document(text, path));
  Reading reading{path, std::nullopt};
  TableReader top(reading, *root, "the settings");
  top.text("kernel");
  if (const Node* list = top.node("entry")) {
    if (list->kind != Node::Kind::array) top.wrong_kind("entry", *list, "an array of tables, [[entry]]");
    for (const Node& item : list->items) {
      TableReader table(reading, item, "an [[entry]]");
      InstalledEntry entry;
      entry.device = table.required_text("device", "the device's name");
      entry.dtype = table.required_text("dtype", "the element type");
      entry.reason = table.text("reason");
      entry.created = table.text("created");
      entry.hone_version = table.text("hone_version");
      const Node* rules = table.required("rule", "[[entry.rule]] for each pass");
      if (rules && rules->kind != Node::Kind::array) table.wrong_kind("rule", *rules, "an array of tables");
      if (!reading.error)
        for (const Node& rule : rules->items) {
          TableReader one(reading, rule, "an [[entry.rule]]");
          read_rule(one, entry);
        }
      table.finish();
      if (reading.error) return *reading.error;
      entries.push_back(std::move(entry));
    }
  }
  top.finish();
  if (reading.error) return *reading.error;
  return entries;
}

std::string settings_text(const std::string& kernel, const std::vector<InstalledEntry>& entries) {
  std::string text = fmt::format(
      "# Knobs of {} in force, by device and element type; written by 'hone finalize'.\n"
      "# Of a pass the rule with the largest 'from' that is not above the size holds.\n"
      "kernel = {}\n",
      kernel, quoted(kernel));
  for (const InstalledEntry& entry : entries) {
    text += fmt::format("\n[[entry]]\ndevice = {}\ndtype = {}\ncreated = {}\nhone_version = {}\nreason = {}\n",
                        quoted(entry.device), quoted(entry.dtype), quoted(entry.created), quoted(entry.hone_version),
                        quoted(entry.reason));
    for (const auto& [pass, function] : entry.variant.settings)
      for (const model::SettingsRule& rule : function.rules) {
        std::vector<std::string> values;
        for (const auto& [name, value] : rule.settings) values.push_back(fmt::format("{} = {}", name, value));
        text += fmt::format("\n[[entry.rule]]\npass = {}\nx_name = {}\nfrom = {}\nvalues = {{ {} }}\nreason = {}\n",
                            quoted(pass), quoted(function.x_name), rule.from_x, base::join_text(values, ", "),
                            quoted(rule.reason));
      }
  }
  return text;
}

base::Result<std::string> text_with(const std::string& text, const std::string& path, const std::string& kernel,
                                    const InstalledEntry& entry) {
  HONE_TRY(entries, parse_settings(text, path));
  std::erase_if(*entries, [&](const InstalledEntry& e) { return e.device == entry.device && e.dtype == entry.dtype; });
  entries->push_back(entry);
  return settings_text(kernel, *entries);
}

}  // namespace hone::repository::manifest
