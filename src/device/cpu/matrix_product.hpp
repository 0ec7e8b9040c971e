// Matrix products on the CPU: OpenBLAS, opened at run time, called with one thread by each worker for its part of the result,
// so that the pool's cores and clock are the ones that count. 16-bit operands are widened tile by tile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "device/device.hpp"

namespace hone::device::cpu {

using PreparedProduct = kernels::BasicMatrixProduct<std::byte*>;

// Addresses resolved and the library opened; an error names what is missing or which operand leaves its buffer. Call it before
// a fork: the library must not be opened in a child of a process with threads.
base::Result<PreparedProduct> prepare_product(const MatrixProduct& product);

// The part of the result that is this worker's. All workers together write every element once, in the same order of additions
// whenever m, n, k and workers are the same.
void run_product_share(const PreparedProduct& product, int worker, int workers);

}  // namespace hone::device::cpu
