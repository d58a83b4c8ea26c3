/* kernelwright
{
  "problem": "@NAME@",
  "description": "LANES threads per row, which meet in shuffles",
  "tunables": {"LANES": [32, 8, 1], "ROWS": [4, 32, 64]},
  "constraints": ["LANES * ROWS >= 32", "LANES * ROWS <= 1024"],
  "launches": [
    {"kernel": "product", "grid": ["ceil_div(M, ROWS)"], "block": ["LANES * ROWS"], "args": ["w", "x", "y", "M", "N"]}
  ]
}
*/
// A first kernel to improve. The header above is its launch plan: grid and block are expressions over axes and
// tunables, args are the kernel's parameters in order, and a search tries the tunables' values (they are macros here).
//
// y[m] = sum_n x[m, n] w[n]; w: [N], x: [M, N] row-major, y: [M].
@INCLUDE@extern "C" __global__ void __launch_bounds__(LANES * ROWS)
    product(const @TYPE@* __restrict__ w, const @TYPE@* __restrict__ x, @TYPE@* __restrict__ y, int M, int N) {
  const int lane = threadIdx.x % LANES, m = blockIdx.x * ROWS + threadIdx.x / LANES;
  const @TYPE@* row = x + (size_t)(m < M ? m : M - 1) * N;  // surplus threads take part in the shuffles
  float sum = 0;
  for (int n = lane; n < N; n += LANES) sum += (float)row[n] * (float)w[n];
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0 && m < M) y[m] = (@TYPE@)sum;
}
