#include "source/edit.hpp"

#include <algorithm>

#include "source/audit.hpp"
#include "source/source_text.hpp"

namespace hone::source {

namespace {

std::string span_text(const Replacement& r) {
  return "bytes " + std::to_string(r.start) + " to " + std::to_string(r.end);
}

base::Error refused(std::string expected, std::string found, const std::string& where) {
  return {base::ErrorKind::usage, std::move(expected), std::move(found), where,
          "compute the spans again from the text as it is now"};
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

base::Result<std::string> apply(const std::string& original, std::vector<Replacement> replacements,
                                const std::string& where) {
  std::stable_sort(replacements.begin(), replacements.end(), [](const Replacement& a, const Replacement& b) {
    return a.start != b.start ? a.start < b.start : a.end < b.end;
  });
  const bool utf8 = is_utf8(original);
  for (std::size_t i = 0; i < replacements.size(); ++i) {
    const Replacement& at = replacements[i];
    if (at.end < at.start || at.end > original.size()) {
      return refused("a span inside the text of " + std::to_string(original.size()) + " bytes", span_text(at), where);
    }
    const auto splits = [&](std::size_t offset) {
      return utf8 && offset < original.size() && is_continuation(original[offset]);
    };
    if (splits(at.start) || splits(at.end)) return refused("a span of whole characters", span_text(at), where);
    if (i == 0) continue;
    const Replacement& before = replacements[i - 1];
    const bool same_place =
        at.start == before.start && (at.start == at.end || before.start == before.end) && at.end == before.end;
    if (at.start < before.end || same_place)
      return refused("spans that do not overlap", span_text(before) + " and " + span_text(at), where);
  }
  std::string edited;
  std::size_t copied = 0;
  for (const Replacement& at : replacements) {
    edited.append(original, copied, at.start - copied);
    edited += at.text;
    copied = at.end;
  }
  edited.append(original, copied, std::string::npos);
  return edited;
}

base::Result<EditedSource> edit_and_audit(base::FileSystem& files, const std::string& path, const std::string& original,
                                          std::vector<Replacement> replacements) {
  HONE_TRY(text, apply(original, std::move(replacements), path));
  EditedSource edited;
  edited.facts = audit_text(files, path, *text);
  edited.text = std::move(*text);
  if (!edited.facts.problems.empty()) {
    const std::size_t before = audit_text(files, path, original).problems.size();
    if (edited.facts.problems.size() > before) {
      const model::SourceProblem& problem = edited.facts.problems.back();
      return base::Error{base::ErrorKind::usage, "an edit that leaves the text parseable", problem.what,
                         path + ":" + std::to_string(problem.line), "correct the replacement; nothing was written"};
    }
  }
  return edited;
}

base::Result<Replacement> replace_unique(const std::string& text, const std::string& old_text,
                                         const std::string& new_text, const std::string& where) {
  std::size_t count = 0, first = 0;
  for (std::size_t at = old_text.empty() ? std::string::npos : text.find(old_text); at != std::string::npos;
       at = text.find(old_text, at + 1)) {
    if (count++ == 0) first = at;
  }
  if (count != 1)
    return refused("exactly one occurrence of the text to replace", std::to_string(count) + " occurrences", where);
  return Replacement{first, first + old_text.size(), new_text};
}

}  // namespace hone::source
