/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu", "cuda"],
  "description": "a tile in shared memory with a padded row",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 32)", "ceil_div(M, 32)", 1], "block": [32, 8, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of reading shared memory that nobody wrote: at the edges, some of the tile is neither written nor read.
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  __shared__ float tile[32][33];
  const int n0 = blockIdx.x * 32, m0 = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8) {
    if (m0 + r < M && n0 + threadIdx.x < N) tile[r][threadIdx.x] = x[(size_t)(m0 + r) * N + n0 + threadIdx.x];
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) {
    if (n0 + r < N && m0 + threadIdx.x < M) y[(size_t)(n0 + r) * M + m0 + threadIdx.x] = tile[threadIdx.x][r];
  }
}
