// A CUDA driver in memory: device memory is host memory, launches are written down, and a call can be told to fail. One for
// the process, as the real one; `fake_gpu()` is set back by each test.
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "device/cuda/driver_api.hpp"

namespace hone::device::cuda {

struct FakeLaunch {
  std::string kernel;
  LaunchConfig config;
  unsigned cluster = 0;               // 0: launched without the attribute
  bool early = false;                 // may begin before the launch ahead of it has ended
  std::vector<std::uint64_t> values;  // the first eight parameters' slots
};

struct FakeGpu {
  int count = 1;
  std::string name = "Fake GPU";
  std::map<int, int> attributes = {{13, 1980000}, {16, 132},       {38, 50 << 20}, {39, 2048},     {75, 9},
                                   {76, 0},       {81, 228 << 10}, {82, 65536},    {97, 227 << 10}};
  std::size_t total_bytes = std::size_t{1} << 30, used_bytes = 0;
  std::map<DevicePointer, std::size_t> allocations;
  std::map<DevicePointer, std::unique_ptr<char[]>> memory;  // ends with the GPU: what a lost context held is not freed
  std::set<std::string> kernels = {"run", "hone_gate", "hone_empty_l2"};
  int max_threads = 1024, registers = 32, static_shared_bytes = 0;
  std::map<std::string, int> raised;  // "run 8" -> bytes: attributes set by kernel and number
  std::vector<FakeLaunch> launches;
  std::vector<std::string> calls;                       // of copies, fills, waits: in order
  std::function<Status(const std::string& call)> fail;  // asked before each call that can fail
  float elapsed_ms = 0.5F;
  std::function<float(const FakeLaunch& last)>
      elapsed;  // of what ran before the end was asked for; overrules elapsed_ms
  int modules = 0, contexts = 0, streams = 0, events = 0, host_blocks = 0;  // alive

  Status asked(const std::string& call) {
    calls.push_back(call);
    return fail ? fail(call) : kSuccess;
  }
};

inline FakeGpu& fake_gpu() {
  static FakeGpu gpu;
  return gpu;
}

// Handles are names kept alive.
template <class Handle>
Handle handle_of(const std::string& name) {
  static std::map<std::string, std::string> names;
  return reinterpret_cast<Handle>(&names.emplace(name, name).first->second);
}
template <class Handle>
const std::string& name_of_handle(Handle handle) {
  return *reinterpret_cast<const std::string*>(handle);
}

inline const DriverApi& fake_driver() {
  static const DriverApi table = [] {
    DriverApi api;
    api.init = [](unsigned) { return fake_gpu().asked("init"); };
    api.driver_version = [](int* version) { return *version = 13000, kSuccess; };
    api.error_name = [](Status status, const char** text) {
      *text = status == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
      return kSuccess;
    };
    api.error_text = [](Status, const char** text) { return *text = "told so", kSuccess; };
    api.device_count = [](int* count) { return *count = fake_gpu().count, kSuccess; };
    api.device_get = [](DeviceHandle* device, int ordinal) { return *device = ordinal, kSuccess; };
    api.device_name = [](char* name, int bytes, DeviceHandle) {
      std::strncpy(name, fake_gpu().name.c_str(), static_cast<std::size_t>(bytes));
      return kSuccess;
    };
    api.device_bus_id = [](char* text, int bytes, DeviceHandle) {
      std::strncpy(text, "0000:00:00.0", static_cast<std::size_t>(bytes));
      return kSuccess;
    };
    api.device_memory = [](std::size_t* bytes, DeviceHandle) { return *bytes = fake_gpu().total_bytes, kSuccess; };
    api.device_attribute = [](int* value, int attribute, DeviceHandle) {
      return *value = fake_gpu().attributes[attribute], kSuccess;
    };
    api.context_flags = [](DeviceHandle, unsigned) { return kSuccess; };
    api.context_retain = [](Context* context, DeviceHandle) {
      *context = handle_of<Context>("context");
      ++fake_gpu().contexts;
      return fake_gpu().asked("context_retain");
    };
    api.context_release = [](DeviceHandle) { return --fake_gpu().contexts, kSuccess; };
    api.context_set = [](Context) { return kSuccess; };
    api.memory_info = [](std::size_t* free_bytes, std::size_t* total_bytes) {
      *total_bytes = fake_gpu().total_bytes;
      *free_bytes = fake_gpu().total_bytes - fake_gpu().used_bytes;
      return kSuccess;
    };
    api.memory_allocate = [](DevicePointer* pointer, std::size_t bytes) {
      FakeGpu& gpu = fake_gpu();
      if (const Status status = gpu.asked("allocate"); status != kSuccess) return status;
      if (bytes > gpu.total_bytes - gpu.used_bytes) return kOutOfMemory;
      auto block = std::make_unique<char[]>(bytes);
      *pointer = reinterpret_cast<DevicePointer>(block.get());
      gpu.memory[*pointer] = std::move(block);
      gpu.allocations[*pointer] = bytes;
      gpu.used_bytes += bytes;
      return kSuccess;
    };
    api.memory_free = [](DevicePointer pointer) {
      FakeGpu& gpu = fake_gpu();
      gpu.used_bytes -= gpu.allocations.at(pointer);
      gpu.allocations.erase(pointer);
      gpu.memory.erase(pointer);
      return kSuccess;
    };
    api.host_allocate = [](void** pointer, std::size_t bytes, unsigned) {
      ++fake_gpu().host_blocks;
      return *pointer = std::calloc(bytes, 1), kSuccess;
    };
    api.host_free = [](void* pointer) {
      --fake_gpu().host_blocks;
      std::free(pointer);
      return kSuccess;
    };
    api.host_device_pointer = [](DevicePointer* pointer, void* host, unsigned) {
      return *pointer = reinterpret_cast<DevicePointer>(host), kSuccess;
    };
    api.copy_to_device = [](DevicePointer to, const void* from, std::size_t bytes) {
      std::memcpy(reinterpret_cast<void*>(to), from, bytes);
      return fake_gpu().asked("upload");
    };
    api.copy_to_host = [](void* to, DevicePointer from, std::size_t bytes) {
      std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
      return fake_gpu().asked("download");
    };
    api.copy_on_device = [](DevicePointer to, DevicePointer from, std::size_t bytes, Stream) {
      std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
      return fake_gpu().asked("copy");
    };
    api.fill_bytes = [](DevicePointer to, unsigned char value, std::size_t count, Stream) {
      std::memset(reinterpret_cast<void*>(to), value, count);
      return fake_gpu().asked("fill");
    };
    api.stream_create = [](Stream* stream, unsigned) {
      ++fake_gpu().streams;
      return *stream = handle_of<Stream>("stream"), kSuccess;
    };
    api.stream_destroy = [](Stream) { return --fake_gpu().streams, kSuccess; };
    api.stream_synchronize = [](Stream) { return fake_gpu().asked("wait"); };
    api.event_create = [](Event* event, unsigned) {
      ++fake_gpu().events;
      return *event = handle_of<Event>("event"), kSuccess;
    };
    api.event_destroy = [](Event) { return --fake_gpu().events, kSuccess; };
    api.event_record = [](Event, Stream) { return fake_gpu().asked("event"); };
    api.event_elapsed = [](float* milliseconds, Event, Event) {
      const FakeGpu& gpu = fake_gpu();
      return *milliseconds = gpu.elapsed && !gpu.launches.empty() ? gpu.elapsed(gpu.launches.back()) : gpu.elapsed_ms,
             kSuccess;
    };
    api.module_load = [](Module* module, const void*) {
      ++fake_gpu().modules;
      *module = handle_of<Module>("module");
      return fake_gpu().asked("load");
    };
    api.module_unload = [](Module) { return --fake_gpu().modules, kSuccess; };
    api.module_function = [](Function* function, Module, const char* name) {
      if (fake_gpu().kernels.count(name) == 0) return kNotFound;
      return *function = handle_of<Function>(name), kSuccess;
    };
    api.function_get = [](int* value, int attribute, Function) {
      const FakeGpu& gpu = fake_gpu();
      *value = attribute == 0   ? gpu.max_threads
               : attribute == 1 ? gpu.static_shared_bytes
               : attribute == 4 ? gpu.registers
                                : 0;
      return kSuccess;
    };
    api.function_set = [](Function function, int attribute, int value) {
      fake_gpu().raised[name_of_handle(function) + " " + std::to_string(attribute)] = value;
      return kSuccess;
    };
    api.launch = [](const LaunchConfig* config, Function function, void** arguments, void**) {
      FakeLaunch launch{name_of_handle(function), *config, 0, false, {}};
      for (unsigned i = 0; i < config->attribute_count; ++i) {
        const LaunchAttribute& attribute = config->attributes[i];
        if (attribute.id == kClusterDimension) launch.cluster = attribute.value.cluster[0];
        if (attribute.id == kProgrammaticStreamSerialization) launch.early = attribute.value.flag == 1;
      }
      for (int i = 0; i < 8; ++i) {
        std::uint64_t value = 0;
        std::memcpy(&value, arguments[i], sizeof value);
        launch.values.push_back(value);
      }
      fake_gpu().launches.push_back(launch);
      if (launch.kernel == "hone_gate") reinterpret_cast<std::uint32_t*>(launch.values[0])[2] = 1;  // it stands
      return fake_gpu().asked("launch " + launch.kernel);
    };
    return api;
  }();
  return table;
}

}  // namespace hone::device::cuda
