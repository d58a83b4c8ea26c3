/* kernelwright
{"problem": "paged_decode_h2_d16_f32", "description": "one thread for each element of the output",
 "launches": [{"kernel": "paged_decode", "grid": ["batch"], "block": [32],
               "args": ["q", "k_cache", "v_cache", "kv_indptr", "kv_indices", "lse", "output", "sm_scale"]}]}
*/
extern "C" __global__ void paged_decode(const float* q, const float* k_cache, const float* v_cache, const int* kv_indptr,
                                        const int* kv_indices, float* lse, float* output, float sm_scale) {
  const int b = blockIdx.x, head = threadIdx.x / 16, d = threadIdx.x % 16;
  const float* query = q + (b * 2 + head) * 16;
  const int begin = kv_indptr[b], end = kv_indptr[b + 1];
  float most = -INFINITY, sum = 0, value = 0;
  for (int t = begin; t < end; ++t) {
    const long long at = (kv_indices[t] * 2LL + head) * 16;
    float score = 0;
    for (int i = 0; i < 16; ++i) score += query[i] * k_cache[at + i];
    score *= sm_scale;
    const float larger = fmaxf(most, score), shrink = expf(most - larger), weight = expf(score - larger);
    sum = sum * shrink + weight;
    value = value * shrink + weight * v_cache[at + d];
    most = larger;
  }
  output[(b * 2 + head) * 16 + d] = value / sum;
  if (d == 0) lse[b * 2 + head] = most + logf(sum);
}
