// Keeps hone alive when a kernel faults in this process: a signal raised by the kernel's own instructions ends that call.
#pragma once

#include <csetjmp>
#include <functional>
#include <string>

namespace hone::device::cpu {

// While one lives, faults of code run by `guarded_call` are caught, in whatever thread; other faults act as before.
class FaultGuard {
 public:
  FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
  ~FaultGuard();
};

// Calls function(context) and returns 0, or the number of the signal that ended it. What the function had allocated is then
// lost and what it was writing is undefined. Without a living FaultGuard a fault ends the process as it always does.
int guarded_call(void (*function)(void*), void* context);

// "segmentation fault (signal 11)"
std::string signal_words(int signal_number);

}  // namespace hone::device::cpu
