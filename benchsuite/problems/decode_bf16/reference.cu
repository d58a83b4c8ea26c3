/* kernelwright
{
  "problem": "decode_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block per head, online softmax over tiles of 128 keys",
  "launches": [
    {"kernel": "decode", "grid": ["B * HK * G", 1, 1], "block": [128, 1, 1],
     "args": ["q", "k", "v", "lengths", "o", "HK", "G", "S"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype.
// o = sum_{j < length} p[j] v[j], p = softmax_{j < length}(q . k[j] / sqrt(128)), for each of HK * G heads of B
// sequences. Thread t makes the score of key t of a tile, then column t of o.
#include <cuda_bf16.h>

constexpr int D = 128;

extern "C" __global__ void decode(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                                  const int* lengths, double* o, int HK, int G, int S) {
  __shared__ double scores[D];
  const int head = blockIdx.x, t = threadIdx.x, length = lengths[head / (HK * G)];
  const __nv_bfloat16* query = q + (size_t)head * D;
  const __nv_bfloat16* keys = k + (size_t)(head / G) * S * D;
  const __nv_bfloat16* values = v + (size_t)(head / G) * S * D;
  double largest = -INFINITY, total = 0, sum = 0;
  for (int j0 = 0; j0 < length; j0 += D) {
    double score = -INFINITY;
    if (j0 + t < length) {
      score = 0;
      for (int d = 0; d < D; ++d) {
        score += (double)__bfloat162float(query[d]) * (double)__bfloat162float(keys[(size_t)(j0 + t) * D + d]);
      }
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
      total += scores[j];
      sum += scores[j] * (double)__bfloat162float(values[(size_t)(j0 + j) * D + t]);
    }
    __syncthreads();
  }
  o[(size_t)head * D + t] = sum / total;
}
