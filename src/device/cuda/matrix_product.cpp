// Row-major products in the column-major terms of the library: c^T = b^T a^T, so that its first operand is b.
#include "device/cuda/matrix_product.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/product_bytes.hpp"

namespace hone::device::cuda {

namespace {

// NVIDIA's advice for Hopper; smaller GPUs need less.
constexpr std::size_t product_workspace_bytes = std::size_t{32} << 20;
// Products of more operations than this are worth timing the library's candidates for.
constexpr double worth_timing = 1e11;
constexpr int candidates = 4, timed_runs = 3;

// The largest power of two, up to 256, that divides an address.
std::uint32_t alignment_of(DevicePointer address) {
  const std::uint64_t lowest = address & (~address + 1);
  return static_cast<std::uint32_t>(lowest == 0 || lowest > 256 ? 256 : lowest);
}

std::string key_of(const MatrixProduct& p, const PreparedProduct& at) {
  return fmt::format("{} {} {} {} {} {} {}{} {} {} {} {} {} {}", p.m, p.n, p.k, p.a_stride, p.b_stride, p.c_stride,
                     p.a_transposed ? 't' : 'n', p.b_transposed ? 't' : 'n', static_cast<int>(p.input),
                     static_cast<int>(p.output), p.beta != 0, alignment_of(at.a), alignment_of(at.b),
                     alignment_of(at.c));
}

void* address(DevicePointer pointer) { return reinterpret_cast<void*>(pointer); }

}  // namespace

base::Result<void> check_product(const MatrixProduct& p) {
  HONE_TRY(bytes, product_bytes(p, "cuda"));
  HONE_PROPAGATE(resolve(p.a, bytes->a));
  HONE_PROPAGATE(resolve(p.b, bytes->b));
  HONE_PROPAGATE(resolve(p.c, bytes->c));
  return {};
}

ProductLibrary::~ProductLibrary() {
  plans_.clear();
  if (handle_ != nullptr) api_.destroy(handle_);
  if (workspace_ != 0) (void)session_.driver().memory_free(workspace_);
}

base::Error ProductLibrary::failed(const char* call, int status, const MatrixProduct& p) const {
  return {base::ErrorKind::preflight, fmt::format("a matrix product of {} x {} x {} through cuBLASLt", p.m, p.n, p.k),
          fmt::format("{} answered {}", call, status), session_.id(), "check that cuBLASLt fits the driver"};
}

base::Result<void> ProductLibrary::open() {
  if (handle_ == nullptr)
    if (const int status = api_.create(&handle_); status != 0) return failed("cublasLtCreate", status, {});
  if (workspace_ != 0) return {};
  return session_.check(session_.driver().memory_allocate(&workspace_, product_workspace_bytes),
                        fmt::format("{} bytes of GPU memory for matrix products", product_workspace_bytes),
                        "cuMemAlloc");
}

base::Result<PreparedProduct> ProductLibrary::prepare(const MatrixProduct& product) {
  HONE_PROPAGATE(check_product(product));
  PreparedProduct ready;
  ready.a = *resolve(product.a, 0);
  ready.b = *resolve(product.b, 0);
  ready.c = *resolve(product.c, 0);
  ready.beta = product.beta;
  ready.c_pitch_bytes = static_cast<std::size_t>(product.c_stride) * size_of(product.output);
  ready.c_row_bytes = static_cast<std::size_t>(product.n) * size_of(product.output);
  ready.c_rows = product.n == 0 ? 0 : static_cast<std::size_t>(product.m);
  if (product.m == 0 || product.n == 0 || product.k == 0) {
    if (product.beta != 0 && product.beta != 1) {
      return base::Error{base::ErrorKind::internal, "beta 0 or 1 where nothing is added up",
                         fmt::format("{}", product.beta), "cuda", ""};
    }
    return ready;
  }
  HONE_PROPAGATE(open());
  auto& plan = plans_[key_of(product, ready)];
  if (plan == nullptr) {
    HONE_TRY(made, make_plan(product, ready));
    plan = std::move(*made);
  }
  ready.plan = plan.get();
  return ready;
}

base::Result<std::unique_ptr<ProductPlan>> ProductLibrary::make_plan(const MatrixProduct& p,
                                                                     const PreparedProduct& addresses) {
  auto plan = std::make_unique<ProductPlan>();
  int status = api_.product_create(&plan->product, kLtComputeFp32, kLtFp32);
  if (status != 0) return failed("cublasLtMatmulDescCreate", status, p);
  plan->handles.keep(plan->product, api_.product_destroy);
  for (const auto& [attribute, transposed] :
       {std::pair{kLtTransposeA, p.b_transposed}, std::pair{kLtTransposeB, p.a_transposed}}) {
    if (!transposed) continue;
    status = api_.product_set(plan->product, attribute, &kLtTransposed, sizeof kLtTransposed);
    if (status != 0) return failed("cublasLtMatmulDescSetAttribute", status, p);
  }
  // A row-major matrix is a column-major one with its extents exchanged.
  const auto layout = [&](void*& made, DType type, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    if (status == 0)
      status = api_.layout_create(&made, lt_type(type), static_cast<std::uint64_t>(columns),
                                  static_cast<std::uint64_t>(rows), stride);
    if (status == 0) plan->handles.keep(made, api_.layout_destroy);
  };
  layout(plan->a, p.input, p.a_transposed ? p.k : p.m, p.a_transposed ? p.m : p.k, p.a_stride);
  layout(plan->b, p.input, p.b_transposed ? p.n : p.k, p.b_transposed ? p.k : p.n, p.b_stride);
  layout(plan->c, p.output, p.m, p.n, p.c_stride);
  if (status != 0) return failed("cublasLtMatrixLayoutCreate", status, p);

  LtHandles preferences;
  void* preference = nullptr;
  status = api_.preference_create(&preference);
  if (status != 0) return failed("cublasLtMatmulPreferenceCreate", status, p);
  preferences.keep(preference, api_.preference_destroy);
  status = api_.preference_set(preference, kLtWorkspaceBytes, &product_workspace_bytes, sizeof product_workspace_bytes);
  for (const auto& [attribute, pointer] :
       {std::pair{kLtAlignmentA, addresses.b}, std::pair{kLtAlignmentB, addresses.a},
        std::pair{kLtAlignmentC, addresses.c}, std::pair{kLtAlignmentD, addresses.c}}) {
    const std::uint32_t alignment = alignment_of(pointer);
    if (status == 0) status = api_.preference_set(preference, attribute, &alignment, sizeof alignment);
  }
  if (status != 0) return failed("cublasLtMatmulPreferenceSetAttribute", status, p);

  std::vector<LtHeuristicResult> found(candidates);
  int count = 0;
  status = api_.heuristic(handle_, plan->product, plan->b, plan->a, plan->c, plan->c, preference, candidates,
                          found.data(), &count);
  if (status != 0 || count == 0) return failed("cublasLtMatmulAlgoGetHeuristic", status, p);
  found.resize(static_cast<std::size_t>(count));
  std::erase_if(found, [](const LtHeuristicResult& each) { return each.state != 0; });
  if (found.empty()) return failed("cublasLtMatmulAlgoGetHeuristic", 0, p);
  HONE_PROPAGATE(choose(p, addresses, *plan, found));
  return plan;
}

base::Result<void> ProductLibrary::choose(const MatrixProduct& p, const PreparedProduct& addresses, ProductPlan& plan,
                                          const std::vector<LtHeuristicResult>& found) {
  const DriverApi& driver = session_.driver();
  const std::size_t bytes = matrix_bytes(p.m, p.n, p.c_stride, p.output) + 256;
  HONE_TRY(memory, CudaBuffer::make(session_.shared_from_this(), bytes));
  PreparedProduct operands = addresses;
  // As far from a multiple of 256 bytes as the real result.
  operands.c = (*memory)->pointer() + (addresses.c - (*memory)->pointer()) % 256;
  if (auto cleared = session_.check(driver.fill_bytes((*memory)->pointer(), 0, bytes, session_.stream()),
                                    "memory for a first run of a matrix product", "cuMemsetD8Async");
      !cleared)
    return cleared;
  plan.algorithm = found.front();
  const bool timed =
      2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) > worth_timing;
  Event start = nullptr, end = nullptr;
  if (timed) {
    if (auto made = session_.check(driver.event_create(&start, 0), "an event", "cuEventCreate"); !made) return made;
    if (auto made = session_.check(driver.event_create(&end, 0), "an event", "cuEventCreate"); !made) return made;
  }
  base::Result<void> result;
  float best_ms = 0;
  for (const LtHeuristicResult& algorithm : found) {
    if (result) result = run(plan, algorithm, operands);
    if (!timed) break;
    float least_ms = 0;
    for (int i = 0; result && i < timed_runs; ++i) {
      float ms = 0;
      result = session_.check(driver.event_record(start, session_.stream()), "a start", "cuEventRecord");
      if (result) result = run(plan, algorithm, operands);
      if (result) result = session_.check(driver.event_record(end, session_.stream()), "an end", "cuEventRecord");
      if (result) result = session_.synchronize("a first run of a matrix product");
      if (result) result = session_.check(driver.event_elapsed(&ms, start, end), "a time", "cuEventElapsedTime");
      least_ms = i == 0 ? ms : std::min(least_ms, ms);
    }
    if (!result) break;
    if (best_ms == 0 || least_ms < best_ms) {
      best_ms = least_ms;
      plan.algorithm = algorithm;
    }
  }
  if (start != nullptr) (void)driver.event_destroy(start);
  if (end != nullptr) (void)driver.event_destroy(end);
  if (!result) return result;
  return session_.synchronize("a first run of a matrix product");
}

base::Result<void> ProductLibrary::run(const ProductPlan& plan, const LtHeuristicResult& algorithm,
                                       const PreparedProduct& operands) {
  const float one = 1;
  const int status = api_.product(handle_, plan.product, &one, address(operands.b), plan.b, address(operands.a), plan.a,
                                  &operands.beta, address(operands.c), plan.c, address(operands.c), plan.c,
                                  algorithm.algorithm, address(workspace_), product_workspace_bytes, session_.stream());
  if (status == 0) return {};
  return base::Error{base::ErrorKind::gate, "a matrix product through cuBLASLt to start",
                     fmt::format("cublasLtMatmul answered {}", status), session_.id(),
                     "check that cuBLASLt fits the driver"};
}

base::Result<void> ProductLibrary::enqueue(const PreparedProduct& product) {
  if (product.plan != nullptr) return run(*product.plan, product.plan->algorithm, product);
  if (product.beta != 0) return {};
  for (std::size_t row = 0; row < product.c_rows; ++row) {
    const bool dense = product.c_pitch_bytes == product.c_row_bytes;
    const std::size_t bytes = dense ? product.c_row_bytes * product.c_rows : product.c_row_bytes;
    const Status status =
        session_.driver().fill_bytes(product.c + row * product.c_pitch_bytes, 0, bytes, session_.stream());
    if (auto filled = session_.check(status, "a sum of nothing", "cuMemsetD8Async"); !filled) return filled;
    if (dense) break;
  }
  return {};
}

}  // namespace hone::device::cuda
