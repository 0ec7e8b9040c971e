// A folder that only this user can enter, below the first candidate that allows one; removed with its content.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace hone::device::cpu {

class PrivateFolder {
 public:
  PrivateFolder(std::vector<std::string> candidates, base::FileSystem& files)
      : candidates_(std::move(candidates)), files_(files) {}
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  // Made when first asked for. Safe to call from several threads.
  base::Result<std::string> path();

 private:
  std::vector<std::string> candidates_;
  base::FileSystem& files_;
  std::mutex mutex_;
  std::string path_;
};

}  // namespace hone::device::cpu
