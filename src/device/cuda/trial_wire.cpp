// Sockets with deadlines.
#include "device/cuda/trial_wire.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include "base/clock.hpp"

namespace hone::device::cuda {

namespace {

constexpr std::uint64_t longest_message = std::uint64_t{1} << 30;

// True when the socket can be used before the deadline.
bool wait_for(int socket, short events, std::int64_t until_ns) {
  for (;;) {
    int wait_ms = -1;
    if (until_ns > 0) {
      const std::int64_t left_ns = until_ns - base::steady_ns();
      if (left_ns <= 0) return false;
      wait_ms = static_cast<int>(std::min<std::int64_t>(left_ns / 1'000'000 + 1, 1'000'000));
    }
    pollfd waiting{socket, events, 0};
    if (::poll(&waiting, 1, wait_ms) > 0) return true;
  }
}

}  // namespace

Wire wire_send(int socket, const void* data, std::size_t bytes, std::int64_t until_ns) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    if (!wait_for(socket, POLLOUT, until_ns)) return Wire::late;
    const ssize_t sent = ::send(socket, from, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return Wire::ended;
    from += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return Wire::complete;
}

Wire wire_receive(int socket, void* data, std::size_t bytes, std::int64_t until_ns) {
  char* to = static_cast<char*>(data);
  while (bytes > 0) {
    if (!wait_for(socket, POLLIN, until_ns)) return Wire::late;
    const ssize_t got = ::recv(socket, to, bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Wire::ended;
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return Wire::complete;
}

Wire wire_send_message(int socket, const std::string& message, std::int64_t until_ns) {
  const std::uint64_t size = message.size();
  const Wire sent = wire_send(socket, &size, sizeof size, until_ns);
  return sent == Wire::complete ? wire_send(socket, message.data(), message.size(), until_ns) : sent;
}

Wire wire_receive_message(int socket, std::string& message, std::int64_t until_ns) {
  std::uint64_t size = 0;
  const Wire got = wire_receive(socket, &size, sizeof size, until_ns);
  if (got != Wire::complete) return got;
  if (size > longest_message) return Wire::ended;
  message.resize(size);
  return wire_receive(socket, message.data(), size, until_ns);
}

void add_error(WireText& text, const base::Error& error) {
  text.add(static_cast<std::int32_t>(error.kind));
  for (const std::string* part : {&error.expected, &error.found, &error.where, &error.remedy}) text.add_text(*part);
}

base::Error take_error(WireReader& reader) {
  base::Error error;
  error.kind = static_cast<base::ErrorKind>(reader.take<std::int32_t>());
  for (std::string* part : {&error.expected, &error.found, &error.where, &error.remedy}) *part = reader.take_text();
  return error;
}

}  // namespace hone::device::cuda
