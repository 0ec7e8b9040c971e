#include "stages/finalize/install.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace hone::stages {

template <class Archive>
void fields(Archive& archive, model::of<Installation> auto& installation) {
  archive.optional("number", installation.number);
  archive.optional("variant", installation.variant);
  archive.optional("at", installation.at);
  archive.written("files", installation.files.size());
  if constexpr (Archive::reads)
    while (archive.has("path_" + std::to_string(installation.files.size()))) installation.files.emplace_back();
  for (std::size_t i = 0; i < installation.files.size(); ++i) {
    auto& file = installation.files[i];
    const std::string n = std::to_string(i);
    archive.optional("path_" + n, file.path);
    archive.optional("copy_" + n, file.before_copy);
    archive.optional("before_" + n, file.before_hash);
    archive.optional("after_" + n, file.after_hash);
    if constexpr (Archive::reads) file.existed = !file.before_copy.empty();
  }
}

namespace {

// A later state of an installation that a line before intended.
struct Reached {
  int number = 0;
  std::string at;
};

void fields(auto& archive, model::of<Reached> auto& reached) {
  archive.optional("number", reached.number);
  archive.optional("at", reached.at);
}

constexpr const char* kJournal = "install/journal.jsonl";

base::Error changed_meanwhile(const std::string& path, const std::string& expected) {
  return {
      base::ErrorKind::preflight, expected, "other content", path,
      "somebody else changed this file; compare it with the copy in the workspace's install folder and decide by hand"};
}

}  // namespace

base::Result<Installer> Installer::open(const Workspace& workspace, base::Clock& clock, std::atomic<bool>* unverified) {
  Installer installer(workspace, clock);
  installer.unverified_ = unverified;
  const std::string path = workspace.at(kJournal);
  if (!workspace.files().exists(path)) return installer;
  HONE_TRY(text, workspace.files().read(path));
  for (const std::string& line : base::split(*text, '\n')) {
    const auto noted = parse_line(line);
    if (!noted) continue;
    if (auto intended = noted->as<Installation>(); intended && noted->event == "intended")
      installer.last_ = std::move(*intended);
    const auto reached = noted->as<Reached>();
    if (installer.last_ && reached && installer.last_->number == reached->number) installer.last_->state = noted->event;
  }
  installer.line_open_ = !text->empty() && text->back() != '\n';
  return installer;
}

std::string Installer::state_of(const Installation::File& file) const {
  base::FileSystem& files = workspace_.files();
  if (!files.exists(file.path)) return file.existed ? "other" : "before";
  auto text = files.read(file.path);
  if (!text) return "unreadable";
  const std::string hash = base::content_hash(*text);
  // Equal old and new content needs no change: it counts as the old one.
  if (file.existed && hash == file.before_hash) return "before";
  return hash == file.after_hash ? "after" : "other";
}

base::Result<void> Installer::note(const std::string& state, const std::string& reason) {
  model::FieldWriter line;
  line.written("event", state), line.written("reason", reason);
  const Reached reached{last_->number, clock_->utc()};
  if (state == "intended")
    fields(line, *last_);
  else
    fields(line, reached);
  HONE_PROPAGATE(
      workspace_.files().append(workspace_.at(kJournal), (line_open_ ? "\n" : "") + line.take().dump_plain() + "\n"));
  line_open_ = false;
  last_->state = state;
  if (unverified_ != nullptr) *unverified_ = state == "intended" || state == "applied";
  return {};
}

base::Result<void> Installer::restore() {
  base::FileSystem& files = workspace_.files();
  std::vector<const Installation::File*> foreign;
  for (const Installation::File& file : last_->files) {
    const std::string state = state_of(file);
    if (state == "before") continue;
    if (state != "after") {
      foreign.push_back(&file);
      continue;
    }
    if (!file.existed) {
      if (auto removed = files.remove(file.path); !removed) return removed;
      continue;
    }
    HONE_TRY(before, files.read(workspace_.at(file.before_copy)));
    if (base::content_hash(*before) != file.before_hash)
      return changed_meanwhile(workspace_.at(file.before_copy), "the copy of the old content");
    if (auto written = files.write_atomically(file.path, *before); !written) return written;
  }
  if (!foreign.empty())
    return changed_meanwhile(foreign.front()->path, "the old content, or that of " + last_->variant);
  return {};
}

base::Result<std::optional<std::string>> Installer::recover() {
  if (!last_ || last_->state == "verified" || last_->state == "reverted") return std::optional<std::string>();
  HONE_PROPAGATE(restore());
  HONE_PROPAGATE(note("reverted", "the run that installed it did not come to its end"));
  return std::optional<std::string>(
      fmt::format("an earlier run was stopped while installing {}: production is as it was before", last_->variant));
}

base::Result<void> Installer::apply(const std::string& variant, const std::vector<repository::FileChange>& changes) {
  base::FileSystem& files = workspace_.files();
  Installation next;
  next.number = last_ ? last_->number + 1 : 1;
  next.variant = variant, next.at = clock_->utc(), next.state = "intended";
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const repository::FileChange& change = changes[i];
    Installation::File file{change.path, "", base::content_hash(change.before), base::content_hash(change.after),
                            change.existed};
    if (file.existed)
      file.before_copy = fmt::format("install/{}/before_{}_{}", next.number, i, base::file_name(change.path));
    if (state_of(file) != "before")
      return changed_meanwhile(change.path, "the content the installation was planned for");
    if (file.existed) {
      if (auto kept = workspace_.write(file.before_copy, change.before); !kept) return kept;
    }
    next.files.push_back(file);
  }
  const std::optional<Installation> previous = last_;
  last_ = next;
  if (auto noted = note("intended", ""); !noted) {
    last_ = previous;
    return noted;
  }
  for (const repository::FileChange& change : changes) {
    auto written = files.write_atomically(change.path, change.after);
    if (written) continue;
    if (auto reverted = revert("a file could not be written"); !reverted) {
      base::Error error = reverted.error();
      error.remedy += "; the next run of hone takes the installation back first";
      return error;
    }
    return written;
  }
  if (auto noted = note("applied", ""); !noted) {
    if (auto reverted = revert("the journal could not be written"); !reverted) return reverted;
    return noted;
  }
  return {};
}

base::Result<void> Installer::verified() { return note("verified", ""); }

base::Result<void> Installer::revert(const std::string& reason) {
  if (!last_ || last_->state == "reverted") return {};
  if (auto restored = restore(); !restored) return restored;
  // The files are what they were. Where a full disk takes no note of it, the next start finds them so and writes it then.
  (void)note("reverted", reason).ok();
  last_->state = "reverted";
  if (unverified_ != nullptr) *unverified_ = false;
  return {};
}

std::optional<Installation> Installer::in_force() const {
  if (!last_ || last_->state != "verified") return std::nullopt;
  for (const Installation::File& file : last_->files) {
    if (state_of(file) != "after") return std::nullopt;
  }
  return last_;
}

}  // namespace hone::stages
