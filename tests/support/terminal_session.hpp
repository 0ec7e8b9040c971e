// A program behind a pseudo-terminal, as a person sits before it: what it writes is read, what is typed reaches it, Ctrl-C too.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace hone::test {

class TerminalSession {
 public:
  TerminalSession(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment) {
    winsize size{24, 100, 0, 0};
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;
  ~TerminalSession() {
    if (child_ > 0) ::kill(child_, SIGKILL), wait();
    if (terminal_ >= 0) ::close(terminal_);
  }

  void type(const std::string& keys) { (void)!::write(terminal_, keys.data(), keys.size()); }

  // Reads until `text` has come that was not waited for before. False: the program ended, or two minutes went by without it.
  bool shows(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (std::chrono::steady_clock::now() < deadline) {
      if (const std::size_t at = seen_.find(text, looked_); at != std::string::npos) {
        looked_ = at + text.size();
        return true;
      }
      if (!read_more()) return false;
    }
    return false;
  }

  // The exit status, after all that the program still writes; negative: the signal that ended it.
  int wait() {
    while (read_more()) {
    }
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  const std::string& seen() const { return seen_; }

 private:
  bool read_more() {
    pollfd ready{terminal_, POLLIN, 0};
    if (::poll(&ready, 1, 120'000) <= 0) return false;
    char bytes[4096];
    const ssize_t count = ::read(terminal_, bytes, sizeof bytes);
    if (count <= 0) return false;  // the program has closed its end
    seen_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int terminal_ = -1;
  pid_t child_ = -1;
  std::string seen_;
  std::size_t looked_ = 0;
};

}  // namespace hone::test
