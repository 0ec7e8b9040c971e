C*/ /*
*/ template <int N> __global__ void __launch_bounds__(256, 2) __cluster_dims__(2, 1, 1) k(const float* __restrict__ x, float4* y, int n) {
  __shared__ float s[32][33]; extern __shared__ int dyn[];
  #pragma unroll 4
  for (int i = threadIdx.x; i < n; i += blockDim.x) { s[i][0] = __ldg(x + i); }
  __syncthreads(); atomicAdd(&y[0].x, 1.f);
}
void h() { k<4><<<grid, dim3(256), 0, stream>>>(x, y, n); auto f = [=] __device__ (int i) { return i; }; }
