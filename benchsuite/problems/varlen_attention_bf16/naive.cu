/* kernelwright
{
  "problem": "varlen_attention_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row of o, online softmax over tiles of 16 keys, weights rounded to bf16",
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(T, 64)", "H", 1], "block": [64, 1, 1],
     "args": ["q", "k", "v", "offsets", "o", "T", "H"]}
  ]
}
*/
// o[i] = sum_{begin <= j <= i} p[j] v[j], p = softmax_{begin <= j <= i}(q[i] . k[j] / sqrt(128)) for each head, where
// begin is the last of the offsets up to i; q, k, v, o: [T, H, 128], offsets: [S + 1].
// A block has 64 tokens, of one or of several sequences, and walks over the keys from the first token's begin on. Of
// each tile of keys, the weights exp(score - largest so far) are summed in fp32 and rounded to bf16 for the product
// with v, as FlashAttention does.
#include <cuda_bf16.h>

constexpr int kKeys = 16, D = 128;

__device__ int begin_of(const int* offsets, int token) {
  int s = 0;
  while (offsets[s + 1] <= token) ++s;
  return offsets[s];
}

extern "C" __global__ void attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                                     const int* offsets, __nv_bfloat16* o, int T, int H) {
  __shared__ float keys[kKeys][D], values[kKeys][D];
  const int first = blockIdx.x * blockDim.x, last = first + (int)blockDim.x < T ? first + (int)blockDim.x : T;
  const int i = first + threadIdx.x, row = i < T ? i : T - 1;
  const int start = begin_of(offsets, first), begin = begin_of(offsets, row);
  const size_t head = (size_t)blockIdx.y * D, stride = (size_t)H * D;
  __nv_bfloat16 query[D];
  float sums[D];
#pragma unroll
  for (int d = 0; d < D; ++d) {
    query[d] = q[head + row * stride + d];
    sums[d] = 0;
  }
  float largest = -INFINITY, total = 0;
  for (int j0 = start; j0 < last; j0 += kKeys) {
    __syncthreads();
    for (int e = threadIdx.x; e < kKeys * D; e += blockDim.x) {
      const int j = j0 + e / D;
      keys[e / D][e % D] = j < last ? __bfloat162float(k[head + j * stride + e % D]) : 0;
      values[e / D][e % D] = j < last ? __bfloat162float(v[head + j * stride + e % D]) : 0;
    }
    __syncthreads();
    if (j0 + kKeys <= begin || j0 > row) continue;  // no key of this row
    float scores[kKeys], most = largest;
    for (int j = 0; j < kKeys; ++j) {
      float score = 0;
#pragma unroll
      for (int d = 0; d < D; ++d) score += __bfloat162float(query[d]) * keys[j][d];
      scores[j] = begin <= j0 + j && j0 + j <= row ? score * 0.08838834764831845f : -INFINITY;
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
  if (i >= T) return;
#pragma unroll
  for (int d = 0; d < D; ++d) o[head + i * stride + d] = __float2bfloat16(sums[d] / total);
}
