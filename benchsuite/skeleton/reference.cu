/* kernelwright
{
  "problem": "@NAME@",
  "description": "the reference: fp64, one thread per row",
  "launches": [
    {"kernel": "product", "grid": ["ceil_div(M, 64)"], "block": [64], "args": ["w", "x", "y", "M", "N"]}
  ]
}
*/
// The truth, which every kernel is compared with. Keep it simple: one thread per output element or row.
// It accumulates in double, and its floating outputs are double whatever their dtype in problem.json.
//
// y[m] = sum_n x[m, n] w[n]; w: [N], x: [M, N] row-major, y: [M].
@INCLUDE@extern "C" __global__ void product(const @TYPE@* w, const @TYPE@* x, double* y, int M, int N) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  const @TYPE@* row = x + (size_t)m * N;  // M * N may exceed 2^31
  double sum = 0;
  for (int n = 0; n < N; ++n) sum += (double)(float)row[n] * (double)(float)w[n];
  y[m] = sum;
}
