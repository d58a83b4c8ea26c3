/* kernelwright
{
  "problem": "linear_swiglu_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per eight elements of a column of y",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 128)", 1], "block": [16, 16, 1],
     "args": ["x", "w_gate", "w_up", "y", "M", "N", "K"]}
  ]
}
*/
// y[m, n] = g / (1 + exp(-g)) * u, g = sum_k x[m, k] * w_gate[n, k], u = sum_k x[m, k] * w_up[n, k]; x: [M, K], w_gate,
// w_up: [N, K], y: [M, N].
#include <cuda_bf16.h>

constexpr int kEach = 8;

extern "C" __global__ void gemm(const __nv_bfloat16* x, const __nv_bfloat16* w_gate, const __nv_bfloat16* w_up,
                                __nv_bfloat16* y, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m0 = (blockIdx.y * blockDim.y + threadIdx.y) * kEach;
  if (m0 >= M || n >= N) return;
  float gates[kEach] = {}, ups[kEach] = {};
  for (int k = 0; k < K; ++k) {
    const float gate = __bfloat162float(w_gate[(size_t)n * K + k]), up = __bfloat162float(w_up[(size_t)n * K + k]);
    for (int r = 0; r < kEach; ++r) {
      const float left = __bfloat162float(x[(size_t)min(m0 + r, M - 1) * K + k]);
      gates[r] += left * gate;
      ups[r] += left * up;
    }
  }
  for (int r = 0; r < kEach && m0 + r < M; ++r) {
    // Where exp is infinite, silu is 0, as it should be.
    y[(size_t)(m0 + r) * N + n] = __float2bfloat16(gates[r] / (1.0f + expf(-gates[r])) * ups[r]);
  }
}
