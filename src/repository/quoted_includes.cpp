#include "repository/quoted_includes.hpp"

#include "base/text.hpp"

namespace hone::repository {

std::vector<std::string> quoted_includes(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& line : base::split(text, '\n')) {
    std::string code = base::trim(line);
    if (!base::starts_with(code, "#")) continue;
    code = base::trim(code.substr(1));
    if (!base::starts_with(code, "include")) continue;
    const std::string rest = base::trim(code.substr(std::string("include").size()));
    const std::size_t close = rest.find('"', 1);
    if (base::starts_with(rest, "\"") && close != std::string::npos) found.push_back(rest.substr(1, close - 1));
  }
  return found;
}

}  // namespace hone::repository
