// One GPU as this process holds it: driver table, primary context, one stream, and the memory handed out. Knows whether the
// context is lost.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/device.hpp"

namespace hone::device::cuda {

class ProductLibrary;
struct LtApi;

class GpuSession : public std::enable_shared_from_this<GpuSession> {
 public:
  // Initialises the driver and retains the GPU's primary context. Errors name the remedy.
  static base::Result<std::shared_ptr<GpuSession>> open(const DriverApi& driver, int ordinal);
  GpuSession(const DriverApi& driver, int ordinal, DeviceHandle device, Context context, Stream stream);
  GpuSession(const GpuSession&) = delete;
  GpuSession& operator=(const GpuSession&) = delete;
  ~GpuSession();

  const DriverApi& driver() const { return driver_; }
  DeviceHandle handle() const { return device_; }
  int ordinal() const { return ordinal_; }
  Stream stream() const { return stream_; }
  std::string id() const { return "cuda:" + std::to_string(ordinal_); }
  int attribute(DeviceAttribute which) const;  // 0 where the driver does not tell

  // Makes the context current on the calling thread; the error that ended the context once there was one.
  base::Result<void> enter();
  // Turns a status into a result: `expected` and `call` as in call_error. A sticky error is kept: the context is lost.
  base::Result<void> check(Status status, const std::string& expected, const std::string& call);
  base::Result<void> synchronize(const std::string& what);
  bool lost() const { return lost_.load(); }

  // Matrix products on this GPU. Opens cuBLASLt where nothing was set before; an error says how to get it.
  base::Result<ProductLibrary*> products();
  void set_products(const LtApi& api);

  std::atomic<std::size_t> allocated{0};  // bytes of buffers

 private:
  const DriverApi& driver_;
  int ordinal_;
  DeviceHandle device_;
  Context context_;
  Stream stream_;
  std::atomic<bool> lost_{false};
  std::mutex mutex_;
  base::Error first_error_;
  std::unique_ptr<ProductLibrary> products_;
};

// Device memory. Holds the session: it may outlive the device object.
class CudaBuffer final : public Buffer {
 public:
  // `bytes` may be 0: the pointer is valid, and nothing may be read through it.
  static base::Result<std::unique_ptr<CudaBuffer>> make(std::shared_ptr<GpuSession> session, std::size_t bytes);
  CudaBuffer(std::shared_ptr<GpuSession> session, DevicePointer pointer, std::size_t bytes);
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  ~CudaBuffer() override;
  std::size_t bytes() const override { return bytes_; }
  DevicePointer pointer() const { return pointer_; }

 private:
  std::shared_ptr<GpuSession> session_;
  DevicePointer pointer_;
  std::size_t bytes_;
};

// The address of `bytes` bytes of a view, or the error that names buffer and view.
base::Result<DevicePointer> resolve(const BufferView& view, std::size_t bytes);

}  // namespace hone::device::cuda
