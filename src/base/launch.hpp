// Starts a program in a child process: what is prepared before the fork, and what the child does until exec.
// Internal to base; process.hpp is the port.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"

namespace hone::base {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read, write;
};

// What the child needs, made before the fork: between fork and exec only async-signal-safe calls are allowed, because
// another thread may have held the allocator's lock at the instant of the fork.
struct Launch {
  std::string program;
  std::vector<std::string> argument_texts, environment_texts;
  std::vector<char*> arguments, environment;
  const char* directory = nullptr;
  Pipe input, output, error, report;  // report: the child's errno where exec fails; closed by a successful exec
  Fd null_input;
  pid_t parent_pid = 0;
  bool keeps_input = false;      // a pipe for standard input although the command has no text for it
  bool dies_with_thread = true;  // killed when the thread that started it ends
};

// Looks the program up, copies arguments and environment, opens the pipes.
Result<void> prepare(const Command& command, Launch& launch);

// Forks and executes; returns the child, which leads a process group of its own. An Error when exec did not succeed.
Result<pid_t> start(const Command& command, Launch& launch);

// The absolute path of a program on a search path ("/usr/bin:/bin"), or on this process's PATH.
std::optional<std::string> find_on(const std::string& search_path, const std::string& program);
std::string inherited_search_path();

bool is_program(const std::string& path);

}  // namespace hone::base
