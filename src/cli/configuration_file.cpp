#include "cli/configuration_file.hpp"

#include <algorithm>
#include <optional>

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "cli/environment.hpp"
#include "repository/document/document.hpp"
#include "repository/manifest/read_manifest.hpp"

namespace hone::cli {

namespace {

using repository::at;
using repository::Node;
using repository::Place;

constexpr const char* kTable = "defaults";

// Whether a hone.toml describes a kernel too: then its other keys are read with the kernel.
bool is_manifest(const Node& root) {
  constexpr const char* kKeysOfManifests[] = {"name", "language", "source", "tensor", "pass"};
  return std::any_of(std::begin(kKeysOfManifests), std::end(kKeysOfManifests),
                     [&](const char* key) { return root.find(key) != nullptr; });
}

std::vector<std::string> keys_of(const std::vector<std::string>& flags) {
  std::vector<std::string> keys;
  for (const std::string& name : flags)
    if (!find_flag(name)->one_call) keys.push_back(name.substr(2));
  return keys;
}

std::vector<std::string> all_keys() {
  std::vector<std::string> names;
  for (const Flag& flag : all_flags()) names.push_back(flag.name);
  return keys_of(names);
}

// Reads one file; the first thing that is wrong ends it.
class Reader {
 public:
  Reader(std::string path, std::string home) : path_(std::move(path)), home_(std::move(home)) {}

  // The values of one command; all tables are checked, whichever command it is.
  base::Result<FlagValues> read(const Node& table, const CommandSpec& command) const {
    FlagValues general, own;
    for (const Node::Member& member : table.members) {
      const CommandSpec* named = find_command(member.name);
      if (named == nullptr || member.value.kind != Node::Kind::table) {
        HONE_PROPAGATE(add(member, all_keys(), general));
        continue;
      }
      FlagValues values;
      for (const Node::Member& inner : member.value.members) HONE_PROPAGATE(add(inner, keys_of(named->flags), values));
      HONE_PROPAGATE(check_contradictions(member.value, values));
      if (named == &command) own = std::move(values);
    }
    HONE_PROPAGATE(check_contradictions(table, general));
    std::erase_if(general, [&](const auto& entry) { return !takes(command, entry.first); });
    add_uncontradicted(own, general);
    return own;
  }

  base::Error wrong(const Place& place, std::string expected, std::string found, std::string remedy) const {
    return {base::ErrorKind::usage, std::move(expected), std::move(found), at(path_, place), std::move(remedy)};
  }

 private:
  static constexpr const char* kSee = "docs/configuration.md and 'hone COMMAND --help' describe the keys";

  base::Result<void> check_contradictions(const Node& table, const FlagValues& values) const {
    const auto both = contradiction(values);
    if (!both) return {};
    const std::string first = both->first.substr(2), second = both->second.substr(2);
    return wrong(table.find(second)->place, first + " or " + second, "both", "leave one of them out");
  }

  base::Result<void> add(const Node::Member& member, const std::vector<std::string>& keys, FlagValues& into) const {
    if (std::find(keys.begin(), keys.end(), member.name) == keys.end()) {
      const bool known = find_flag("--" + member.name) != nullptr;
      return wrong(member.place, known ? "a flag that a file can set for this command" : "the name of a flag",
                   "'" + member.name + "'", did_you_mean(member.name, keys, kSee));
    }
    const Flag& flag = *find_flag("--" + member.name);
    HONE_TRY(values, values_of(flag, member.value));
    into[flag.name] = std::move(*values);
    return {};
  }

  base::Result<std::vector<std::string>> values_of(const Flag& flag, const Node& node) const {
    using Kind = Node::Kind;
    std::vector<std::string> values;
    const auto add_text = [&](const Node& item, const std::string& text) -> base::Result<void> {
      HONE_TRY(read, read_value(flag, text, at(path_, item.place), kSee));
      values.push_back(flag.kind == FlagKind::path ? resolved(*read) : *read);
      return {};
    };
    const auto add_scalar = [&](const Node& item, bool numbers) -> base::Result<void> {
      if (item.kind == Kind::text) return add_text(item, item.text);
      if (item.kind == Kind::whole && numbers) return add_text(item, std::to_string(item.whole));
      return wrong(item.place, "'" + flag.name.substr(2) + "' as " + form(flag), item.kind_name(), kSee);
    };
    switch (flag.kind) {
      case FlagKind::boolean:
        if (node.kind != Kind::truth) break;
        return node.truth ? values : std::vector<std::string>{"false"};
      case FlagKind::list:
      case FlagKind::sizes:
        if (node.kind != Kind::array) break;
        for (const Node& item : node.items) HONE_PROPAGATE(add_scalar(item, flag.kind == FlagKind::sizes));
        return values;
      case FlagKind::pair:
        if (node.kind != Kind::table) break;
        for (const Node::Member& member : node.members) {
          if (member.value.kind != Kind::text && member.value.kind != Kind::whole)
            return wrong(member.place, "a text or an integer for '" + member.name + "'", member.value.kind_name(),
                         kSee);
          const std::string value =
              member.value.kind == Kind::text ? member.value.text : std::to_string(member.value.whole);
          HONE_PROPAGATE(add_text(member.value, member.name + "=" + value));
        }
        return values;
      case FlagKind::integer:
        if (node.kind != Kind::whole) break;
        HONE_PROPAGATE(add_scalar(node, true));
        return values;
      case FlagKind::text:
      case FlagKind::path:
        if (node.kind != Kind::text) break;
        HONE_PROPAGATE(add_scalar(node, false));
        return values;
    }
    return wrong(node.place, "'" + flag.name.substr(2) + "' as " + form(flag), node.kind_name(), kSee);
  }

  static const char* form(const Flag& flag) {
    switch (flag.kind) {
      case FlagKind::boolean: return "true or false";
      case FlagKind::integer: return "an integer";
      case FlagKind::list: return "an array of texts";
      case FlagKind::sizes: return "an array of sizes, such as [512, \"4k\"]";
      case FlagKind::pair: return "a table, such as { casting_mode = \"gemma\" }";
      case FlagKind::text:
      case FlagKind::path: break;
    }
    return "a text";
  }

  // A path of a file is relative to that file, wherever hone is started.
  std::string resolved(const std::string& path) const {
    if (base::starts_with(path, "~/") && !home_.empty()) return base::join(home_, path.substr(2));
    return base::join(base::parent(path_), path);
  }

  std::string path_, home_;
};

// The values a file holds for the command; none where it has no table of defaults.
base::Result<std::optional<FlagValues>> read_file(base::FileSystem& files, const std::string& path, bool of_project,
                                                  const CommandSpec& command, const std::string& home) {
  HONE_TRY(text, base::read_regular(files, path, repository::kLargestDocumentBytes));
  HONE_TRY(root, repository::parse_document(*text, path));
  const Reader reader(path, home);
  if (!of_project || !is_manifest(*root)) {
    for (const Node::Member& member : root->members)
      if (member.name != kTable)
        return reader.wrong(member.place, "the table [defaults] and nothing beside it", "'" + member.name + "'",
                            did_you_mean(member.name, {kTable}, "docs/configuration.md describes the file"));
  }
  const Node::Member* defaults = root->find(kTable);
  if (defaults == nullptr) return std::optional<FlagValues>();
  const Node* table = &defaults->value;
  if (table->kind != Node::Kind::table)
    return reader.wrong(table->place, "a table [defaults]", table->kind_name(), "write its keys below [defaults]");
  HONE_TRY(values, reader.read(*table, command));
  return std::optional<FlagValues>(std::move(*values));
}

// Where a project's file may stand, the nearest first.
std::vector<std::string> candidates(base::FileSystem& files, const ConfigurationPlaces& places) {
  std::vector<std::string> paths;
  const auto upwards_from = [&](std::string folder) {
    while (true) {
      paths.push_back(base::join(folder, repository::manifest::kManifestName));
      const std::string above = base::parent(folder);
      if (above == folder || above == ".") return;
      folder = above;
    }
  };
  if (!places.repository.empty()) {
    const std::string named = base::join(places.current_folder, places.repository);
    const bool folder = files.is_directory(named);
    if (!folder && repository::manifest::is_manifest(files, named)) paths.push_back(named);
    upwards_from(folder ? named : base::parent(named));
  }
  upwards_from(places.current_folder);
  return paths;
}

}  // namespace

base::Result<FlagDefaults> read_configuration(base::FileSystem& files, const CommandSpec& command,
                                              const ConfigurationPlaces& places) {
  FlagDefaults defaults;
  const auto take = [&](const std::string& path, bool of_project) -> base::Result<bool> {
    if (path.empty() || !files.exists(path)) return false;
    if (files.is_directory(path))
      return base::Error{base::ErrorKind::usage, "a configuration file", "a folder of that name", path,
                         "move the folder away, or read no configuration file with --no-config"};
    HONE_TRY(values, read_file(files, path, of_project, command, places.home));
    if (!values->has_value()) return false;
    defaults.files.push_back(path);
    add_uncontradicted(defaults.values, **values);
    return true;
  };
  for (const std::string& path : candidates(files, places)) {
    HONE_TRY(taken, take(path, true));
    if (*taken) break;
  }
  HONE_PROPAGATE(take(places.user_file, false));
  std::erase_if(defaults.values, [](const auto& entry) {
    return find_flag(entry.first)->kind == FlagKind::boolean && !entry.second.empty();
  });
  return defaults;
}

std::string user_configuration_file() {
  const std::string configuration = variable("XDG_CONFIG_HOME"), home = variable("HOME");
  if (base::starts_with(configuration, "/")) return base::join(configuration, "hone/config.toml");
  return base::starts_with(home, "/") ? base::join(home, ".config/hone/config.toml") : "";
}

void take_defaults(Typed& typed, const FlagValues& defaults) {
  FlagValues all = typed.values;
  add_uncontradicted(all, defaults);
  std::erase_if(all, [&](const auto& entry) { return typed.given(entry.first); });
  typed.defaults.merge(all);
}

}  // namespace hone::cli
