// Runs other programs: own process group, deadline, bounded output, no descriptor leaked, no zombie left.
#include "base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "base/launch.hpp"
#include "base/text.hpp"

namespace hone::base {

namespace {

using std::chrono::steady_clock;

// After the program has ended, what a runaway grandchild (with a session of its own) still holds open is not waited for.
constexpr int drain_grace_ms = 200;

void set_nonblocking(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

// A write to a program that no longer reads must be an error here, not a signal: SIGPIPE is blocked in this thread for
// the duration, and one that became pending meanwhile is taken back.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigemptyset(&pending);
    ::sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;
  ~SigpipeGuard() {
    const timespec at_once{};
    if (!was_pending_) {
      while (::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) continue;
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

// Moves bytes between this program and a running one until it has ended, its deadline has passed or a stop was asked.
class Conversation {
 public:
  Conversation(const Command& command, Launch& launch, pid_t child, const std::atomic<bool>* stop)
      : command_(command), launch_(launch), child_(child), stop_(stop) {
    if (launch.input.write.open()) set_nonblocking(launch.input.write);
    set_nonblocking(launch.output.read);
    set_nonblocking(launch.error.read);
#ifdef SYS_pidfd_open
    pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
#endif
  }

  Result<Outcome> finish() {
    const auto begin = steady_clock::now();
    const auto deadline = begin + std::chrono::milliseconds(command_.deadline_ms);
    while (!has_ended()) {
      const bool stopped = stop_ != nullptr && stop_->load();
      outcome_.timed_out = steady_clock::now() >= deadline;
      if (stopped || outcome_.timed_out) {
        ::kill(-child_, SIGKILL);
        ::kill(child_, SIGKILL);  // in case it moved itself to another group
        reap();
        if (!stopped) break;
        return Error{ErrorKind::interrupted, "the program to end by itself", "a request to stop", launch_.program,
                     "run the same command again to resume"};
      }
      exchange(poll_ms(deadline));
    }
    // The leader is still a zombie, so its number can not have been given to another group: leftovers die here.
    if (!reaped_) ::kill(-child_, SIGKILL);
    reap();
    drain();
    outcome_.wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now() - begin).count();
    return std::move(outcome_);
  }

 private:
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child_;
  }

  void reap() {
    if (reaped_) return;
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
    reaped_ = true;
    outcome_.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  int poll_ms(steady_clock::time_point deadline) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now()).count() + 1;
    const std::int64_t slice = !pidfd_.open() ? 5 : stop_ != nullptr ? 50 : 60'000;
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, slice));
  }

  // One wait for whatever is ready. Returns false when nothing became ready in time.
  bool exchange(int timeout_ms) {
    std::array<pollfd, 4> waits = {{{launch_.output.read.get(), POLLIN, 0},
                                    {launch_.error.read.get(), POLLIN, 0},
                                    {launch_.input.write.get(), POLLOUT, 0},
                                    {reaped_ ? -1 : pidfd_.get(), POLLIN, 0}}};
    const int ready = ::poll(waits.data(), waits.size(), timeout_ms);
    if (ready <= 0) return ready < 0 && errno == EINTR;
    if (waits[0].revents != 0) take(launch_.output.read, outcome_.output);
    if (waits[1].revents != 0) take(launch_.error.read, outcome_.error);
    if (waits[2].revents != 0) give();
    return true;
  }

  void take(Fd& stream, std::string& text) {
    char block[1 << 16];
    const ssize_t got = ::read(stream.get(), block, sizeof block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return stream.reset();
    const std::uint64_t room =
        command_.output_limit_bytes - std::min<std::uint64_t>(command_.output_limit_bytes, text.size());
    const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(room, static_cast<std::uint64_t>(got)));
    text.append(block, kept);
    if (kept < static_cast<std::size_t>(got)) outcome_.output_cut = true;
  }

  void give() {
    const ssize_t written =
        ::write(launch_.input.write.get(), command_.input.data() + given_, command_.input.size() - given_);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (written > 0) given_ += static_cast<std::size_t>(written);
    // A program that does not want its input (EPIPE) is its own business.
    if (written < 0 || given_ == command_.input.size()) launch_.input.write.reset();
  }

  void drain() {
    launch_.input.write.reset();
    const auto end = steady_clock::now() + std::chrono::milliseconds(drain_grace_ms);
    while ((launch_.output.read.open() || launch_.error.read.open()) && steady_clock::now() < end) {
      if (!exchange(drain_grace_ms)) break;
    }
  }

  const Command& command_;
  Launch& launch_;
  const pid_t child_;
  const std::atomic<bool>* stop_;
  Fd pidfd_;
  Outcome outcome_;
  std::size_t given_ = 0;
  bool reaped_ = false;
};

}  // namespace

Result<std::unique_ptr<Dialogue>> Processes::talk(const Command& command) {
  return Error{ErrorKind::internal, "processes that can be talked to", "a port that only runs programs",
               command.arguments.empty() ? "" : command.arguments.front(), "use SystemProcesses"};
}

Result<Outcome> SystemProcesses::run(const Command& command) {
  const SigpipeGuard guard;
  Launch launch;
  HONE_PROPAGATE(prepare(command, launch));
  HONE_TRY(child, start(command, launch));
  return Conversation(command, launch, *child, stop_).finish();
}

std::optional<std::string> SystemProcesses::find(const std::string& program) {
  if (program.empty()) return std::nullopt;
  if (program.find('/') == std::string::npos) return find_on(inherited_search_path(), program);
  if (!is_program(program)) return std::nullopt;
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(program, failure);
  return failure ? program : absolute.lexically_normal().string();
}

Result<Outcome> ScriptedProcesses::run(const Command& command) {
  commands.push_back(command);
  if (commands.size() <= answers.size()) return answers[commands.size() - 1];
  return Error{ErrorKind::internal, "a scripted answer for call " + std::to_string(commands.size()),
               std::to_string(answers.size()) + " answers", join_text(command.arguments, " "),
               "give the test one answer for each call"};
}

std::optional<std::string> ScriptedProcesses::find(const std::string& program) {
  const auto found = programs.find(program);
  if (found == programs.end()) return std::nullopt;
  return found->second;
}

}  // namespace hone::base
