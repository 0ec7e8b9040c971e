// mmap with room to align, guard pages left without access.
#include "device/cpu/cpu_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/system_error.hpp"

namespace hone::device::cpu {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept { *this = std::move(other); }

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(reserved_, other.reserved_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

Mapping::~Mapping() {
  if (reserved_ != nullptr) ::munmap(reserved_, reserved_bytes_);
}

base::Result<Mapping> Mapping::make(std::size_t bytes) {
  const auto failed = [bytes](int error_number) {
    return base::Error{base::ErrorKind::preflight, std::to_string(bytes) + " bytes of memory",
                       base::system_words(error_number), "cpu", "use smaller sizes, or raise the limits (ulimit -v)"};
  };
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t alignment = bytes >= huge_page ? huge_page : page;
  if (bytes > std::numeric_limits<std::size_t>::max() / 4) return failed(ENOMEM);
  Mapping mapping;
  mapping.bytes_ = bytes;
  mapping.mapped_ = round_up(bytes == 0 ? 1 : bytes, page);
  mapping.reserved_bytes_ = mapping.mapped_ + alignment + 2 * page;
  void* reserved =
      ::mmap(nullptr, mapping.reserved_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return failed(errno);
  mapping.reserved_ = reserved;
  const std::uintptr_t start = round_up(reinterpret_cast<std::uintptr_t>(reserved) + page, alignment);
  mapping.data_ = reinterpret_cast<std::byte*>(start);
  if (::mprotect(mapping.data_, mapping.mapped_, PROT_READ | PROT_WRITE) != 0) return failed(errno);
  if (alignment == huge_page)
    ::madvise(mapping.data_, mapping.mapped_, MADV_HUGEPAGE);  // a hint; refused where there are none
  return mapping;
}

}  // namespace hone::device::cpu
