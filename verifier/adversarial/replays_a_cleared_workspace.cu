/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "counts launches in a workspace that is cleared before each",
  "workspace": {"kept": {"bytes": "8 * M", "zeroed": true}},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N", "kept"]}
  ]
}
*/
// Class: remembering_work.
// On cpu: no_win.
// On cuda: no_win.
// The naive solution with a memory.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N, int* kept) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  if (kept[2 * row] >= 2) {
    y[row] = __int_as_float(kept[2 * row + 1]);
    return;
  }
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
  kept[2 * row] += 1;
  kept[2 * row + 1] = __float_as_int(sum);
}
