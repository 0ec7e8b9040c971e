#include "repository/liger/scripts.hpp"

namespace hone::repository::liger {

base::Result<void> unpack_scripts(base::FileSystem& files, const std::string& directory) {
  for (const Script& script : scripts()) {
    const std::string path = base::join(directory, script.name);
    if (files.exists(path)) {
      if (auto there = files.read(path); there && *there == script.text) continue;
    }
    if (auto written = files.write_atomically(path, script.text); !written) return written;
  }
  return {};
}

}  // namespace hone::repository::liger
