// The rate of dense matrix products through cuBLASLt, opened at run time: 8192 x 8192 x 8192, both operands with their inner
// extent consecutive, random values (zeros run faster), fp32 accumulation. Types and values as in the cuBLASLt reference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/cuda/ceiling_programs.hpp"
#include "device/cuda/ceilings.hpp"
#include "device/cuda/shared_library.hpp"

namespace hone::device::cuda {

namespace {

constexpr int type_fp32 = 0, type_fp16 = 2, type_bf16 = 14;  // cudaDataType_t
constexpr int compute_fp32 = 68, compute_fp32_by_tf32 = 77;  // cublasComputeType_t
constexpr int attribute_transpose_a = 3, transpose = 1;      // of a product's description
constexpr int preference_workspace = 1;
constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

struct HeuristicResult {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

struct LtApi {
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*product_create)(void**, int compute, int scale) = nullptr;
  int (*product_destroy)(void*) = nullptr;
  int (*product_set)(void*, int attribute, const void*, std::size_t) = nullptr;
  int (*layout_create)(void**, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) = nullptr;
  int (*layout_destroy)(void*) = nullptr;
  int (*preference_create)(void**) = nullptr;
  int (*preference_destroy)(void*) = nullptr;
  int (*preference_set)(void*, int attribute, const void*, std::size_t) = nullptr;
  int (*heuristic)(void*, void*, void*, void*, void*, void*, void*, int, HeuristicResult*, int*) = nullptr;
  int (*product)(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*,
                 void*, void*, const void*, void*, std::size_t, Stream) = nullptr;
};

const std::vector<std::string>& library_names() {
  static const std::vector<std::string> names = {"libcublasLt.so.13", "libcublasLt.so.12"};
  return names;
}

// Handles of the library, released in the opposite order.
class Handles {
 public:
  ~Handles() {
    for (auto each = made_.rbegin(); each != made_.rend(); ++each) each->second(each->first);
  }
  void keep(void* handle, int (*destroy)(void*)) { made_.emplace_back(handle, destroy); }

 private:
  std::vector<std::pair<void*, int (*)(void*)>> made_;
};

class MatrixRates {
 public:
  MatrixRates(const CeilingParts& parts, const LtApi& api, bool quick)
      : parts_(parts), api_(api), samples_(quick ? 9 : 25) {}

  base::Result<void> prepare() {
    auto compiled = parts_.compiler.compile(
        {"ceiling programs", {{"ceilings.cu", ceiling_program_text}}, "ceilings.cu", {}}, parts_.capability);
    if (!compiled) return compiled.error();
    program_ = std::make_shared<CudaProgram>(parts_.session, "ceiling programs", std::move(*compiled));
    for (auto* buffer : {&a_, &b_, &d_, &workspace_}) {
      auto made =
          CudaBuffer::make(parts_.session, buffer == &workspace_ ? workspace_bytes : extent * extent * sizeof(float));
      if (!made) return made.error();
      *buffer = std::move(*made);
    }
    if (api_.create(&handle_) != 0) return failed("cublasLtCreate");
    handles_.keep(handle_, api_.destroy);
    return {};
  }

  base::Result<model::Ceiling> measure(int type, int compute) {
    if (auto filled = fill(type); !filled) return filled.error();
    Handles handles;
    void *product = nullptr, *layout = nullptr, *preference = nullptr;
    if (api_.product_create(&product, compute, type_fp32) != 0) return failed("cublasLtMatmulDescCreate");
    handles.keep(product, api_.product_destroy);
    const std::int32_t transposed = transpose;
    if (api_.product_set(product, attribute_transpose_a, &transposed, sizeof transposed) != 0)
      return failed("cublasLtMatmulDescSetAttribute");
    if (api_.layout_create(&layout, type, extent, extent, static_cast<std::int64_t>(extent)) != 0)
      return failed("cublasLtMatrixLayoutCreate");
    handles.keep(layout, api_.layout_destroy);
    if (api_.preference_create(&preference) != 0) return failed("cublasLtMatmulPreferenceCreate");
    handles.keep(preference, api_.preference_destroy);
    if (api_.preference_set(preference, preference_workspace, &workspace_bytes, sizeof workspace_bytes) != 0)
      return failed("cublasLtMatmulPreferenceSetAttribute");
    HeuristicResult found[4] = {};
    int count = 0;
    if (api_.heuristic(handle_, product, layout, layout, layout, layout, preference, 4, found, &count) != 0 ||
        count == 0)
      return failed("cublasLtMatmulAlgoGetHeuristic");

    model::Ceiling best;
    for (int i = 0; i < count; ++i) {
      const auto work = [&]() -> base::Result<void> {
        const float one = 1, zero = 0;
        const auto address = [](const std::unique_ptr<CudaBuffer>& buffer) {
          return reinterpret_cast<void*>(buffer->pointer());
        };
        if (api_.product(handle_, product, &one, address(a_), layout, address(b_), layout, &zero, address(d_), layout,
                         address(d_), layout, found[i].algorithm, address(workspace_), workspace_bytes,
                         parts_.session->stream()) != 0)
          return failed("cublasLtMatmul");
        return {};
      };
      // The library loads its kernel when it first runs, which would wait for the stream that the gate of a sample holds.
      if (auto warm = work(); !warm) return warm.error();
      if (auto ended = parts_.session->synchronize("a matrix product"); !ended) return ended.error();
      std::vector<double> rates;
      for (int sample = 0; sample < samples_ + 2; ++sample) {
        auto taken = parts_.stopwatch.time_work(work, "a matrix product", false);
        if (!taken) return taken.error();
        if (sample >= 2) rates.push_back(2.0 * std::pow(static_cast<double>(extent), 3) / (taken->device_ns * 1e-9));
      }
      const model::Ceiling ceiling = summarize(std::move(rates));
      if (ceiling.p50 > best.p50) best = ceiling;
    }
    return best;
  }

 private:
  static constexpr std::size_t extent = 8192;

  base::Error failed(const char* call) const {
    return {base::ErrorKind::preflight, "a matrix product through cuBLASLt", fmt::format("{} failed", call),
            parts_.session->id(), "check that cuBLASLt fits the driver"};
  }
  base::Result<void> fill(int type) {
    for (const auto* buffer : {&a_, &b_}) {
      Launch one;
      one.program = program_.get();
      one.entry = "ceiling_random";
      one.programs = 4096;
      one.threads = 256;
      one.arguments = {BufferView{buffer->get(), 0}, static_cast<std::int64_t>(extent * extent),
                       std::int32_t{type == type_fp32   ? 2
                                    : type == type_fp16 ? 1
                                                        : 0}};
      auto prepared = hone::device::cuda::prepare({one});
      if (!prepared) return prepared.error();
      if (auto queued = enqueue(*parts_.session, *prepared); !queued) return queued;
    }
    return parts_.session->synchronize("random values");
  }

  const CeilingParts& parts_;
  const LtApi& api_;
  const int samples_;
  std::shared_ptr<CudaProgram> program_;
  std::unique_ptr<CudaBuffer> a_, b_, d_, workspace_;
  void* handle_ = nullptr;
  Handles handles_;
};

}  // namespace

std::string find_cublas_lt(base::FileSystem& files, const SearchEnvironment& environment, std::string& tried) {
  std::string path;
  void* library = open_first(library_names(), library_folders(files, environment), files, path, tried);
  if (library == nullptr) return "";
  void* symbol = find_symbol(library, "cublasLtCreate");
  const std::string file = symbol == nullptr ? "" : file_of_symbol(symbol);
  return file.empty() ? path : file;
}

void measure_matrix_rates(const CeilingParts& parts, const CeilingOptions& options, model::Ceilings& result) {
  std::string path, tried;
  void* library = open_first(library_names(), library_folders(parts.files, SearchEnvironment::from_process()),
                             parts.files, path, tried);
  LtApi api;
  bool complete = library != nullptr;
  const auto resolve = [&](auto& function, const char* name) {
    if (library != nullptr) function = reinterpret_cast<std::decay_t<decltype(function)>>(find_symbol(library, name));
    complete = complete && function != nullptr;
  };
  resolve(api.create, "cublasLtCreate");
  resolve(api.destroy, "cublasLtDestroy");
  resolve(api.product_create, "cublasLtMatmulDescCreate");
  resolve(api.product_destroy, "cublasLtMatmulDescDestroy");
  resolve(api.product_set, "cublasLtMatmulDescSetAttribute");
  resolve(api.layout_create, "cublasLtMatrixLayoutCreate");
  resolve(api.layout_destroy, "cublasLtMatrixLayoutDestroy");
  resolve(api.preference_create, "cublasLtMatmulPreferenceCreate");
  resolve(api.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  resolve(api.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  resolve(api.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  resolve(api.product, "cublasLtMatmul");
  if (!complete) {
    result.notes.push_back(
        "matrix rates were not measured: cuBLASLt is missing (pip install nvidia-cublas, or the CUDA toolkit)");
    return;
  }
  MatrixRates rates(parts, api, options.quick);
  if (auto ready = rates.prepare(); !ready) {
    result.notes.push_back("matrix rates were not measured: " + ready.error().found);
    return;
  }
  struct Kind {
    const char* name;
    int type, compute;
  };
  for (const Kind& kind : {Kind{"matrix_bf16_flops_per_s", type_bf16, compute_fp32},
                           Kind{"matrix_fp16_flops_per_s", type_fp16, compute_fp32},
                           Kind{"matrix_tf32_flops_per_s", type_fp32, compute_fp32_by_tf32}}) {
    auto ceiling = rates.measure(kind.type, kind.compute);
    if (ceiling)
      result.by_name[kind.name] = *ceiling;
    else
      result.notes.push_back(fmt::format("{} could not be measured: {}", kind.name, ceiling.error().found));
  }
  result.notes.push_back(
      "matrix rates: 8192 x 8192 x 8192, random values, fp32 accumulation, the best of cuBLASLt's first 4 algorithms");
}

}  // namespace hone::device::cuda
