// Golden files: the text a renderer makes is compared with one kept beside the tests. After a wanted change, run the test
// with HONE_UPDATE_GOLDENS=1 in the environment, read the difference in git, and commit it with its cause.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/files.hpp"
#include "base/text.hpp"

namespace hone::test {

inline bool updating_goldens() {
  const char* value = std::getenv("HONE_UPDATE_GOLDENS");
  return value != nullptr && std::string(value) == "1";
}

// `path` is the golden's full path. A missing golden is a failure, as is the first line that differs.
inline void expect_golden(const std::string& path, const std::string& text) {
  base::SystemFiles files;
  if (updating_goldens()) {
    const auto written = files.write_atomically(path, text);
    ASSERT_TRUE(written.ok()) << base::describe(written.error());
    return;
  }
  const auto golden = files.read(path);
  ASSERT_TRUE(golden.ok()) << base::describe(golden.error());
  if (*golden == text) return;
  const auto wanted = base::split(*golden, '\n'), found = base::split(text, '\n');
  std::size_t line = 0;
  while (line < wanted.size() && line < found.size() && wanted[line] == found[line]) ++line;
  ADD_FAILURE() << path << ":" << line + 1 << "\n  golden: " << (line < wanted.size() ? wanted[line] : "(ends)")
                << "\n  now:    " << (line < found.size() ? found[line] : "(ends)")
                << "\nHONE_UPDATE_GOLDENS=1 writes the new text.";
}

}  // namespace hone::test
