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
    auto read = parse_line(line);
    if (!read) {
      ++journal.torn_;
    } else if (read->event == "begin") {
      ours = read->text_at("identity") == identity;
    } else if (ours) {
      if (read->event != kAnswered && read->event != kPlanned) ++journal.resumed_;
      journal.lines_[{read->event, read->key}] = std::move(*read);
    }
  }
  journal.line_open_ = !text.empty() && text.back() != '\n';
  if (!ours)
    HONE_PROPAGATE(journal.append(
        {"begin", "", model::Json::object({{"event", "begin"}, {"identity", identity}, {"at", clock.utc()}})}));
  return journal;
}

base::Result<void> Journal::append(JournalLine line) {
  HONE_PROPAGATE(files_->append(path_, (line_open_ ? "\n" : "") + line.json.dump_plain() + "\n"));
  line_open_ = false;
  lines_[{line.event, line.key}] = std::move(line);
  return {};
}

}  // namespace hone::stages
