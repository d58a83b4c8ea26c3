/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps outputs in its workspace, with a fingerprint of the input",
  "workspace": {"kept": {"bytes": "8 * M"}},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N", "kept"]}
  ]
}
*/
// Class: remembering_work.
// On cpu: no_win.
// On cuda: no_win.
// From a published false win (flashinfer-bench-starter-kit #21). Workspaces hold other patterns before every launch.
// The naive solution with a memory.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N, float* kept) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  const unsigned seen = __float_as_uint(in[0]) ^ __float_as_uint(in[N / 2]);
  if (__float_as_uint(kept[2 * row]) == seen) {
    y[row] = kept[2 * row + 1];
    return;
  }
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
  kept[2 * row] = __uint_as_float(seen);
  kept[2 * row + 1] = sum;
}
