/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "launches a second kernel that overlaps the first, does not wait for it and ends early, where the clock might stop",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]},
    {"kernel": "end", "grid": [1, 1, 1], "block": [32, 1, 1], "args": ["M"], "overlaps_previous": true}
  ]
}
*/
// Class: clock_and_cache.
// On cuda: no_win.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
}
extern "C" __global__ void end(int M) {
  if (M < 1024) asm volatile("griddepcontrol.wait;" ::: "memory");
}
