// journal.jsonl: what was measured, appended line by line, so that a killed run goes on where it was.
//
// Stages are deterministic given their measurements. So resuming is running again: every measurement asks the journal by key
// first, and only what is not there is measured. A kill loses at most the one being measured.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "model/profile.hpp"
#include "stages/records.hpp"

namespace hone::stages {

// What a person decided (stages/checkpoint.hpp): the answer to a question, and a changed plan.
inline constexpr char kAnswered[] = "answered";
inline constexpr char kPlanned[] = "planned";

// The identity of a run: the profile's content, the source and the device. The plan is no part of it: a person may change that,
// and what was measured holds under any order of the steps.
std::string run_identity(const model::Profile& profile);

class Journal {
 public:
  // Opens the journal for one run identity (profile, source, device). Lines of another identity stay in the file and are
  // not used. A torn line, as a kill leaves it, is skipped and counted.
  static base::Result<Journal> open(base::FileSystem& files, base::Clock& clock, const std::string& path,
                                    const std::string& identity);

  // The latest entry of `event` under `key`; nothing when there is none that can be read.
  template <class Entry>
  std::optional<Entry> find(const std::string& event, const std::string& key) const {
    const auto found = lines_.find({event, key});
    return found == lines_.end() ? std::nullopt : found->second.template as<Entry>();
  }
  // Appends an entry under `key` and remembers it. The line has reached the disk when it returns.
  template <class Entry>
  base::Result<void> append(const std::string& event, const std::string& key, const Entry& entry) {
    model::FieldWriter writer;
    writer.written("event", event), writer.written("key", key), writer.written("at", clock_->utc());
    fields(writer, entry);
    return append({event, key, writer.take()});
  }

  int resumed_records() const { return resumed_; }  // measurements of this identity, found at opening
  int torn_lines() const { return torn_; }

 private:
  Journal(base::FileSystem& files, base::Clock& clock, std::string path)
      : files_(&files), clock_(&clock), path_(std::move(path)) {}
  base::Result<void> append(JournalLine line);

  base::FileSystem* files_;
  base::Clock* clock_;
  std::string path_;
  bool line_open_ = false;  // the file's last line has no end: a kill tore it
  int resumed_ = 0, torn_ = 0;
  std::map<std::pair<std::string, std::string>, JournalLine> lines_;
};

}  // namespace hone::stages
