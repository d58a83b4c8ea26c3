/* kernelwright
{
  "problem": "attention_f16",
  "backends": ["cpu", "cuda"],
  "description": "one thread per row of o, online softmax over tiles of 16 keys, weights rounded to fp16",
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(S, 64)", "B * H", 1], "block": [64, 1, 1],
     "args": ["q", "k", "v", "o", "S", "D"]}
  ]
}
*/
// o[i] = sum_{j <= i} p[j] v[j], p = softmax_{j <= i}(q[i] . k[j] / sqrt(D)); q, k, v, o: [B * H, S, D]; D: 64 or 128.
// Of each tile of keys, the weights exp(score - largest so far) are summed in fp32 and rounded to fp16 for the
// product with v, as FlashAttention does.
#include <cuda_fp16.h>

constexpr int kKeys = 16;

template <int D>
__device__ void rows_of(const __half* q, const __half* k, const __half* v, __half* o, int S) {
  __shared__ float keys[kKeys][D], values[kKeys][D];
  const int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
  const int row = i < S ? i : S - 1, last = first + (int)blockDim.x < S ? first + (int)blockDim.x : S;
  __half query[D];
  float sums[D];
#pragma unroll
  for (int d = 0; d < D; ++d) {
    query[d] = q[(size_t)row * D + d];
    sums[d] = 0;
  }
  float largest = -INFINITY, total = 0;
  const float scale = 1 / sqrtf((float)D);
  for (int j0 = 0; j0 < last; j0 += kKeys) {
    __syncthreads();
    for (int e = threadIdx.x; e < kKeys * D; e += blockDim.x) {
      const int j = j0 + e / D;
      keys[e / D][e % D] = j < S ? __half2float(k[(size_t)j * D + e % D]) : 0;
      values[e / D][e % D] = j < S ? __half2float(v[(size_t)j * D + e % D]) : 0;
    }
    __syncthreads();
    float scores[kKeys], most = largest;
    for (int j = 0; j < kKeys; ++j) {
      float score = 0;
#pragma unroll
      for (int d = 0; d < D; ++d) score += __half2float(query[d]) * keys[j][d];
      scores[j] = j0 + j <= row ? score * scale : -INFINITY;
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
      const float weight = __half2float(__float2half(p));  // as the operand of a tensor core
#pragma unroll
      for (int d = 0; d < D; ++d) sums[d] += weight * values[j][d];
    }
  }
  if (i >= S) return;
#pragma unroll
  for (int d = 0; d < D; ++d) o[(size_t)i * D + d] = __float2half(sums[d] / total);
}

extern "C" __global__ void attention(const __half* q, const __half* k, const __half* v, __half* o, int S, int D) {
  const size_t head = (size_t)blockIdx.y * S * D;
  if (D == 64) {
    rows_of<64>(q + head, k + head, v + head, o + head, S);
  } else {
    rows_of<128>(q + head, k + head, v + head, o + head, S);
  }
}
