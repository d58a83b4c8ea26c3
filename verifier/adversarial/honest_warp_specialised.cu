/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "one warp loads tiles into shared memory while the other adds the tile before",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float tile[2][128];
  const float* in = x + (size_t)blockIdx.x * N;
  const bool loads = threadIdx.x < 32;
  const int lane = threadIdx.x % 32, tiles = (N + 127) / 128;
  float sum = 0;
  for (int t = 0; t <= tiles; ++t) {
    if (loads && t < tiles) {
      for (int i = lane; i < 128; i += 32) tile[t % 2][i] = t * 128 + i < N ? in[t * 128 + i] : 0;
    }
    if (!loads && t > 0) {
      for (int i = lane; i < 128; i += 32) sum += tile[(t - 1) % 2][i];
    }
    __syncthreads();
  }
  if (loads) return;
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lanes);
  if (lane == 0) y[blockIdx.x] = sum;
}
