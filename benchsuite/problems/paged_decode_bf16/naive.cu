/* kernelwright
{
  "problem": "paged_decode_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a block per head, online softmax over tiles of 128 keys, weights rounded to bf16",
  "launches": [
    {"kernel": "decode", "grid": ["B * HK * G", 1, 1], "block": [128, 1, 1],
     "args": ["q", "k", "v", "table", "lengths", "o", "HK", "G", "M", "T"]}
  ]
}
*/
// o = sum_{j < length} p[j] v[j], p = softmax_{j < length}(q . k[j] / sqrt(128)), for each of HK * G heads of B
// sequences; position j is the one at j % T of page table[j / T]. Thread t makes the score of key t of a tile, then
// column t of o. Of each tile, the weights exp(score - largest so far) are summed in fp32 and rounded to bf16 for the
// product with v.
#include <cuda_bf16.h>

constexpr int D = 128;

extern "C" __global__ void decode(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                                  const int* table, const int* lengths, __nv_bfloat16* o, int HK, int G, int M, int T) {
  __shared__ float scores[D];
  const int head = blockIdx.x, t = threadIdx.x, length = lengths[head / (HK * G)];
  const __nv_bfloat16* query = q + (size_t)head * D;
  const __nv_bfloat16* keys = k + (size_t)(head / G % HK) * D;
  const __nv_bfloat16* values = v + (size_t)(head / G % HK) * D;
  const int* pages = table + (size_t)(head / (HK * G)) * M;
  float largest = -INFINITY, total = 0, sum = 0;
  for (int j0 = 0; j0 < length; j0 += D) {
    float score = -INFINITY;
    if (j0 + t < length) {
      const __nv_bfloat16* key = keys + ((size_t)pages[(j0 + t) / T] * T + (j0 + t) % T) * HK * D;
      score = 0;
      for (int d = 0; d < D; ++d) score += __bfloat162float(query[d]) * __bfloat162float(key[d]);
      score *= 0.08838834764831845f;
    }
    scores[t] = score;
    __syncthreads();
    const int count = length - j0 < D ? length - j0 : D;
    float most = largest;
    for (int j = 0; j < count; ++j) most = scores[j] > most ? scores[j] : most;
    const float keep = expf(largest - most);
    largest = most;
    __syncthreads();
    scores[t] = expf(score - most);
    __syncthreads();
    total *= keep;
    sum *= keep;
    for (int j = 0; j < count; ++j) {
      const __nv_bfloat16* value = values + ((size_t)pages[(j0 + j) / T] * T + (j0 + j) % T) * HK * D;
      total += scores[j];
      sum += __bfloat162float(__float2bfloat16(scores[j])) * __bfloat162float(value[t]);
    }
    __syncthreads();
  }
  o[(size_t)head * D + t] = __float2bfloat16(sum / total);
}
