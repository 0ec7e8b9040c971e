// Files in memory for tests: the same answers as a disk gives, and a disk that fills up when told.
#include <algorithm>
#include <cerrno>

#include "base/files.hpp"
#include "base/system_error.hpp"

namespace hone::base {

namespace {

// One spelling for each path: no doubled slash, no "." part, no slash at the end.
std::string normal(const std::string& path) {
  const bool absolute = !path.empty() && path.front() == '/';
  std::string result;
  std::string part;
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (i < path.size() && path[i] != '/') {
      part += path[i];
      continue;
    }
    if (!part.empty() && part != ".") {
      if (!result.empty()) result += '/';
      result += part;
    }
    part.clear();
  }
  if (absolute) return "/" + result;
  return result.empty() ? "." : result;
}

}  // namespace

Result<void> MemoryFiles::count_write(const std::string& path) {
  if (!writes_left_) return {};
  if (*writes_left_ <= 1) return system_error(ENOSPC, "a file that can be written", path);
  --*writes_left_;
  return {};
}

bool MemoryFiles::exists(const std::string& path) { return files_.count(normal(path)) > 0 || is_directory(path); }

bool MemoryFiles::is_directory(const std::string& path) {
  const std::string clean = normal(path);
  return clean == "." || clean == "/" || directories_.count(clean) > 0;
}

Result<std::string> MemoryFiles::read(const std::string& path) {
  const auto found = files_.find(normal(path));
  if (found != files_.end()) return found->second;
  return system_error(is_directory(path) ? EISDIR : ENOENT, "a file that can be read", path);
}

Result<void> MemoryFiles::write_atomically(const std::string& path, const std::string& content) {
  const std::string clean = normal(path);
  if (is_directory(clean)) return system_error(EISDIR, "a file that can be written", path);
  if (auto counted = count_write(path); !counted) return counted;
  if (auto made = create_directories(parent(clean)); !made) return made;
  files_[clean] = content;
  return {};
}

Result<void> MemoryFiles::append(const std::string& path, const std::string& content) {
  const auto found = files_.find(normal(path));
  return write_atomically(path, found == files_.end() ? content : found->second + content);
}

Result<void> MemoryFiles::create_directories(const std::string& path) {
  std::vector<std::string> missing;
  for (std::string clean = normal(path); !is_directory(clean); clean = parent(clean)) {
    if (files_.count(clean) > 0) return system_error(ENOTDIR, "a folder that can be created", path);
    missing.push_back(clean);
  }
  directories_.insert(missing.begin(), missing.end());
  return {};
}

Result<void> MemoryFiles::remove(const std::string& path) {
  if (is_directory(path)) return system_error(EISDIR, "a file that can be removed", path);
  files_.erase(normal(path));
  return {};
}

Result<void> MemoryFiles::remove_recursively(const std::string& path) {
  const std::string clean = normal(path);
  const std::string inside = clean == "/" ? clean : clean + "/";
  const auto below = [&](const std::string& name) {
    return clean == "." || name == clean || name.compare(0, inside.size(), inside) == 0;
  };
  std::erase_if(files_, [&](const auto& file) { return below(file.first); });
  std::erase_if(directories_, below);
  return {};
}

Result<std::vector<std::string>> MemoryFiles::list(const std::string& directory) {
  const std::string clean = normal(directory);
  if (!is_directory(clean)) {
    return system_error(files_.count(clean) > 0 ? ENOTDIR : ENOENT, "a folder that can be listed", directory);
  }
  std::vector<std::string> names;
  for (const auto& [path, content] : files_) {
    if (parent(path) == clean) names.push_back(file_name(path));
  }
  for (const std::string& path : directories_) {
    if (parent(path) == clean) names.push_back(file_name(path));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::uint64_t> MemoryFiles::free_bytes(const std::string&) { return free_bytes_; }

}  // namespace hone::base
