// The conditions of #if, where they are known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hone::source {

// What a file says of a name: `defined` is nothing where it may come from elsewhere; the value of a macro is a text.
struct NameState {
  std::optional<bool> defined;
  std::string value;
};

// The value of a condition of #if; nothing where it rests on names that the file does not decide, or can not be read.
std::optional<bool> condition_value(const std::string& condition,
                                    const std::function<NameState(const std::string&)>& state_of);

}  // namespace hone::source
