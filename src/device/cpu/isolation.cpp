// fork, a pipe for the answer, a deadline.
#include "device/cpu/isolation.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>

#include "base/clock.hpp"
#include "base/system_error.hpp"
#include "device/cpu/cpu_program.hpp"
#include "device/cpu/fault_guard.hpp"
#include "device/no_end.hpp"

namespace hone::device::cpu {

namespace {

constexpr char succeeded = 'S', failed = 'F';
constexpr int pipe_bytes = 1 << 20;
constexpr std::int64_t handover_ns_floor =
    30'000'000'000;  // beyond the deadline, for the results' way through the pipe

// ---- the child's side ----

bool send(int fd, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::write(fd, from, bytes);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    from += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

void send_error(int fd, const base::Error& error) {
  std::string message(1, failed);
  message += static_cast<char>(error.kind);
  for (const std::string* text : {&error.expected, &error.found, &error.where, &error.remedy}) {
    message += *text;
    message += '\0';
  }
  send(fd, message.data(), message.size());
}

// What the parent set up for itself must not reach the kernel: handlers, its terminal, its standard output.
void become_child(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGPIPE}) {
    ::signal(signal_number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    for (int fd : {0, 1, 2}) ::dup2(null, fd);
  }
}

[[noreturn]] void child_main(int fd, pid_t parent, const std::function<base::Result<void>()>& work,
                             const std::vector<Region>& regions) {
  become_child(parent);
  if (auto done = work(); !done) {
    send_error(fd, done.error());
    ::_exit(0);
  }
  send(fd, &succeeded, 1);
  for (const Region& region : regions) {
    if (!send(fd, region.data, region.bytes)) ::_exit(1);
  }
  // Without destructors and exit handlers: they are the parent's.
  ::_exit(0);
}

// ---- the parent's side ----

enum class Reading { complete, ended, late, stopped };

constexpr int stop_poll_ms = 50;

// Reads exactly `bytes`, or tells why not.
Reading receive(int fd, void* data, std::size_t bytes, std::int64_t until_ns, const std::atomic<bool>* stop = nullptr) {
  char* to = static_cast<char*>(data);
  while (bytes > 0) {
    if (stop != nullptr && stop->load()) return Reading::stopped;
    const std::int64_t left_ns = until_ns - base::steady_ns();
    if (left_ns <= 0) return Reading::late;
    pollfd waiting{fd, POLLIN, 0};
    const std::int64_t most_ms = stop != nullptr ? stop_poll_ms : 1'000'000;
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left_ns / 1'000'000 + 1, most_ms)));
    if (ready <= 0) continue;
    const ssize_t got = ::read(fd, to, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Reading::ended;
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return Reading::complete;
}

base::Error read_error(int fd, std::int64_t until_ns, const std::string& what) {
  char kind = 0;
  base::Error error{base::ErrorKind::internal, what + " to run in a child", "an answer that is cut off", "cpu", ""};
  if (receive(fd, &kind, 1, until_ns) != Reading::complete) return error;
  std::array<std::string, 4> texts;
  for (std::string& text : texts) {
    for (char next = 0;;) {
      if (receive(fd, &next, 1, until_ns) != Reading::complete) return error;
      if (next == '\0') break;
      text += next;
    }
  }
  return {static_cast<base::ErrorKind>(kind), texts[0], texts[1], texts[2], texts[3]};
}

class Child {
 public:
  Child(pid_t id, int fd) : id_(id), fd_(fd) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  int fd() const { return fd_; }
  // Waits for the child, killing it first if it still runs; its status.
  int end() {
    if (id_ <= 0) return status_;
    ::kill(id_, SIGKILL);
    reap();
    return status_;
  }
  // Waits for a child which has closed its pipe, and so ends by itself, for a moment; then as end().
  int wait_for_end() {
    for (int i = 0; i < 200 && id_ > 0; ++i) {
      if (::waitpid(id_, &status_, WNOHANG) == id_) close_pipe();
      if (id_ > 0) ::usleep(5'000);
    }
    return end();
  }

 private:
  void reap() {
    while (::waitpid(id_, &status_, 0) < 0 && errno == EINTR) {
    }
    close_pipe();
  }
  void close_pipe() {
    id_ = -1;
    ::close(fd_);
  }
  pid_t id_;
  int fd_;
  int status_ = 0;
};

std::string words_for(int status) {
  if (WIFSIGNALED(status)) return "it died: " + signal_words(WTERMSIG(status));
  return fmt::format("it ended the process with exit status {}", WEXITSTATUS(status));
}

}  // namespace

base::Result<void> run_in_child(const std::function<base::Result<void>()>& work, const std::vector<Region>& regions,
                                std::int64_t deadline_ns, const std::string& what, const std::atomic<bool>* stop) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error(errno, "a pipe to a child process", what);
  ::fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes);  // faster hand-over where allowed
  const pid_t parent = ::getpid();
  pid_t id = -1;
  int failure = 0;
  {
    // No other thread is inside the loader at the instant of the fork; the C library itself sees to the allocator.
    const std::lock_guard<std::mutex> lock(loader_mutex());
    id = ::fork();
    failure = errno;
  }
  if (id == 0) {
    ::close(ends[0]);
    child_main(ends[1], parent, work, regions);
  }
  ::close(ends[1]);
  if (id < 0) {
    ::close(ends[0]);
    return base::system_error(failure, "a child process for " + what, "cpu");
  }
  Child child(id, ends[0]);

  const std::int64_t until_ns = base::steady_ns() + deadline_ns;
  const auto lost = [&](const std::string& found) {
    return base::Error{base::ErrorKind::gate,
                       what + " to end within " + fmt::format("{:.1f} s", static_cast<double>(deadline_ns) * 1e-9),
                       found, "cpu, in a child process",
                       "this variant can not be used: look for accesses outside its buffers and loops without end"};
  };
  const auto ended = [&]() -> base::Error {
    const int status = child.wait_for_end();
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM)) {
      return {base::ErrorKind::interrupted, what + " to end", words_for(status), "cpu, in a child process", ""};
    }
    return lost(words_for(status));
  };

  const base::Error interrupted{base::ErrorKind::interrupted, what + " to end", "stopped by the user",
                                "cpu, in a child process", ""};
  char answer = 0;
  switch (receive(child.fd(), &answer, 1, until_ns, stop)) {
    case Reading::stopped: return interrupted;
    case Reading::late: return no_end(what, deadline_ns, "cpu, in a child process");
    case Reading::ended: return ended();
    case Reading::complete: break;
  }
  const std::int64_t handover_until_ns = base::steady_ns() + std::max(deadline_ns, handover_ns_floor);
  if (answer != succeeded) return read_error(child.fd(), handover_until_ns, what);
  for (const Region& region : regions) {
    switch (receive(child.fd(), region.data, region.bytes, handover_until_ns)) {
      case Reading::stopped: return interrupted;
      case Reading::late: return lost("its results did not arrive");
      case Reading::ended: return ended();
      case Reading::complete: break;
    }
  }
  return {};
}

}  // namespace hone::device::cpu
