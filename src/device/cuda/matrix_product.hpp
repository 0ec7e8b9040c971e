// Matrix products on the GPU through cuBLASLt, as launches: the algorithm of each shape is chosen once, its code loaded before the
// product is first queued.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "device/cuda/cublas_lt.hpp"
#include "device/cuda/session.hpp"
#include "device/device.hpp"

namespace hone::device::cuda {

// One shape's description and algorithm.
struct ProductPlan {
  LtHandles handles;
  void *product = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
  LtHeuristicResult algorithm = {};
};

// A product ready to be queued.
struct PreparedProduct {
  const ProductPlan* plan = nullptr;  // null: nothing is added up, c is beta c
  DevicePointer a = 0, b = 0, c = 0;
  float beta = 0;
  std::size_t c_pitch_bytes = 0, c_row_bytes = 0, c_rows = 0;
};

// What is wrong with a product whatever the library says: sizes, strides, operands that leave their buffers.
base::Result<void> check_product(const MatrixProduct& product);

// Of one session, which owns it. Not for several threads at a time.
class ProductLibrary {
 public:
  // The library's handle and workspace are made at the first product.
  ProductLibrary(GpuSession& session, const LtApi& api) : session_(session), api_(api) {}
  ProductLibrary(const ProductLibrary&) = delete;
  ProductLibrary& operator=(const ProductLibrary&) = delete;
  ~ProductLibrary();

  // Chooses the algorithm where the shape is new, and runs it once into memory of its own, so that its code is loaded: loading
  // waits for the stream, which may be held when the product is queued. Of a large product the quickest of the library's
  // first algorithms is taken.
  base::Result<PreparedProduct> prepare(const MatrixProduct& product);
  // Hands the product to the session's stream.
  base::Result<void> enqueue(const PreparedProduct& product);

 private:
  base::Result<void> open();
  base::Result<std::unique_ptr<ProductPlan>> make_plan(const MatrixProduct& product, const PreparedProduct& addresses);
  base::Result<void> choose(const MatrixProduct& product, const PreparedProduct& addresses, ProductPlan& plan,
                            const std::vector<LtHeuristicResult>& found);
  base::Result<void> run(const ProductPlan& plan, const LtHeuristicResult& algorithm, const PreparedProduct& operands);
  base::Error failed(const char* call, int status, const MatrixProduct& product) const;

  GpuSession& session_;
  const LtApi api_;
  void* handle_ = nullptr;
  DevicePointer workspace_ = 0;
  std::map<std::string, std::unique_ptr<ProductPlan>> plans_;  // by shape, types and alignment
};

}  // namespace hone::device::cuda
