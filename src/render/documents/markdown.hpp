// A Markdown document as it grows: blocks with one empty line between them, every text escaped unless it says otherwise.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "render/table.hpp"

namespace hone::render {

class Markdown {
 public:
  void heading(int level, const std::string& text);
  void paragraph(const std::string& text);                      // escaped; empty text adds nothing
  void formatted(const std::string& markup);                    // Markdown already
  void bullets(const std::vector<std::string>& items);          // escaped; empty items are left out
  void numbered(const std::vector<std::string>& markup_items);  // Markdown already
  void table(const Table& table);
  void block(const std::string& text, const std::string& language);
  // Name and value in a two-column table; an empty value reads "not known".
  void facts(const std::vector<std::pair<std::string, std::string>>& rows);

  std::string str() const { return text_; }

 private:
  void separate();
  std::string text_;
};

// The value, or the reason why it is not known.
std::string known(const std::string& value, const std::string& why_not);

// The text with a full stop at its end, unless it ends a sentence already.
std::string sentence(const std::string& text);

}  // namespace hone::render
