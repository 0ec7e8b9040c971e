// Signal handlers that jump back out of a faulting kernel.
#include "device/cpu/fault_guard.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <mutex>

namespace hone::device::cpu {

namespace {

constexpr std::array<int, 5> caught = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t alternate_stack_bytes = 64 << 10;

std::mutex installation;  // guards the two below
int guards = 0;
std::array<struct sigaction, caught.size()> previous;

thread_local sigjmp_buf* way_back = nullptr;

// A kernel may fault because its stack is used up: the handler needs one of its own.
struct AlternateStack {
  AlternateStack() {
    void* memory = ::mmap(nullptr, alternate_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    stack.ss_sp = memory;
    stack.ss_size = alternate_stack_bytes;
    active = ::sigaltstack(&stack, &before) == 0;
  }
  ~AlternateStack() {
    if (active) ::sigaltstack(&before, nullptr);
    if (stack.ss_sp != nullptr) ::munmap(stack.ss_sp, alternate_stack_bytes);
  }
  stack_t stack{}, before{};
  bool active = false;
};

extern "C" void leave_kernel(int signal_number, siginfo_t*, void*) {
  if (way_back != nullptr) siglongjmp(*way_back, signal_number);
  // Not a kernel's: back to what was there before; returning repeats the instruction and with it the fault.
  for (std::size_t i = 0; i < caught.size(); ++i) {
    if (caught[i] == signal_number) ::sigaction(signal_number, &previous[i], nullptr);
  }
}

}  // namespace

FaultGuard::FaultGuard() {
  const std::lock_guard<std::mutex> lock(installation);
  if (guards++ > 0) return;
  struct sigaction action {};
  action.sa_sigaction = leave_kernel;
  // NODEFER: the jump out of the handler leaves the signal unblocked without a system call for each guarded call.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < caught.size(); ++i) ::sigaction(caught[i], &action, &previous[i]);
}

FaultGuard::~FaultGuard() {
  const std::lock_guard<std::mutex> lock(installation);
  if (--guards > 0) return;
  for (std::size_t i = 0; i < caught.size(); ++i) ::sigaction(caught[i], &previous[i], nullptr);
}

int guarded_call(void (*function)(void*), void* context) {
  thread_local AlternateStack stack;
  sigjmp_buf here;
  sigjmp_buf* const outer = way_back;
  // volatile: read after the jump, when registers hold what they held at the fault.
  sigjmp_buf* volatile restored = outer;
  const int signal_number = sigsetjmp(here, 0);
  if (signal_number == 0) {
    way_back = &here;
    function(context);
  }
  way_back = restored;
  return signal_number;
}

std::string signal_words(int signal_number) {
  const char* name = "fault";
  switch (signal_number) {
    case SIGSEGV: name = "segmentation fault"; break;
    case SIGBUS: name = "bus error"; break;
    case SIGFPE: name = "arithmetic exception, as an integer division by zero"; break;
    case SIGILL: name = "illegal instruction"; break;
    case SIGABRT: name = "abort"; break;
    case SIGKILL: name = "killed"; break;
    case SIGINT: name = "interrupted"; break;
    default: break;
  }
  return std::string(name) + " (signal " + std::to_string(signal_number) + ")";
}

}  // namespace hone::device::cpu
