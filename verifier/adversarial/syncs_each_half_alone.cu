/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "each half of a warp waits for itself, and then reads what the other half wrote",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [32, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[32];
  const int lane = threadIdx.x;
  const unsigned mine = 0xffffu << (lane & 16);
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = lane; n < N; n += 32) sum += in[n];
  part[lane] = sum;
  if (__any_sync(0xffffffffu, N < 0)) return;
  __syncwarp(mine);
  sum += part[lane ^ 16];
  for (int half = 8; half > 0; half /= 2) sum += __shfl_xor_sync(mine, sum, half);
  if (lane == 0) y[blockIdx.x] = sum;
}
