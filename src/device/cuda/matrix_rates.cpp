// The rate of dense matrix products through cuBLASLt, opened at run time: 8192 x 8192 x 8192, both operands with their inner
// extent consecutive, random values (zeros run faster), fp32 accumulation. Types and values as in the cuBLASLt reference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/cuda/ceiling_programs.hpp"
#include "device/cuda/ceilings.hpp"
#include "device/cuda/cublas_lt.hpp"

namespace hone::device::cuda {

namespace {

constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

class MatrixRates {
 public:
  MatrixRates(const CeilingParts& parts, const LtApi& api, bool quick)
      : parts_(parts), api_(api), samples_(quick ? 9 : 25) {}

  base::Result<void> prepare() {
    HONE_TRY(compiled,
             parts_.compiler.compile({"ceiling programs", {{"ceilings.cu", ceiling_program_text}}, "ceilings.cu", {}},
                                     parts_.capability));
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
    HONE_PROPAGATE(fill(type));
    LtHandles handles;
    void *product = nullptr, *layout = nullptr, *preference = nullptr;
    if (api_.product_create(&product, compute, kLtFp32) != 0) return failed("cublasLtMatmulDescCreate");
    handles.keep(product, api_.product_destroy);
    const std::int32_t transposed = kLtTransposed;
    if (api_.product_set(product, kLtTransposeA, &transposed, sizeof transposed) != 0)
      return failed("cublasLtMatmulDescSetAttribute");
    if (api_.layout_create(&layout, type, extent, extent, static_cast<std::int64_t>(extent)) != 0)
      return failed("cublasLtMatrixLayoutCreate");
    handles.keep(layout, api_.layout_destroy);
    if (api_.preference_create(&preference) != 0) return failed("cublasLtMatmulPreferenceCreate");
    handles.keep(preference, api_.preference_destroy);
    if (api_.preference_set(preference, kLtWorkspaceBytes, &workspace_bytes, sizeof workspace_bytes) != 0)
      return failed("cublasLtMatmulPreferenceSetAttribute");
    LtHeuristicResult found[4] = {};
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
      HONE_PROPAGATE(work());
      HONE_PROPAGATE(parts_.session->synchronize("a matrix product"));
      std::vector<double> rates;
      for (int sample = 0; sample < samples_ + 2; ++sample) {
        HONE_TRY(taken, parts_.stopwatch.time_work(work, "a matrix product", false));
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
                       std::int32_t{type == kLtFp32   ? 2
                                    : type == kLtFp16 ? 1
                                                      : 0}};
      HONE_TRY(prepared, hone::device::cuda::prepare(*parts_.session, {one}));
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
  LtHandles handles_;
};

}  // namespace

void measure_matrix_rates(const CeilingParts& parts, const CeilingOptions& options, model::Ceilings& result) {
  auto api = open_cublas_lt(parts.files, SearchEnvironment::from_process());
  if (!api) {
    result.notes.push_back(
        "matrix rates were not measured: cuBLASLt is missing (pip install nvidia-cublas, or the CUDA toolkit)");
    return;
  }
  MatrixRates rates(parts, *api, options.quick);
  if (auto ready = rates.prepare(); !ready) {
    result.notes.push_back("matrix rates were not measured: " + ready.error().found);
    return;
  }
  struct Kind {
    const char* name;
    int type, compute;
  };
  for (const Kind& kind : {Kind{"matrix_bf16_flops_per_s", kLtBf16, kLtComputeFp32},
                           Kind{"matrix_fp16_flops_per_s", kLtFp16, kLtComputeFp32},
                           Kind{"matrix_tf32_flops_per_s", kLtFp32, kLtComputeTf32}}) {
    if (options.stopped()) return;
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
