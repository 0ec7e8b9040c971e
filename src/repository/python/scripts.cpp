#include "repository/python/scripts.hpp"

namespace hone::repository::python {

base::Result<void> unpack(base::FileSystem& files, const std::vector<Script>& scripts, const std::string& directory) {
  for (const Script& script : scripts) {
    const std::string path = base::join(directory, script.name);
    if (files.exists(path)) {
      if (auto there = files.read(path); there && *there == script.text) continue;
    }
    if (auto written = files.write_atomically(path, script.text); !written) return written;
  }
  return {};
}

}  // namespace hone::repository::python
