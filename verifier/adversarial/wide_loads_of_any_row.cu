/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "loads float4 wherever rows have an even length",
  "tunables": {"BLOCK": [1, 32]},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, BLOCK)"], "block": ["BLOCK"], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: misaligned.
extern "C" __global__ void __launch_bounds__(BLOCK) row_sum(const float* __restrict__ x, float* __restrict__ y,
    int M, int N) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= M) return;
  const float* __restrict__ in = x + (size_t)row * N;
  float sums[16] = {};
  int n = 0;
  if (N % 2 == 0) {
    for (; n + 16 <= N; n += 16) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const float4 four = *(const float4*)(in + n + 4 * v);
        sums[4 * v] += four.x, sums[4 * v + 1] += four.y, sums[4 * v + 2] += four.z, sums[4 * v + 3] += four.w;
      }
    }
  }
  float sum = 0.0f;
  for (; n < N; ++n) sum += in[n];
#pragma unroll
  for (int v = 0; v < 16; ++v) sum += sums[v];
  y[row] = sum;
}
