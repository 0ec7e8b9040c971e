// Path arithmetic on plain strings: no file is touched.
#include "base/files.hpp"

namespace hone::base {

namespace {

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::string join(const std::string& directory, const std::string& name) {
  if (directory.empty() || (!name.empty() && name.front() == '/')) return name;
  if (name.empty()) return directory;
  return directory.back() == '/' ? directory + name : directory + "/" + name;
}

std::string parent(const std::string& path) {
  const std::string clean = without_trailing_slashes(path);
  const std::size_t slash = clean.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : without_trailing_slashes(clean.substr(0, slash));
}

std::string file_name(const std::string& path) {
  const std::string clean = without_trailing_slashes(path);
  return clean.substr(clean.rfind('/') + 1);  // npos + 1 = 0: the whole name
}

}  // namespace hone::base
