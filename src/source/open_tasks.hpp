// The tags that mark an open task in a comment, shared by the readers of every language.
#pragma once

#include <string>
#include <string_view>

namespace hone::source {

// The tag that stands as a word of its own in `text`; empty if none.
std::string open_task_tag(std::string_view text);

}  // namespace hone::source
