/* kernelwright
{
  "problem": "paged_decode_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block per head, online softmax over tiles of 128 keys",
  "launches": [
    {"kernel": "decode", "grid": ["B * HK * G", 1, 1], "block": [128, 1, 1],
     "args": ["q", "k", "v", "table", "lengths", "o", "HK", "G", "M", "T"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype.
// o = sum_{j < length} p[j] v[j], p = softmax_{j < length}(q . k[j] / sqrt(128)), for each of HK * G heads of B
// sequences; position j is the one at j % T of page table[j / T]. Thread t makes the score of key t of a tile, then
// column t of o.
#include <cuda_bf16.h>

constexpr int D = 128;

extern "C" __global__ void decode(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                                  const int* table, const int* lengths, double* o, int HK, int G, int M, int T) {
  __shared__ double scores[D];
  const int head = blockIdx.x, t = threadIdx.x, length = lengths[head / (HK * G)];
  const __nv_bfloat16* query = q + (size_t)head * D;
  const __nv_bfloat16* keys = k + (size_t)(head / G % HK) * D;
  const __nv_bfloat16* values = v + (size_t)(head / G % HK) * D;
  const int* pages = table + (size_t)(head / (HK * G)) * M;
  double largest = -INFINITY, total = 0, sum = 0;
  for (int j0 = 0; j0 < length; j0 += D) {
    double score = -INFINITY;
    if (j0 + t < length) {
      const __nv_bfloat16* key = keys + ((size_t)pages[(j0 + t) / T] * T + (j0 + t) % T) * HK * D;
      score = 0;
      for (int d = 0; d < D; ++d) score += (double)__bfloat162float(query[d]) * (double)__bfloat162float(key[d]);
      score /= sqrt((double)D);
    }
    scores[t] = score;
    __syncthreads();
    const int count = length - j0 < D ? length - j0 : D;
    double most = largest;
    for (int j = 0; j < count; ++j) most = scores[j] > most ? scores[j] : most;
    const double keep = exp(largest - most);
    largest = most;
    __syncthreads();
    scores[t] = exp(score - most);
    __syncthreads();
    total *= keep;
    sum *= keep;
    for (int j = 0; j < count; ++j) {
      const __nv_bfloat16* value = values + ((size_t)pages[(j0 + j) / T] * T + (j0 + j) % T) * HK * D;
      total += scores[j];
      sum += scores[j] * (double)__bfloat162float(value[t]);
    }
    __syncthreads();
  }
  o[(size_t)head * D + t] = sum / total;
}
