// A compiled program: its image at once, its code in this process only when it first runs here, so that the constructors
// of an untrusted program can first run in a child.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "device/device.hpp"

namespace hone::device::cpu {

using EntryFunction = void (*)(void* const* arguments, std::int64_t first, std::int64_t last, int worker, int workers,
                               void* workspace);
using WorkspaceFunction = std::int64_t (*)(void* const* arguments);

// The loader keeps locks which a forked child would inherit as held; whoever loads or forks holds this one.
std::mutex& loader_mutex();

class CpuProgram final : public Program {
 public:
  struct Image {
    std::string name;  // for messages
    std::string bytes;
    std::string cached_path;             // a file with these bytes; empty when there is none
    std::string spare_path;              // where the bytes are written when that one can not be loaded
    std::vector<std::string> functions;  // that the image offers
  };
  CpuProgram(ProgramInfo info, Image image, base::FileSystem& files)
      : info_(std::move(info)), image_(std::move(image)), files_(files) {}
  CpuProgram(const CpuProgram&) = delete;
  CpuProgram& operator=(const CpuProgram&) = delete;
  ~CpuProgram() override;

  const ProgramInfo& info() const override { return info_; }
  const std::string& name() const { return image_.name; }

  struct Entry {
    EntryFunction run = nullptr;
    WorkspaceFunction workspace_bytes = nullptr;  // null where the program has none
  };
  // Loads the program if need be. A missing entry is an error that names those present. Safe from several threads.
  base::Result<Entry> entry(const std::string& name) const;

 private:
  base::Result<void> load() const;  // with mutex_ held

  ProgramInfo info_;
  Image image_;
  base::FileSystem& files_;
  mutable std::mutex mutex_;
  mutable void* handle_ = nullptr;
  mutable std::map<std::string, Entry> entries_;
};

}  // namespace hone::device::cpu
