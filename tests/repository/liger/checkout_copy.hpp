// A folder that hone takes for a Liger checkout: the sources of the pinned liger-kernel package, and tests/repository/liger/checkout
// beside them.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace hone::repository::liger {

class CheckoutCopy {
 public:
  CheckoutCopy() {
    std::string name = (std::filesystem::temp_directory_path() / "hone-checkout-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    const auto options = std::filesystem::copy_options::recursive;
    const std::filesystem::path source(HONE_SOURCE_DIR), package = source / ".deps/liger-kernel/liger_kernel";
    if (!std::filesystem::exists(package)) return;
    std::filesystem::create_directories(std::filesystem::path(root_) / "co/src");
    std::filesystem::copy(package, std::filesystem::path(root_) / "co/src/liger_kernel", options);
    std::filesystem::copy(source / "tests/repository/liger/checkout", std::filesystem::path(root_) / "co", options);
    complete_ = true;
  }
  CheckoutCopy(const CheckoutCopy&) = delete;
  CheckoutCopy& operator=(const CheckoutCopy&) = delete;
  ~CheckoutCopy() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  bool complete() const { return complete_; }
  std::string path() const { return root_ + "/co"; }
  std::string scratch() const { return root_ + "/scratch"; }
  // Every file below the checkout with its content, to show that nothing was touched.
  std::string fingerprint() const {
    std::string text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::ostringstream content;
      content << in.rdbuf();
      text += entry.path().string() + " " + std::to_string(std::hash<std::string>{}(content.str())) + "\n";
    }
    return text;
  }

 private:
  std::string root_;
  bool complete_ = false;
};

// The python of tools/fetch_python.sh; empty where it is not installed.
inline std::string python_with_triton() {
  const std::string path = std::string(HONE_SOURCE_DIR) + "/.deps/python/python3";
  return std::filesystem::exists(path) ? path : "";
}

}  // namespace hone::repository::liger
