// Untested GPU kernels run first in a sandboxed process: an illegal address, a trap or an endless loop of a kernel ends the
// worker's context, or the worker, and costs that one call. CUDA does not survive fork, so the worker is
// hone itself, started anew; it stays for the next call and is started again after it was lost.
//
// The two talk over a socket: a request holds the programs' binaries, the content of the buffers and the launches; the worker
// runs them on copies of its own and answers "ready" before and "done" or an error after. The caller's buffers are never
// touched, so a launch that ended well is then run again in the caller's process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/cuda/cuda_program.hpp"
#include "device/cuda/session.hpp"
#include "device/device.hpp"

namespace hone::device::cuda {

class TrialWorker {
 public:
  // `command` starts a worker: the program and its arguments; the socket is its standard input.
  explicit TrialWorker(std::vector<std::string> command) : command_(std::move(command)) {}
  TrialWorker(const TrialWorker&) = delete;
  TrialWorker& operator=(const TrialWorker&) = delete;
  ~TrialWorker() { stop(); }

  // Error of kind gate: the kernel faulted, or did not end within deadline_ns of its start. Pre-flight: no worker could be
  // had, or it found no memory for the copies. `launches` have passed check_launches. Call it from a thread that stays: the
  // worker ends with the thread that started it.
  base::Result<void> run(GpuSession& session, const std::vector<Launch>& launches, std::int64_t deadline_ns);
  bool running() const { return id_ > 0; }

 private:
  base::Result<void> start();
  int stop();  // kills it if need be; its wait status
  base::Error lost(const std::string& what);

  std::vector<std::string> command_;
  pid_t id_ = -1;
  int socket_ = -1;
};

// The worker's side: answers requests on standard input until it ends, or until a kernel has cost it its context. Returns
// the exit status.
int serve_trials(const DriverApi& driver, int ordinal, int socket);

}  // namespace hone::device::cuda
