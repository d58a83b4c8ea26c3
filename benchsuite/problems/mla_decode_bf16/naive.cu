/* kernelwright
{
  "problem": "mla_decode_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a block per head, online softmax over tiles of 128 keys, weights rounded to bf16",
  "launches": [
    {"kernel": "decode", "grid": ["B * H", 1, 1], "block": [128, 1, 1],
     "args": ["q", "cache", "table", "lengths", "o", "scale", "H", "M"]}
  ]
}
*/
// o = sum_{j < length} p[j] c[j], p = softmax_{j < length}(scale * (q . c[j])), for each of H heads of B sequences;
// c[j] is position j % 64 of page table[j / 64], its first 512 elements are the value. Thread t makes the score of key
// t of a tile, then four columns of o. Of each tile, the weights exp(score - largest so far) are summed in fp32 and
// rounded to bf16 for the product with c.
#include <cuda_bf16.h>

constexpr int D = 576, kColumns = 512, kKeys = 128;

extern "C" __global__ void decode(const __nv_bfloat16* q, const __nv_bfloat16* cache, const int* table,
                                  const int* lengths, __nv_bfloat16* o, float scale, int H, int M) {
  __shared__ float scores[kKeys];
  const int head = blockIdx.x, t = threadIdx.x, length = lengths[head / H];
  const __nv_bfloat16* query = q + (size_t)head * D;
  const int* pages = table + (size_t)(head / H) * M;
  float largest = -INFINITY, total = 0, sums[4] = {};
  for (int j0 = 0; j0 < length; j0 += kKeys) {
    float score = -INFINITY;
    if (j0 + t < length) {
      const __nv_bfloat16* key = cache + ((size_t)pages[(j0 + t) / 64] * 64 + (j0 + t) % 64) * D;
      score = 0;
      for (int d = 0; d < D; ++d) score += __bfloat162float(query[d]) * __bfloat162float(key[d]);
      score *= scale;
    }
    scores[t] = score;
    __syncthreads();
    const int count = length - j0 < kKeys ? length - j0 : kKeys;
    float most = largest;
    for (int j = 0; j < count; ++j) most = scores[j] > most ? scores[j] : most;
    const float keep = expf(largest - most);
    largest = most;
    __syncthreads();
    scores[t] = expf(score - most);
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      const float kept = j == 0 ? keep : 1;  // of the sums so far
      const __nv_bfloat16* value = cache + ((size_t)pages[(j0 + j) / 64] * 64 + (j0 + j) % 64) * D;
      const float weight = __bfloat162float(__float2bfloat16(scores[j]));
      total = total * kept + scores[j];
      for (int c = 0; c < 4; ++c) sums[c] = sums[c] * kept + weight * __bfloat162float(value[128 * c + t]);
    }
    __syncthreads();
  }
  for (int c = 0; c < 4; ++c) o[(size_t)head * kColumns + 128 * c + t] = __float2bfloat16(sums[c] / total);
}
