#include "stages/journal.hpp"

#include "base/hash.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"

namespace hone::stages {

std::string run_identity(const model::Profile& profile) {
  model::Profile without_plan = profile;
  without_plan.strategy_order.clear();
  without_plan.plan_note.clear();
  return base::content_hash(model::to_json(without_plan)) + " " + profile.identity.source_hash + " " +
         profile.device.id + " " + profile.device.name;
}

base::Result<Journal> Journal::open(base::FileSystem& files, base::Clock& clock, const std::string& path,
                                    const std::string& identity) {
  Journal journal(files, clock, path);
  std::string text;
  if (files.exists(path)) {
    HONE_TRY(read, base::read_regular(files, path));
    text = std::move(*read);
  }
  bool ours = false;
  for (const std::string& line : base::split(text, '\n')) {
    if (line.empty()) continue;
    auto record = parse_line(line);
    if (!record) {
      ++journal.torn_;
      continue;
    }
    if (record->event == "begin") {
      ours = record->text_at("identity") == identity;
    } else if (ours) {
      const std::string key = record->text_at("key");
      const std::string event = record->event;
      journal.records_[{event, key}] = std::move(*record);
      if (event != kAnswered && event != kPlanned) ++journal.resumed_;
    }
  }
  journal.line_open_ = !text.empty() && text.back() != '\n';
  if (!ours) {
    Record begin;
    begin.event = "begin";
    begin.text = {{"identity", identity}, {"at", clock.utc()}};
    HONE_PROPAGATE(journal.append_line(to_line(begin)));
  }
  return journal;
}

const Record* Journal::find(const std::string& event, const std::string& key) const {
  const auto found = records_.find({event, key});
  return found == records_.end() ? nullptr : &found->second;
}

base::Result<void> Journal::append(const std::string& key, Record record) {
  record.text["key"] = key;
  record.text["at"] = clock_->utc();
  HONE_PROPAGATE(append_line(to_line(record)));
  records_[{record.event, key}] = std::move(record);
  return {};
}

base::Result<void> Journal::append_line(const std::string& line) {
  HONE_PROPAGATE(files_->append(path_, (line_open_ ? "\n" : "") + line + "\n"));
  line_open_ = false;
  return {};
}

}  // namespace hone::stages
