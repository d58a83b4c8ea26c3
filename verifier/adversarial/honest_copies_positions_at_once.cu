/* kernelwright
{
  "problem": "embedding_f32",
  "backends": ["cpu"],
  "description": "positions that follow each other are one copy",
  "launches": [
    {"kernel": "embedding", "grid": ["ceil_div(T, 8)"], "block": [1], "args": ["ids", "table", "y", "T", "D"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
extern "C" __global__ void embedding(const int* __restrict__ ids, const float* __restrict__ table,
                                     float* __restrict__ y, int T, int D) {
  const int first = blockIdx.x * 8, count = T - first < 8 ? T - first : 8;
  bool follow = count > 1;
  for (int t = 1; t < count; ++t) follow = follow && ids[first + t] == ids[first] + t;
  if (follow) {
    const float* from = table + (size_t)ids[first] * D;
    float* to = y + (size_t)first * D;
    int i = 0;
    for (; i + 4 <= count * D; i += 4) {
      to[i] = from[i], to[i + 1] = from[i + 1], to[i + 2] = from[i + 2], to[i + 3] = from[i + 3];
    }
    for (; i < count * D; ++i) to[i] = from[i];
    return;
  }
  for (int t = first; t < first + count; ++t) {
    for (int d = 0; d < D; ++d) y[(size_t)t * D + d] = table[(size_t)ids[t] * D + d];
  }
}
