/* kernelwright
{
  "problem": "mla_decode_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block per head, online softmax over tiles of 128 keys",
  "launches": [
    {"kernel": "decode", "grid": ["B * H", 1, 1], "block": [128, 1, 1],
     "args": ["q", "cache", "table", "lengths", "o", "scale", "H", "M"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype.
// o = sum_{j < length} p[j] c[j], p = softmax_{j < length}(scale * (q . c[j])), for each of H heads of B sequences;
// c[j] is position j % 64 of page table[j / 64], its first 512 elements are the value. Thread t makes the score of key
// t of a tile, then four columns of o.
#include <cuda_bf16.h>

constexpr int D = 576, kColumns = 512, kKeys = 128;

extern "C" __global__ void decode(const __nv_bfloat16* q, const __nv_bfloat16* cache, const int* table,
                                  const int* lengths, double* o, float scale, int H, int M) {
  __shared__ double scores[kKeys];
  const int head = blockIdx.x, t = threadIdx.x, length = lengths[head / H];
  const __nv_bfloat16* query = q + (size_t)head * D;
  const int* pages = table + (size_t)(head / H) * M;
  double largest = -INFINITY, total = 0, sums[4] = {};
  for (int j0 = 0; j0 < length; j0 += kKeys) {
    double score = -INFINITY;
    if (j0 + t < length) {
      const __nv_bfloat16* key = cache + ((size_t)pages[(j0 + t) / 64] * 64 + (j0 + t) % 64) * D;
      score = 0;
      for (int d = 0; d < D; ++d) score += (double)__bfloat162float(query[d]) * (double)__bfloat162float(key[d]);
      score *= (double)scale;
    }
    scores[t] = score;
    __syncthreads();
    const int count = length - j0 < kKeys ? length - j0 : kKeys;
    double most = largest;
    for (int j = 0; j < count; ++j) most = scores[j] > most ? scores[j] : most;
    const double keep = exp(largest - most);
    largest = most;
    __syncthreads();
    scores[t] = exp(score - most);
    __syncthreads();
    total *= keep;
    for (int c = 0; c < 4; ++c) sums[c] *= keep;
    for (int j = 0; j < count; ++j) {
      const __nv_bfloat16* value = cache + ((size_t)pages[(j0 + j) / 64] * 64 + (j0 + j) % 64) * D;
      total += scores[j];
      for (int c = 0; c < 4; ++c) sums[c] += scores[j] * (double)__bfloat162float(value[128 * c + t]);
    }
    __syncthreads();
  }
  for (int c = 0; c < 4; ++c) o[(size_t)head * kColumns + 128 * c + t] = sums[c] / total;
}
