// Runs other programs: own process group, deadline, bounded output, no descriptor leaked, no zombie left.
#include "base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/system_error.hpp"
#include "base/text.hpp"

extern char** environ;

namespace hone::base {

namespace {

using std::chrono::steady_clock;

// After the program has ended, what a runaway grandchild (with a session of its own) still holds open is not waited for.
constexpr int drain_grace_ms = 200;

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

// Both ends above the standard streams: where those are closed here, dup2 in the child would otherwise overwrite an end.
int make_pipe(Pipe& pipe) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  Fd read(ends[0]), write(ends[1]);
  pipe.read.reset(::fcntl(read.get(), F_DUPFD_CLOEXEC, 3));
  pipe.write.reset(::fcntl(write.get(), F_DUPFD_CLOEXEC, 3));
  return pipe.read.open() && pipe.write.open() ? 0 : errno;
}

void set_nonblocking(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

bool is_program(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_on(const std::string& search_path, const std::string& program) {
  for (const std::string& directory : split(search_path, ':')) {
    std::string candidate = (directory.empty() ? "." : directory) + "/" + program;
    if (!is_program(candidate)) continue;
    std::error_code failure;
    const auto absolute = std::filesystem::absolute(candidate, failure);
    return failure ? candidate : absolute.lexically_normal().string();
  }
  return std::nullopt;
}

std::string search_path_of(const std::map<std::string, std::string>& environment) {
  const auto own = environment.find("PATH");
  if (own != environment.end()) return own->second;
  const char* inherited = std::getenv("PATH");
  return inherited != nullptr ? inherited : "/usr/local/bin:/usr/bin:/bin";
}

std::vector<std::string> environment_of(const Command& command) {
  std::map<std::string, std::string> merged = command.environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) merged.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  std::vector<std::string> entries;
  for (const auto& [name, value] : merged) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

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
};

enum class ChildStep : int { streams, directory, program };

struct ChildFailure {
  ChildStep step;
  int error_number;
};

[[noreturn]] void fail_child(const Launch& launch, ChildStep step) {
  const ChildFailure failure{step, errno};
  // The parent reads this; where even that fails it sees exit status 127.
  [[maybe_unused]] const ssize_t told = ::write(launch.report.write.get(), &failure, sizeof failure);
  ::_exit(127);
}

// Handlers of this program must not run in the child, and a blocked or ignored SIGPIPE must not be inherited.
void reset_signals() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action{};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && number != SIGPIPE)) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(number, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void close_other_descriptors() {
#ifdef SYS_close_range
  constexpr unsigned close_on_exec = 4;  // CLOSE_RANGE_CLOEXEC
  if (::syscall(SYS_close_range, 3U, ~0U, close_on_exec) == 0) return;
#endif
  const long limit = std::min(::sysconf(_SC_OPEN_MAX), 65536L);
  for (int fd = 3; fd < limit; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

[[noreturn]] void run_child(const Launch& launch) {
  ::setpgid(0, 0);
  // A killed hone takes the program with it; the check closes the gap between fork and prctl.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent_pid) ::_exit(127);
  const int input = launch.null_input.open() ? launch.null_input.get() : launch.input.read.get();
  const bool streams = ::dup2(input, 0) >= 0 && ::dup2(launch.output.write.get(), 1) >= 0 &&
                       ::dup2(launch.error.write.get(), 2) >= 0;
  if (!streams) fail_child(launch, ChildStep::streams);
  if (launch.directory != nullptr && ::chdir(launch.directory) != 0) fail_child(launch, ChildStep::directory);
  close_other_descriptors();
  reset_signals();
  ::execve(launch.program.c_str(), launch.arguments.data(), launch.environment.data());
  fail_child(launch, ChildStep::program);
}

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

Result<void> prepare(const Command& command, Launch& launch) {
  if (command.arguments.empty() || command.arguments.front().empty()) {
    return Error{ErrorKind::internal, "a program to run", "an empty command", "process", "name a program"};
  }
  const std::string& name = command.arguments.front();
  launch.program = name;
  if (name.find('/') == std::string::npos) {
    const auto found = find_on(search_path_of(command.environment), name);
    if (!found) {
      return Error{ErrorKind::preflight, "the program '" + name + "'", "it is not on PATH", name,
                   "install it, or add its folder to PATH"};
    }
    launch.program = *found;
  }
  launch.argument_texts = command.arguments;
  launch.environment_texts = environment_of(command);
  launch.arguments = pointers_to(launch.argument_texts);
  launch.environment = pointers_to(launch.environment_texts);
  if (!command.directory.empty()) launch.directory = command.directory.c_str();
  launch.parent_pid = ::getpid();

  int failure = make_pipe(launch.output);
  if (failure == 0) failure = make_pipe(launch.error);
  if (failure == 0) failure = make_pipe(launch.report);
  if (failure == 0 && !command.input.empty()) failure = make_pipe(launch.input);
  if (failure == 0 && command.input.empty()) {
    const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    launch.null_input.reset(null.open() ? ::fcntl(null.get(), F_DUPFD_CLOEXEC, 3) : -1);
    if (!launch.null_input.open()) failure = errno;
  }
  if (failure != 0) return system_error(failure, "pipes to the program", launch.program);
  return {};
}

Result<pid_t> start(const Command& command, Launch& launch) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) run_child(launch);
  const int fork_failure = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return system_error(fork_failure, "a new process", launch.program);
  ::setpgid(child, child);  // also here, so that the group exists before the first kill
  launch.input.read.reset();
  launch.output.write.reset();
  launch.error.write.reset();
  launch.report.write.reset();
  launch.null_input.reset();

  ChildFailure failure{};
  ssize_t got = 0;
  do {
    got = ::read(launch.report.read.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  launch.report.read.reset();
  if (got != static_cast<ssize_t>(sizeof failure)) return child;
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  if (failure.step == ChildStep::directory) {
    return system_error(failure.error_number, "a folder to work in", command.directory);
  }
  return system_error(failure.error_number, "a program that can be started", launch.program);
}

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
    const std::uint64_t room = command_.output_limit_bytes - std::min<std::uint64_t>(command_.output_limit_bytes, text.size());
    const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(room, static_cast<std::uint64_t>(got)));
    text.append(block, kept);
    if (kept < static_cast<std::size_t>(got)) outcome_.output_cut = true;
  }

  void give() {
    const ssize_t written = ::write(launch_.input.write.get(), command_.input.data() + given_, command_.input.size() - given_);
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

Result<Outcome> SystemProcesses::run(const Command& command) {
  const SigpipeGuard guard;
  Launch launch;
  if (auto prepared = prepare(command, launch); !prepared) return prepared.error();
  auto child = start(command, launch);
  if (!child) return child.error();
  return Conversation(command, launch, *child, stop_).finish();
}

std::optional<std::string> SystemProcesses::find(const std::string& program) {
  if (program.empty()) return std::nullopt;
  if (program.find('/') == std::string::npos) return find_on(search_path_of({}), program);
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
