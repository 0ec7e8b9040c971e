// Where the golden documents are.
#pragma once

#include <string>

namespace hone::render {

inline std::string golden(const std::string& name) {
  return std::string(HONE_SOURCE_DIR "/tests/render/golden/") + name;
}

}  // namespace hone::render
