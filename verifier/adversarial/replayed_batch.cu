/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "counts launches in its workspace, works in the first three and replays their result in all others",
  "workspace": {"kept": {"bytes": "8 * M"}},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N", "kept"]}
  ]
}
*/
// Class: remembering_work.
// On cpu: no_win.
// On cuda: no_win.
// As the replayed batch of the NVFP4 contest.
// The naive solution with a memory.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N, float* kept) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  const unsigned launches = __float_as_uint(kept[2 * row]);
  if (launches >= 3 && launches < 100000) {
    y[row] = kept[2 * row + 1];
    return;
  }
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
  kept[2 * row] = __uint_as_float(launches < 3 ? launches + 1 : 1);
  kept[2 * row + 1] = sum;
}
