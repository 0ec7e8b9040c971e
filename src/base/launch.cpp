// The child's side of running a program, and the preparations for it.
#include "base/launch.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/system_error.hpp"
#include "base/text.hpp"

extern char** environ;

namespace hone::base {

bool is_program(const std::string& path) {
  struct stat status {};
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

std::string inherited_search_path() {
  const char* inherited = std::getenv("PATH");
  return inherited != nullptr ? inherited : "/usr/local/bin:/usr/bin:/bin";
}

namespace {

// Both ends above the standard streams: where those are closed here, dup2 in the child would otherwise overwrite an end.
int make_pipe(Pipe& pipe) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  Fd read(ends[0]), write(ends[1]);
  pipe.read.reset(::fcntl(read.get(), F_DUPFD_CLOEXEC, 3));
  pipe.write.reset(::fcntl(write.get(), F_DUPFD_CLOEXEC, 3));
  return pipe.read.open() && pipe.write.open() ? 0 : errno;
}

std::string search_path_of(const std::map<std::string, std::string>& environment) {
  const auto own = environment.find("PATH");
  if (own != environment.end()) return own->second;
  return inherited_search_path();
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
    struct sigaction action {};
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
  if (launch.dies_with_thread) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent_pid) ::_exit(127);
  const int input = launch.null_input.open() ? launch.null_input.get() : launch.input.read.get();
  const bool streams =
      ::dup2(input, 0) >= 0 && ::dup2(launch.output.write.get(), 1) >= 0 && ::dup2(launch.error.write.get(), 2) >= 0;
  if (!streams) fail_child(launch, ChildStep::streams);
  if (launch.directory != nullptr && ::chdir(launch.directory) != 0) fail_child(launch, ChildStep::directory);
  close_other_descriptors();
  reset_signals();
  ::execve(launch.program.c_str(), launch.arguments.data(), launch.environment.data());
  fail_child(launch, ChildStep::program);
}

}  // namespace

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
  const bool wants_input = launch.keeps_input || !command.input.empty();
  if (failure == 0 && wants_input) failure = make_pipe(launch.input);
  if (failure == 0 && !wants_input) {
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

}  // namespace hone::base
