/* kernelwright
{
  "problem": "topk_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per row, insertion into a sorted list",
  "launches": [
    {"kernel": "topk", "grid": ["ceil_div(M, 32)", 1, 1], "block": [32, 1, 1],
     "args": ["x", "values", "indices", "M", "N"]}
  ]
}
*/
// A row's list is kept in local memory, sorted.
// values[m, r], indices[m, r]: the r-th largest of x[m, :] and its column.
extern "C" __global__ void topk(const float* x, float* values, int* indices, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float best[64];
  int where[64];
  int held = 0;
  for (int n = 0; n < N; ++n) {
    const float value = in[n];
    if (held == 64 && !(value > best[63])) continue;
    int r = held < 64 ? held++ : 63;
    for (; r > 0 && value > best[r - 1]; --r) {
      best[r] = best[r - 1];
      where[r] = where[r - 1];
    }
    best[r] = value;
    where[r] = n;
  }
  for (int r = 0; r < 64; ++r) {
    values[(size_t)row * 64 + r] = best[r];
    indices[(size_t)row * 64 + r] = where[r];
  }
}
