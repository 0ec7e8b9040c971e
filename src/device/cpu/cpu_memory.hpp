// Device memory of the CPU: mapped, aligned, in huge pages where the system has them, between guard pages.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "device/device.hpp"

namespace hone::device::cpu {

// A private anonymous mapping. Large ones start at a 2 MiB boundary and ask for huge pages: with 4 KiB pages a streaming
// kernel measures the translation of addresses too. A write past the last page
// or before the first one faults.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  static base::Result<Mapping> make(std::size_t bytes);
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }          // as asked for
  std::size_t mapped_bytes() const { return mapped_; }  // whole pages from data()

 private:
  void* reserved_ = nullptr;
  std::size_t reserved_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0, mapped_ = 0;
};

}  // namespace hone::device::cpu
