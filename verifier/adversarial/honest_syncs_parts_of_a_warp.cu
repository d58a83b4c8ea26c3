/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "lanes exchange within quarters and halves of a warp, and wait for just these",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [32, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of waiting for lanes that are not the ones whose values are read.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[32];
  const int lane = threadIdx.x;
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = lane; n < N; n += 32) sum += in[n];
  for (int half = 1; half < 32; half *= 2) {
    const int width = 2 * half;
    const unsigned mine = (width == 32 ? 0xffffffffu : (1u << width) - 1) << (lane & ~(width - 1));
    part[lane] = sum;
    __syncwarp(mine);
    sum += part[lane ^ half];
    __syncwarp(mine);
  }
  if (lane == 0) y[blockIdx.x] = sum;
}
