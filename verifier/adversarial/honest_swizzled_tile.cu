/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu", "cuda"],
  "description": "a tile in shared memory whose columns are swizzled",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  __shared__ float tile[256];
  const int n0 = blockIdx.x * 16, m0 = blockIdx.y * 16, i = threadIdx.x, j = threadIdx.y;
  if (m0 + j < M && n0 + i < N) tile[j * 16 + (i ^ j)] = x[(size_t)(m0 + j) * N + n0 + i];
  __syncthreads();
  if (n0 + j < N && m0 + i < M) y[(size_t)(n0 + j) * M + m0 + i] = tile[i * 16 + (j ^ i)];
}
