#include "source/open_tasks.hpp"

#include <array>
#include <cctype>
#include "base/text.hpp"

namespace hone::source {

namespace {

// Spelled in halves, so that a search for open tasks in this code does not find them here.
const std::array<std::string, 4> kTags = {std::string("TO") + "DO", std::string("FIX") + "ME", std::string("HA") + "CK",
                                          std::string("XX") + "X"};

}  // namespace

std::string open_task_tag(std::string_view text) {
  for (const std::string& tag : kTags) {
    for (std::size_t at = text.find(tag); at != std::string_view::npos; at = text.find(tag, at + 1)) {
      const bool starts = at == 0 || !base::is_word_character(text[at - 1]);
      const bool ends = at + tag.size() == text.size() || !base::is_word_character(text[at + tag.size()]);
      if (starts && ends) return tag;
    }
  }
  return {};
}

}  // namespace hone::source
