/* kernelwright
{
  "problem": "linear_attention_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per column of the state, position by position",
  "launches": [
    {"kernel": "linear_attention", "grid": ["2 * B * H", 1, 1], "block": [64, 1, 1], "args": ["q", "k", "v", "o", "S"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype.
// o[t] = q[t] M[t], M[t] = sum_{s <= t} k[s] v[s]^T; q, k, v, o: [B * H, S, 128]. The thread owns
// column e of M and of o.
#include <cuda_bf16.h>

constexpr int D = 128;

extern "C" __global__ void linear_attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                                            double* o, int S) {
  const size_t head = (size_t)(blockIdx.x / 2) * S * D;
  const int e = blockIdx.x % 2 * blockDim.x + threadIdx.x;
  double state[D];
  for (int d = 0; d < D; ++d) state[d] = 0;
  for (int t = 0; t < S; ++t) {
    const size_t at = head + (size_t)t * D;
    const double value = (double)__bfloat162float(v[at + e]);
    double sum = 0;
    for (int d = 0; d < D; ++d) {
      state[d] += (double)__bfloat162float(k[at + d]) * value;
      sum += (double)__bfloat162float(q[at + d]) * state[d];
    }
    o[at + e] = sum;
  }
}
