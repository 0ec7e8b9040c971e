// Byte-exact edits of a source text, and the check that the result still parses and what it now says.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/source_facts.hpp"

namespace hone::source {

// Replaces bytes [start, end) of the original; start == end inserts.
struct Replacement {
  std::size_t start = 0, end = 0;
  std::string text;
};

// Applies all replacements at once: offsets are those of the original, whatever their order. Everything outside them
// stays as it is to the byte (line endings, tabs, encoding, a missing last line break). Refuses, changing nothing:
// spans that overlap or two insertions at one place (their order would be a guess), an end before its start, a span
// outside the text or inside a UTF-8 character of a UTF-8 text. `where` names the text in errors.
base::Result<std::string> apply(const std::string& original, std::vector<Replacement> replacements,
                                const std::string& where);

struct EditedSource {
  std::string text;
  model::AuditedOp facts;  // of the new text
};

// Applies, parses again and audits. Fails where the edit brings a syntax error that the original did not have; the
// error names the line.
base::Result<EditedSource> edit_and_audit(base::FileSystem& files, const std::string& path, const std::string& original,
                                          std::vector<Replacement> replacements);

// The span of the only occurrence of `old_text` in `text`; fails with the number of occurrences otherwise.
base::Result<Replacement> replace_unique(const std::string& text, const std::string& old_text,
                                         const std::string& new_text, const std::string& where);

}  // namespace hone::source
