// Context, memory, and the first sticky error.
#include "device/cuda/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/cuda/matrix_product.hpp"

namespace hone::device::cuda {

base::Result<std::shared_ptr<GpuSession>> GpuSession::open(const DriverApi& driver, int ordinal) {
  const std::string id = fmt::format("cuda:{}", ordinal);
  const auto failed = [&](Status status, const char* call) {
    return call_error(driver, status, "an NVIDIA GPU as " + id, call, id);
  };
  if (const Status status = driver.init(0); status != kSuccess) return failed(status, "cuInit");
  int count = 0;
  if (const Status status = driver.device_count(&count); status != kSuccess) return failed(status, "cuDeviceGetCount");
  if (ordinal >= count) {
    return base::Error{base::ErrorKind::preflight, "an NVIDIA GPU as " + id,
                       count == 0 ? "no GPU" : fmt::format("{} GPU{}, numbered from 0", count, count == 1 ? "" : "s"),
                       "--device", "choose a device that 'hone doctor' lists; CUDA_VISIBLE_DEVICES may hide some"};
  }
  DeviceHandle device = 0;
  if (const Status status = driver.device_get(&device, ordinal); status != kSuccess)
    return failed(status, "cuDeviceGet");
  // Waiting spins: hone's host thread has nothing else to do, and wakes late otherwise. An error means the context lives already.
  (void)driver.context_flags(device, kScheduleSpin);
  Context context = nullptr;
  if (const Status status = driver.context_retain(&context, device); status != kSuccess)
    return failed(status, "cuDevicePrimaryCtxRetain");
  Stream stream = nullptr;
  Status status = driver.context_set(context);
  if (status == kSuccess) status = driver.stream_create(&stream, 0);
  if (status != kSuccess) {
    driver.context_release(device);
    return failed(status, "cuStreamCreate");
  }
  return std::make_shared<GpuSession>(driver, ordinal, device, context, stream);
}

GpuSession::GpuSession(const DriverApi& driver, int ordinal, DeviceHandle device, Context context, Stream stream)
    : driver_(driver), ordinal_(ordinal), device_(device), context_(context), stream_(stream) {}

GpuSession::~GpuSession() {
  // Failures here have nobody to go to: the context goes with the process.
  (void)driver_.context_set(context_);
  products_.reset();
  (void)driver_.stream_destroy(stream_);
  (void)driver_.context_release(device_);
}

base::Result<ProductLibrary*> GpuSession::products() {
  if (products_ == nullptr) {
    base::SystemFiles files;
    HONE_TRY(api, open_cublas_lt(files, SearchEnvironment::from_process()));
    set_products(*api);
  }
  return products_.get();
}

void GpuSession::set_products(const LtApi& api) { products_ = std::make_unique<ProductLibrary>(*this, api); }

int GpuSession::attribute(DeviceAttribute which) const {
  int value = 0;
  return driver_.device_attribute(&value, static_cast<int>(which), device_) == kSuccess ? value : 0;
}

base::Result<void> GpuSession::enter() {
  if (lost()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    base::Error error = first_error_;
    error.expected = "a GPU context that still works";
    error.found = "lost earlier by this process; " + error.found;
    return error;
  }
  return check(driver_.context_set(context_), "the GPU's context on this thread", "cuCtxSetCurrent");
}

base::Result<void> GpuSession::check(Status status, const std::string& expected, const std::string& call) {
  if (status == kSuccess) return {};
  base::Error error = call_error(driver_, status, expected, call, id());
  if (is_sticky(status)) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!lost_.exchange(true)) first_error_ = error;
  }
  return error;
}

base::Result<void> GpuSession::synchronize(const std::string& what) {
  return check(driver_.stream_synchronize(stream_), what + " to end", "cuStreamSynchronize");
}

base::Result<std::unique_ptr<CudaBuffer>> CudaBuffer::make(std::shared_ptr<GpuSession> session, std::size_t bytes) {
  HONE_PROPAGATE(session->enter());
  DevicePointer pointer = 0;
  const Status status = session->driver().memory_allocate(&pointer, std::max<std::size_t>(bytes, 1));
  if (status == kOutOfMemory) {
    std::size_t free_bytes = 0, total_bytes = 0;
    (void)session->driver().memory_info(&free_bytes, &total_bytes);
    return base::Error{base::ErrorKind::preflight, fmt::format("{} bytes of free GPU memory for a buffer", bytes),
                       fmt::format("{} bytes free of {}, {} held by hone's buffers already", free_bytes, total_bytes,
                                   session->allocated.load()),
                       session->id(),
                       "use smaller sizes (--sizes), or end what else uses the GPU's memory (nvidia-smi lists it)"};
  }
  HONE_PROPAGATE(session->check(status, fmt::format("{} bytes of GPU memory", bytes), "cuMemAlloc"));
  return std::make_unique<CudaBuffer>(std::move(session), pointer, bytes);
}

CudaBuffer::CudaBuffer(std::shared_ptr<GpuSession> session, DevicePointer pointer, std::size_t bytes)
    : session_(std::move(session)), pointer_(pointer), bytes_(bytes) {
  session_->allocated += bytes_;
}

CudaBuffer::~CudaBuffer() {
  session_->allocated -= bytes_;
  if (session_->enter().ok()) (void)session_->driver().memory_free(pointer_);  // a lost context frees nothing any more
}

base::Result<DevicePointer> resolve(const BufferView& view, std::size_t bytes) {
  const auto wrong = [](std::string found) {
    return base::Error{base::ErrorKind::internal, "a view inside a buffer of this GPU", std::move(found), "cuda", ""};
  };
  if (view.buffer == nullptr) return wrong("no buffer");
  const auto* buffer = dynamic_cast<const CudaBuffer*>(view.buffer);
  if (buffer == nullptr) return wrong("a buffer of another device");
  if (view.offset_bytes > buffer->bytes() || bytes > buffer->bytes() - view.offset_bytes)
    return wrong(
        fmt::format("{} bytes at offset {} of a buffer of {} bytes", bytes, view.offset_bytes, buffer->bytes()));
  return buffer->pointer() + view.offset_bytes;
}

}  // namespace hone::device::cuda
