// What is said in comments and docstrings: open tasks, and autotune decorators that were switched off by commenting
// them out.
#pragma once

#include <vector>

#include "model/source_facts.hpp"
#include "source/triton/module/module.hpp"

namespace hone::source {

std::vector<model::TodoComment> read_todo_comments(const Module& module);
std::vector<model::CommentedAutotune> read_commented_autotune(const Module& module);

}  // namespace hone::source
