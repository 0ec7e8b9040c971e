// How a trial travels: numbers and texts, length first, over a socket with a deadline. Both ends are one build of hone.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace hone::device::cuda {

inline constexpr std::uint32_t kTrialMark = 0x686f6e32;  // "hon2": both sides speak of the same
inline constexpr char kTrialReady = 'R', kTrialDone = 'D', kTrialFailed = 'F';
inline constexpr std::size_t kTrialChunkBytes = std::size_t{8} << 20;

class WireText {
 public:
  template <class T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add_text(const std::string& text) {
    add(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class WireReader {
 public:
  explicit WireReader(const std::string& bytes) : bytes_(bytes.begin(), bytes.end()) {}
  template <class T>
  T take() {
    T value{};
    if (at_ + sizeof value > bytes_.size()) {
      good_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string take_text() {
    const auto size = take<std::uint64_t>();
    if (!good_ || size > bytes_.size() - at_) {
      good_ = false;
      return "";
    }
    at_ += size;
    return {bytes_.data() + at_ - size, size};
  }
  bool good() const { return good_; }

 private:
  std::vector<char> bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

enum class Wire { complete, ended, late };

// until_ns: steady clock; 0: no deadline. Neither raises SIGPIPE.
Wire wire_send(int socket, const void* data, std::size_t bytes, std::int64_t until_ns);
Wire wire_receive(int socket, void* data, std::size_t bytes, std::int64_t until_ns);
// A whole message: its length, then its bytes.
Wire wire_send_message(int socket, const std::string& message, std::int64_t until_ns);
Wire wire_receive_message(int socket, std::string& message, std::int64_t until_ns);

void add_error(WireText& text, const base::Error& error);
base::Error take_error(WireReader& reader);

}  // namespace hone::device::cuda
