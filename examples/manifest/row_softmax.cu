// y = softmax(scale * x) over each row: one block for a row. THREADS, KEEP, VECTOR, SCALAR and BF16 are macros that the manifest
// sets.
#if BF16
#include <cuda_bf16.h>
__device__ inline float as_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ inline void store(__nv_bfloat16& to, float value) { to = __float2bfloat16(value); }
#else
__device__ inline float as_float(float value) { return value; }
__device__ inline void store(float& to, float value) { to = value; }
#endif

struct alignas(sizeof(SCALAR) * VECTOR) Pack {
  SCALAR at[VECTOR];
};

struct Largest {
  __device__ static float identity() { return __int_as_float(0xff800000); }  // minus infinity
  __device__ static float join(float a, float b) { return fmaxf(a, b); }
};
struct Sum {
  __device__ static float identity() { return 0; }
  __device__ static float join(float a, float b) { return a + b; }
};

// Over the block; every thread gets the result.
template <class Operation>
__device__ float reduce(float value) {
  __shared__ float partial[32];
  for (int lane = 16; lane > 0; lane /= 2) value = Operation::join(value, __shfl_xor_sync(0xffffffffu, value, lane));
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < THREADS / 32 ? partial[threadIdx.x % 32] : Operation::identity();
  for (int lane = 16; lane > 0; lane /= 2) value = Operation::join(value, __shfl_xor_sync(0xffffffffu, value, lane));
  return value;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    row_softmax(const SCALAR* __restrict__ x, SCALAR* __restrict__ y, int columns, float scale) {
  extern __shared__ float kept[];
  const auto* row = reinterpret_cast<const Pack*>(x + static_cast<long long>(blockIdx.x) * columns);
  auto* out = reinterpret_cast<Pack*>(y + static_cast<long long>(blockIdx.x) * columns);
  const int packs = columns / VECTOR;

  float largest = Largest::identity();
  for (int i = threadIdx.x; i < packs; i += THREADS) {
    const Pack pack = row[i];
#pragma unroll
    for (int k = 0; k < VECTOR; ++k) {
      const float value = scale * as_float(pack.at[k]);
      if (KEEP) kept[i * VECTOR + k] = value;
      largest = fmaxf(largest, value);
    }
  }
  largest = reduce<Largest>(largest);

  float sum = 0;
  for (int i = threadIdx.x; i < packs; i += THREADS) {
    const Pack pack = KEEP ? Pack() : row[i];
#pragma unroll
    for (int k = 0; k < VECTOR; ++k) {
      const float value = expf((KEEP ? kept[i * VECTOR + k] : scale * as_float(pack.at[k])) - largest);
      if (KEEP) kept[i * VECTOR + k] = value;
      sum += value;
    }
  }
  const float over = 1 / reduce<Sum>(sum);

  for (int i = threadIdx.x; i < packs; i += THREADS) {
    const Pack pack = KEEP ? Pack() : row[i];
    Pack result;
#pragma unroll
    for (int k = 0; k < VECTOR; ++k)
      store(result.at[k], over * (KEEP ? kept[i * VECTOR + k] : expf(scale * as_float(pack.at[k]) - largest)));
    out[i] = result;
  }
}
