/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps outputs in its workspace and takes them for right while the input lies at the same address",
  "workspace": {"kept": {"bytes": "16 * M"}},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N", "kept"]}
  ]
}
*/
// Class: remembering_work.
// On cpu: no_win.
// On cuda: no_win.
// If the workspace kept its content, the second launch would be wrong: inputs change in place.
// The naive solution with a memory.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N, unsigned long long* kept) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  if (kept[2 * row] == (unsigned long long)x) {
    y[row] = __uint_as_float((unsigned)kept[2 * row + 1]);
    return;
  }
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
  kept[2 * row] = (unsigned long long)x;
  kept[2 * row + 1] = __float_as_uint(sum);
}
