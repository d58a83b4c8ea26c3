/* kernelwright
{
  "problem": "linear_gelu_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per eight elements of a column of y",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 128)", 1], "block": [16, 16, 1],
     "args": ["x", "w", "b", "y", "M", "N", "K"]}
  ]
}
*/
// y[m, n] = gelu(sum_k x[m, k] * w[n, k] + b[n]) with the tanh form of gelu; x: [M, K], w: [N, K], b: [N], y: [M, N].
#include <cuda_bf16.h>

// gelu(v) = v / (1 + exp(-2 u)), u = sqrt(2 / pi) (v + 0.044715 v^3). Infinite exponentials give 0, as they should.
__device__ __forceinline__ float gelu(float v) {
  const float u = 0.7978845608f * (v + 0.044715f * v * v * v);
  return v / (1.0f + expf(-2.0f * u));
}

constexpr int kEach = 8;

extern "C" __global__ void gemm(const __nv_bfloat16* x, const __nv_bfloat16* w, const __nv_bfloat16* b,
                                __nv_bfloat16* y, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m0 = (blockIdx.y * blockDim.y + threadIdx.y) * kEach;
  if (m0 >= M || n >= N) return;
  float sums[kEach] = {};
  for (int k = 0; k < K; ++k) {
    const float right = __bfloat162float(w[(size_t)n * K + k]);
    for (int r = 0; r < kEach; ++r) sums[r] += __bfloat162float(x[(size_t)min(m0 + r, M - 1) * K + k]) * right;
  }
  for (int r = 0; r < kEach && m0 + r < M; ++r)
    y[(size_t)(m0 + r) * N + n] = __float2bfloat16(gelu(sums[r] + __bfloat162float(b[n])));
}
