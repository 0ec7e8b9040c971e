// The caller's side: the request, the deadline, and a worker that is gone.
#include "device/cuda/trial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/clock.hpp"
#include "device/cuda/trial_wire.hpp"
#include "device/no_end.hpp"

extern char** environ;

namespace hone::device::cuda {

namespace {

constexpr std::int64_t preparation_ns = 120'000'000'000;  // a worker's start, and the way of the buffers' content

struct Request {
  std::string message;
  std::vector<const CudaBuffer*> buffers;  // in the order in which their content follows
};

// Programs and buffers by number, each once.
Request request_for(const std::vector<Launch>& launches) {
  Request request;
  std::vector<const CudaProgram*> programs;
  const auto number = [](auto& list, auto* item) {
    const auto found = std::find(list.begin(), list.end(), item);
    if (found != list.end()) return static_cast<std::uint32_t>(found - list.begin());
    list.push_back(item);
    return static_cast<std::uint32_t>(list.size() - 1);
  };
  WireText body;
  body.add(static_cast<std::uint32_t>(launches.size()));
  for (const Launch& launch : launches) {
    const auto* program = dynamic_cast<const CudaProgram*>(launch.program);
    body.add(program == nullptr ? std::uint32_t{0} : number(programs, program));  // a product needs none
    body.add_text(launch.entry);
    body.add(launch.programs);
    body.add(static_cast<std::int32_t>(launch.threads));
    body.add(static_cast<std::uint64_t>(launch.dynamic_shared_bytes));
    body.add(static_cast<std::int32_t>(launch.cluster_size));
    for (const int extent : {launch.programs_y, launch.programs_z, launch.threads_y, launch.threads_z})
      body.add(static_cast<std::int32_t>(extent));
    body.add(static_cast<std::uint32_t>(launch.arguments.size()));
    for (const Argument& argument : launch.arguments) {
      body.add(static_cast<std::uint8_t>(argument.index()));
      if (const auto* view = std::get_if<BufferView>(&argument)) {
        body.add(number(request.buffers, dynamic_cast<const CudaBuffer*>(view->buffer)));
        body.add(static_cast<std::uint64_t>(view->offset_bytes));
      } else if (const auto* i32 = std::get_if<std::int32_t>(&argument)) {
        body.add(*i32);
      } else if (const auto* i64 = std::get_if<std::int64_t>(&argument)) {
        body.add(*i64);
      } else {
        body.add(std::get<float>(argument));
      }
    }
    body.add(static_cast<std::uint8_t>(launch.product ? 1 : 0));
    if (!launch.product) continue;
    const MatrixProduct& product = *launch.product;
    for (const std::int64_t value :
         {product.m, product.n, product.k, product.a_stride, product.b_stride, product.c_stride})
      body.add(value);
    for (const BufferView& view : {product.a, product.b, product.c}) {
      body.add(number(request.buffers, dynamic_cast<const CudaBuffer*>(view.buffer)));
      body.add(static_cast<std::uint64_t>(view.offset_bytes));
    }
    for (const int flag :
         {int(product.a_transposed), int(product.b_transposed), int(product.input), int(product.output)})
      body.add(static_cast<std::uint8_t>(flag));
    body.add(product.beta);
  }
  WireText head;
  head.add(kTrialMark);
  head.add(static_cast<std::uint32_t>(programs.size()));
  for (const CudaProgram* program : programs) {
    head.add_text(program->name());
    head.add(static_cast<std::uint8_t>(program->native() ? 1 : 0));
    head.add_text(program->image());
  }
  head.add(static_cast<std::uint32_t>(request.buffers.size()));
  for (const CudaBuffer* buffer : request.buffers) head.add(static_cast<std::uint64_t>(buffer->bytes()));
  request.message = head.bytes() + body.bytes();
  return request;
}

}  // namespace

base::Result<void> TrialWorker::start() {
  const auto failed = [this](int error_number, const char* call) {
    return base::Error{base::ErrorKind::preflight, "a worker process for kernels that were never run",
                       fmt::format("{}: {}", call, ::strerror(error_number)), command_.front(),
                       "check the limits on processes and open files (ulimit -a)"};
  };
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return failed(errno, "socketpair");
  const int buffer_bytes = 4 << 20;
  for (const int end : ends) {
    ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
    ::setsockopt(end, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  }
  // What a kernel prints is not hone's output.
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (std::string& word : command_) words.push_back(word.data());
  words.push_back(nullptr);
  const int error_number = ::posix_spawn(&id_, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error_number != 0) {
    ::close(ends[0]);
    id_ = -1;
    return failed(error_number, "posix_spawn");
  }
  socket_ = ends[0];
  return {};
}

int TrialWorker::stop() {
  if (id_ <= 0) return 0;
  ::close(socket_);  // a worker that waits for a request ends by this
  socket_ = -1;
  int status = 0;
  for (int i = 0; i < 40; ++i) {
    if (::waitpid(id_, &status, WNOHANG) == id_) {
      id_ = -1;
      return status;
    }
    ::usleep(5'000);
  }
  ::kill(id_, SIGKILL);
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = -1;
  return status;
}

base::Error TrialWorker::lost(const std::string& what) {
  const int status = stop();
  const std::string words = WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                                                : fmt::format("ended with exit status {}", WEXITSTATUS(status));
  return {base::ErrorKind::gate, what + " to run in a worker process", "the worker " + words, "cuda",
          "correct the kernel; the run goes on without this variant"};
}

base::Result<void> TrialWorker::run(GpuSession& session, const std::vector<Launch>& launches,
                                    std::int64_t deadline_ns) {
  if (launches.empty()) return {};
  const std::string what = "'" + launches.front().entry + "'";
  if (!running())
    if (auto started = start(); !started) return started;
  const Request request = request_for(launches);
  const std::int64_t prepared_until_ns = base::steady_ns() + preparation_ns;
  const auto not_taken = [&](Wire wire) {
    if (wire == Wire::ended) {
      // A worker that gave up has said why before it went.
      std::string message;
      if (wire_receive_message(socket_, message, base::steady_ns() + 1'000'000'000) == Wire::complete) {
        WireReader reader(message);
        const bool failed = reader.take<char>() == kTrialFailed;
        (void)reader.take<std::uint8_t>();
        base::Error error = take_error(reader);
        if (failed && reader.good()) {
          stop();
          return error;
        }
      }
      return lost(what);
    }
    stop();
    return base::Error{base::ErrorKind::preflight, "a worker process that takes a launch",
                       fmt::format("no answer within {} s", preparation_ns / 1'000'000'000), "cuda",
                       "look at the load of the machine"};
  };
  if (const Wire sent = wire_send_message(socket_, request.message, prepared_until_ns); sent != Wire::complete)
    return not_taken(sent);
  std::vector<char> chunk;
  for (const CudaBuffer* buffer : request.buffers) {
    for (std::size_t at = 0; at < buffer->bytes(); at += kTrialChunkBytes) {
      const std::size_t bytes = std::min(kTrialChunkBytes, buffer->bytes() - at);
      chunk.resize(bytes);
      if (auto read = session.check(session.driver().copy_to_host(chunk.data(), buffer->pointer() + at, bytes),
                                    "a buffer's content for the worker", "cuMemcpyDtoH");
          !read) {
        stop();
        return read;
      }
      if (const Wire sent = wire_send(socket_, chunk.data(), bytes, prepared_until_ns); sent != Wire::complete)
        return not_taken(sent);
    }
  }
  std::int64_t until_ns = prepared_until_ns;
  for (;;) {
    std::string message;
    const Wire got = wire_receive_message(socket_, message, until_ns);
    if (got == Wire::ended) return lost(what);
    if (got == Wire::late) {
      if (until_ns == prepared_until_ns) return not_taken(got);
      stop();
      return no_end(what, deadline_ns, "cuda");
    }
    WireReader reader(message);
    const char kind = reader.take<char>();
    if (kind == kTrialReady) {
      until_ns = base::steady_ns() + deadline_ns;
    } else if (kind == kTrialDone) {
      return {};
    } else if (kind == kTrialFailed) {
      const bool worker_goes = reader.take<std::uint8_t>() != 0;
      base::Error error = take_error(reader);
      if (worker_goes) stop();
      if (!reader.good()) return lost(what);
      return error;
    } else {
      return lost(what);
    }
  }
}

}  // namespace hone::device::cuda
