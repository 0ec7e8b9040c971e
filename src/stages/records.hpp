// JSON objects, one a line: what the journals are made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/fields.hpp"

namespace hone::stages {

// A line of a journal: what it is of, and the fields of an entry beside.
struct JournalLine {
  std::string event, key;
  model::Json json;  // the whole line

  std::string text_at(std::string_view name) const;  // empty when absent
  // Nothing where a field is of another kind. What is null, as numbers that are not finite, is left as in a new entry.
  template <class Entry>
  std::optional<Entry> as() const {
    model::JsonFault fault;
    model::FieldReader reader(json, fault);
    Entry entry;
    fields(reader, entry);
    return fault.any() ? std::nullopt : std::optional<Entry>(std::move(entry));
  }
};
std::optional<JournalLine> parse_line(std::string_view line);  // nothing for a torn or foreign line

// "schema" and "kernel" of a document without reading the rest; nothing when it is no JSON object.
struct DocumentHead {
  std::string schema, kernel;
};
std::optional<DocumentHead> parse_head(const std::string& json);

// Of report.json: which profile it rests on, and whether it says that a variant is in production.
struct ReportHead {
  std::string profile_created;
  bool applied = false;
};
std::optional<ReportHead> parse_report_head(const std::string& json);

}  // namespace hone::stages
