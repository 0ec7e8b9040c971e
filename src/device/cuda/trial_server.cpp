// The worker's side.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <optional>

#include "base/hash.hpp"
#include "device/cuda/trial.hpp"
#include "device/cuda/trial_wire.hpp"

namespace hone::device::cuda {

namespace {

constexpr std::size_t most_programs = 64;  // that stay loaded

base::Error broken_request() {
  return {base::ErrorKind::internal, "a whole request", "one that is cut off, or of another build of hone", "worker",
          "restart hone"};
}

class Server {
 public:
  Server(std::shared_ptr<GpuSession> session, int socket) : session_(std::move(session)), socket_(socket) {}

  // False when there is no more to serve.
  bool serve() {
    std::string message;
    if (wire_receive_message(socket_, message, 0) != Wire::complete) return false;
    auto done = answer(WireReader(message));
    buffers_.clear();
    WireText text;
    if (done) {
      text.add(kTrialDone);
    } else {
      text.add(kTrialFailed);
      // Content that was not read any more would be taken for the next request.
      text.add(static_cast<std::uint8_t>(session_->lost() || !content_read_ ? 1 : 0));
      add_error(text, done.error());
    }
    return wire_send_message(socket_, text.bytes(), 0) == Wire::complete && !session_->lost() && content_read_;
  }

 private:
  base::Result<void> answer(WireReader reader) {
    content_read_ = false;
    if (reader.take<std::uint32_t>() != kTrialMark) return broken_request();
    auto programs = take_programs(reader);
    const auto buffer_count = reader.take<std::uint32_t>();
    std::vector<std::uint64_t> sizes;
    for (std::uint32_t i = 0; i < buffer_count && reader.good(); ++i) sizes.push_back(reader.take<std::uint64_t>());
    if (!reader.good()) return broken_request();
    if (auto filled = fill_buffers(sizes); !filled) return filled;
    content_read_ = true;
    std::vector<Launch> launches = take_launches(reader, programs);
    if (!reader.good()) return broken_request();

    if (auto entered = session_->enter(); !entered) return entered;
    HONE_TRY(prepared, prepare(*session_, launches));
    WireText ready;
    ready.add(kTrialReady);
    if (wire_send_message(socket_, ready.bytes(), 0) != Wire::complete) return broken_request();
    if (auto queued = enqueue(*session_, *prepared); !queued) return queued;
    return session_->synchronize(words_for(*prepared));
  }

  std::vector<std::shared_ptr<CudaProgram>> take_programs(WireReader& reader) {
    std::vector<std::shared_ptr<CudaProgram>> programs;
    const auto count = reader.take<std::uint32_t>();
    if (loaded_.size() > most_programs) loaded_.clear();
    for (std::uint32_t i = 0; i < count && reader.good(); ++i) {
      const std::string name = reader.take_text();
      CompiledCuda compiled;
      compiled.native = reader.take<std::uint8_t>() != 0;
      compiled.image = reader.take_text();
      auto& kept = loaded_[base::content_hash(compiled.image)];
      if (kept == nullptr) kept = std::make_shared<CudaProgram>(session_, name, std::move(compiled));
      programs.push_back(kept);
    }
    return programs;
  }

  base::Result<void> fill_buffers(const std::vector<std::uint64_t>& sizes) {
    std::vector<char> chunk;
    for (const std::uint64_t size : sizes) {
      HONE_TRY(buffer, CudaBuffer::make(session_, size));
      for (std::uint64_t at = 0; at < size; at += kTrialChunkBytes) {
        const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kTrialChunkBytes, size - at));
        chunk.resize(bytes);
        if (wire_receive(socket_, chunk.data(), bytes, 0) != Wire::complete) return broken_request();
        const Status status = session_->driver().copy_to_device((*buffer)->pointer() + at, chunk.data(), bytes);
        if (auto written = session_->check(status, "a buffer's content", "cuMemcpyHtoD"); !written) return written;
      }
      buffers_.push_back(std::move(*buffer));
    }
    return {};
  }

  BufferView take_view(WireReader& reader) {
    const auto buffer = reader.take<std::uint32_t>();
    const auto offset = reader.take<std::uint64_t>();
    return {buffer < buffers_.size() ? buffers_[buffer].get() : nullptr, offset};
  }

  MatrixProduct take_product(WireReader& reader) {
    MatrixProduct product;
    for (std::int64_t* number :
         {&product.m, &product.n, &product.k, &product.a_stride, &product.b_stride, &product.c_stride})
      *number = reader.take<std::int64_t>();
    for (BufferView* view : {&product.a, &product.b, &product.c}) *view = take_view(reader);
    product.a_transposed = reader.take<std::uint8_t>() != 0;
    product.b_transposed = reader.take<std::uint8_t>() != 0;
    product.input = static_cast<DType>(reader.take<std::uint8_t>());
    product.output = static_cast<DType>(reader.take<std::uint8_t>());
    product.beta = reader.take<float>();
    return product;
  }

  std::vector<Launch> take_launches(WireReader& reader, const std::vector<std::shared_ptr<CudaProgram>>& programs) {
    std::vector<Launch> launches;
    const auto count = reader.take<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && reader.good(); ++i) {
      Launch launch;
      const auto program = reader.take<std::uint32_t>();
      launch.program = program < programs.size() ? programs[program].get() : nullptr;
      launch.entry = reader.take_text();
      launch.programs = reader.take<std::int64_t>();
      launch.threads = reader.take<std::int32_t>();
      launch.dynamic_shared_bytes = reader.take<std::uint64_t>();
      launch.cluster_size = reader.take<std::int32_t>();
      for (int* extent : {&launch.programs_y, &launch.programs_z, &launch.threads_y, &launch.threads_z})
        *extent = reader.take<std::int32_t>();
      const auto arguments = reader.take<std::uint32_t>();
      for (std::uint32_t a = 0; a < arguments && reader.good(); ++a) {
        switch (reader.take<std::uint8_t>()) {
          case 0: launch.arguments.emplace_back(take_view(reader)); break;
          case 1: launch.arguments.emplace_back(reader.take<std::int32_t>()); break;
          case 2: launch.arguments.emplace_back(reader.take<std::int64_t>()); break;
          default: launch.arguments.emplace_back(reader.take<float>()); break;
        }
      }
      if (reader.take<std::uint8_t>() != 0) launch.product = take_product(reader);
      launches.push_back(std::move(launch));
    }
    return launches;
  }

  std::shared_ptr<GpuSession> session_;
  int socket_;
  bool content_read_ = false;
  std::map<std::string, std::shared_ptr<CudaProgram>> loaded_;
  std::vector<std::unique_ptr<CudaBuffer>> buffers_;
};

}  // namespace

int serve_trials(const DriverApi& driver, int ordinal, int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto session = GpuSession::open(driver, ordinal);
  if (!session) {
    // The first request is answered with the reason, so that it reaches a person.
    WireText text;
    text.add(kTrialFailed);
    text.add(static_cast<std::uint8_t>(1));
    add_error(text, session.error());
    (void)wire_send_message(socket, text.bytes(), 0);
    return 3;
  }
  Server server(*session, socket);
  while (server.serve()) {
  }
  return 0;
}

}  // namespace hone::device::cuda
