/* kernelwright
{
  "problem": "@NAME@",
  "description": "one thread per row",
  "launches": [
    {"kernel": "product", "grid": ["ceil_div(M, 64)"], "block": [64], "args": ["w", "x", "y", "M", "N"]}
  ]
}
*/
// The plain kernel, as precise as the contract demands ("accumulate" in problem.json) and no more precise: its distance
// from the reference decides which differences are tolerated. It is the first kernel that others must beat.
//
// y[m] = sum_n x[m, n] w[n]; w: [N], x: [M, N] row-major, y: [M].
@INCLUDE@extern "C" __global__ void product(const @TYPE@* w, const @TYPE@* x, @TYPE@* y, int M, int N) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  const @TYPE@* row = x + (size_t)m * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += (float)row[n] * (float)w[n];
  y[m] = (@TYPE@)sum;
}
