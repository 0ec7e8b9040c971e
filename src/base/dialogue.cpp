// The machine's programs as partners of a dialogue.
#include "base/dialogue.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>

#include "base/launch.hpp"
#include "base/process.hpp"

namespace hone::base {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t kLongestLine = 64u << 20;
constexpr std::size_t kLastWords = 4096;
constexpr int kPollSliceMs = 50;
constexpr int kPartingMs = 2000;  // from the end of its input until it is killed

Error gone(const std::string& program, const std::string& found) {
  return {ErrorKind::gate, "an answer of " + program, found, program, "see the tail of its stderr"};
}

class SystemDialogue final : public Dialogue {
 public:
  SystemDialogue(Launch launch, pid_t child, const std::atomic<bool>* stop)
      : launch_(std::move(launch)), child_(child), stop_(stop) {
    for (const Fd* fd : {&launch_.output.read, &launch_.error.read, &launch_.input.write})
      ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_NONBLOCK);
  }
  ~SystemDialogue() override {
    launch_.input.write.reset();
    const auto end = steady_clock::now() + std::chrono::milliseconds(kPartingMs);
    while (!reaped_ && steady_clock::now() < end && !try_reap()) wait_for_something(10, false);
    kill();
  }

  Result<void> say(const std::string& line) override {
    if (reaped_ || !launch_.input.write.open()) return gone(launch_.program, "it has ended" + parting());
    const std::string text = line + "\n";
    std::size_t given = 0;
    while (given < text.size()) {
      const ssize_t written = write_quietly(text.data() + given, text.size() - given);
      if (written > 0) given += static_cast<std::size_t>(written);
      if (written >= 0 || errno == EINTR) continue;
      if (errno != EAGAIN) {
        kill();
        return gone(launch_.program, "it has ended" + parting());
      }
      if (stopped()) return interrupted();
      wait_for_something(kPollSliceMs, true);
    }
    return {};
  }

  Result<std::string> hear(std::int64_t deadline_ms) override {
    const auto end = steady_clock::now() + std::chrono::milliseconds(deadline_ms);
    while (true) {
      if (const std::size_t line = output_.find('\n'); line != std::string::npos) {
        std::string answer = output_.substr(0, line);
        output_.erase(0, line + 1);
        return answer;
      }
      if (stopped()) {
        kill();
        return interrupted();
      }
      if (!launch_.output.read.open()) {
        kill();
        return gone(launch_.program, "it ended" + parting());
      }
      if (output_.size() > kLongestLine) {
        kill();
        return gone(launch_.program, "a line without an end");
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - steady_clock::now()).count();
      if (left <= 0) {
        kill();
        return gone(launch_.program, "no answer within " + std::to_string(deadline_ms) + " ms; it was ended");
      }
      wait_for_something(static_cast<int>(std::min<std::int64_t>(left, kPollSliceMs)), false);
    }
  }

  std::string last_words() override {
    if (launch_.error.read.open()) take(launch_.error.read, error_);
    return error_;
  }
  bool alive() override { return !reaped_ && !try_reap(); }

 private:
  bool stopped() const { return stop_ != nullptr && stop_->load(); }
  Error interrupted() const {
    return {ErrorKind::interrupted, "the program's answer", "a request to stop", launch_.program,
            "run the same command again to resume"};
  }

  // SIGPIPE of this write alone is swallowed.
  ssize_t write_quietly(const char* data, std::size_t size) {
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigemptyset(&pending);
    ::sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const ssize_t written = ::write(launch_.input.write.get(), data, size);
    const int failure = errno;
    const timespec at_once{};
    if (written < 0 && failure == EPIPE && !was_pending)
      while (::sigtimedwait(&pipe, nullptr, &at_once) < 0 && errno == EINTR) continue;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = failure;
    return written;
  }

  void wait_for_something(int timeout_ms, bool to_write) {
    std::array<pollfd, 3> waits = {{{launch_.output.read.get(), POLLIN, 0},
                                    {launch_.error.read.get(), POLLIN, 0},
                                    {to_write ? launch_.input.write.get() : -1, POLLOUT, 0}}};
    if (::poll(waits.data(), waits.size(), timeout_ms) <= 0) return;
    if (waits[0].revents != 0) take(launch_.output.read, output_);
    if (waits[1].revents != 0) take(launch_.error.read, error_);
    if (error_.size() > 2 * kLastWords) error_.erase(0, error_.size() - kLastWords);
  }

  static void take(Fd& stream, std::string& text) {
    char block[1 << 16];
    const ssize_t got = ::read(stream.get(), block, sizeof block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return stream.reset();
    text.append(block, static_cast<std::size_t>(got));
  }

  bool try_reap() {
    if (reaped_) return true;
    int status = 0;
    // Whatever the program left in its group dies before its number is given free.
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != child_)
      return false;
    ::kill(-child_, SIGKILL);
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
    status_ = status;
    reaped_ = true;
    return true;
  }

  void kill() {
    if (reaped_ || try_reap()) return;
    ::kill(-child_, SIGKILL);
    ::kill(child_, SIGKILL);
    while (::waitpid(child_, &status_, 0) < 0 && errno == EINTR) continue;
    reaped_ = true;
    if (launch_.error.read.open()) take(launch_.error.read, error_);
  }

  std::string parting() {
    if (!reaped_) return "";
    if (WIFSIGNALED(status_)) return " by signal " + std::to_string(WTERMSIG(status_));
    return " with exit status " + std::to_string(WEXITSTATUS(status_));
  }

  Launch launch_;
  const pid_t child_;
  const std::atomic<bool>* stop_;
  std::string output_, error_;
  int status_ = 0;
  bool reaped_ = false;
};

}  // namespace

Result<std::unique_ptr<Dialogue>> SystemProcesses::talk(const Command& command) {
  Launch launch;
  launch.keeps_input = true;
  // The thread that starts it may end before it: it goes by the end of its input, not by the end of that thread.
  launch.dies_with_thread = false;
  HONE_PROPAGATE(prepare(command, launch));
  HONE_TRY(child, start(command, launch));
  return std::unique_ptr<Dialogue>(std::make_unique<SystemDialogue>(std::move(launch), *child, stop_));
}

Result<std::unique_ptr<Dialogue>> ScriptedProcesses::talk(const Command& command) {
  commands.push_back(command);
  if (dialogues.empty())
    return Error{ErrorKind::internal, "a scripted dialogue", "none is left",
                 command.arguments.empty() ? "" : command.arguments.front(), "give the test one for each program"};
  auto dialogue = std::make_unique<ScriptedDialogue>(dialogues.front());
  dialogues.pop_front();
  return std::unique_ptr<Dialogue>(std::move(dialogue));
}

Result<void> ScriptedDialogue::say(const std::string& line) {
  if (!alive_) return gone("script", "it has ended");
  said.push_back(line);
  return {};
}

Result<std::string> ScriptedDialogue::hear(std::int64_t deadline_ms) {
  if (!alive_ || answers_.empty()) {
    alive_ = false;
    return gone("script", "it ended with exit status 1");
  }
  std::string answer = std::move(answers_.front());
  answers_.pop_front();
  if (answer != "<hang>") return answer;
  alive_ = false;
  return gone("script", "no answer within " + std::to_string(deadline_ms) + " ms; it was ended");
}

}  // namespace hone::base
