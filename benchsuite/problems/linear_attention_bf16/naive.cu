/* kernelwright
{
  "problem": "linear_attention_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per column of the state, chunks of 32 positions, scores and state rounded for products",
  "launches": [
    {"kernel": "linear_attention", "grid": ["B * H", 1, 1], "block": [128, 1, 1], "args": ["q", "k", "v", "o", "S"]}
  ]
}
*/
// o[t] = sum_{s <= t} (q[t] . k[s]) v[s]; q, k, v, o: [B * H, S, 128].
// Of each chunk of positions, o[t] = q[t] M + sum_{chunk's s <= t} (q[t] . k[s]) v[s], then M += sum_s k[s] v[s]^T. The
// thread owns column e of M and of o. Scores and M are rounded to bf16, as operands of tensor cores are; M is carried
// on in fp32.
#include <cuda_bf16.h>

constexpr int kChunk = 32, D = 128;

__device__ float rounded(float x) { return __bfloat162float(__float2bfloat16(x)); }

extern "C" __global__ void linear_attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                                            __nv_bfloat16* o, int S) {
  __shared__ __nv_bfloat16 queries[kChunk][D], keys[kChunk][D];
  __shared__ float scores[kChunk][kChunk + 1];
  const size_t head = (size_t)blockIdx.x * S * D;
  const int e = threadIdx.x;
  float state[D];
  for (int d = 0; d < D; ++d) state[d] = 0;
  for (int t0 = 0; t0 < S; t0 += kChunk) {
    const int held = S - t0 < kChunk ? S - t0 : kChunk;
    float values[kChunk], sums[kChunk];
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kChunk; ++t) {
      const size_t at = head + (size_t)(t0 + (t < held ? t : 0)) * D + e;
      queries[t][e] = q[at];
      keys[t][e] = k[at];
      values[t] = t < held ? __bfloat162float(v[at]) : 0;
      sums[t] = 0;
    }
    __syncthreads();
    for (int i = e; i < kChunk * kChunk; i += D) {
      const int t = i / kChunk, s = i % kChunk;
      float score = 0;
      for (int d = 0; d < D; ++d) score += __bfloat162float(queries[t][d]) * __bfloat162float(keys[s][d]);
      scores[t][s] = s <= t ? rounded(score) : 0;
    }
    __syncthreads();
    for (int d = 0; d < D; ++d) {
      const float before = rounded(state[d]);
      float part = 0;
#pragma unroll
      for (int t = 0; t < kChunk; ++t) {
        sums[t] += __bfloat162float(queries[t][d]) * before;
        part += __bfloat162float(keys[t][d]) * values[t];
      }
      state[d] += part;
    }
#pragma unroll
    for (int t = 0; t < kChunk; ++t) {
#pragma unroll
      for (int s = 0; s < kChunk; ++s) sums[t] += scores[t][s] * values[s];
      if (t < held) o[head + (size_t)(t0 + t) * D + e] = __float2bfloat16(sums[t]);
    }
  }
}
