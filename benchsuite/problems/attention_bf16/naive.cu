/* kernelwright
{
  "problem": "attention_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row of o, online softmax over tiles of 16 keys, weights rounded to bf16",
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(S, 64)", "B * H", 1], "block": [64, 1, 1],
     "args": ["q", "k", "v", "o", "S"]}
  ]
}
*/
// o[i] = sum_j p[j] v[j], p = softmax_j(q[i] . k[j] / 8); q, k, v, o: [B * H, S, 64].
// Of each tile of keys, the weights exp(score - largest so far) are summed in fp32 and rounded to bf16 for the
// product with v, as FlashAttention does.
#include <cuda_bf16.h>

constexpr int kKeys = 16, D = 64;

extern "C" __global__ void attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                                     __nv_bfloat16* o, int S) {
  __shared__ float keys[kKeys][D], values[kKeys][D];
  const size_t head = (size_t)blockIdx.y * S * D;
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i < S ? i : S - 1;
  __nv_bfloat16 query[D];
  float sums[D];
#pragma unroll
  for (int d = 0; d < D; ++d) {
    query[d] = q[head + (size_t)row * D + d];
    sums[d] = 0;
  }
  float largest = -INFINITY, total = 0;
  for (int j0 = 0; j0 < S; j0 += kKeys) {
    __syncthreads();
    for (int e = threadIdx.x; e < kKeys * D; e += blockDim.x) {
      const int j = j0 + e / D;
      keys[e / D][e % D] = j < S ? __bfloat162float(k[head + (size_t)j * D + e % D]) : 0;
      values[e / D][e % D] = j < S ? __bfloat162float(v[head + (size_t)j * D + e % D]) : 0;
    }
    __syncthreads();
    float scores[kKeys], most = largest;
    for (int j = 0; j < kKeys; ++j) {
      float score = 0;
#pragma unroll
      for (int d = 0; d < D; ++d) score += __bfloat162float(query[d]) * keys[j][d];
      scores[j] = j0 + j < S ? score * 0.125f : -INFINITY;
      most = scores[j] > most ? scores[j] : most;
    }
    const float keep = expf(largest - most);
    largest = most;
    total *= keep;
#pragma unroll
    for (int d = 0; d < D; ++d) sums[d] *= keep;
    for (int j = 0; j < kKeys; ++j) {
      const float p = expf(scores[j] - most);
      total += p;
      const float weight = __bfloat162float(__float2bfloat16(p));  // as the operand of a tensor core
#pragma unroll
      for (int d = 0; d < D; ++d) sums[d] += weight * values[j][d];
    }
  }
  if (i >= S) return;
#pragma unroll
  for (int d = 0; d < D; ++d) o[head + (size_t)i * D + d] = __float2bfloat16(sums[d] / total);
}
