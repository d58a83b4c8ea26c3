/* kernelwright
{
  "problem": "layernorm_f32",
  "backends": ["cuda"],
  "description": "keeps the offset of a row in int",
  "launches": [
    {"kernel": "layernorm", "grid": ["M", 1, 1], "block": [256, 1, 1], "args": ["x", "gamma", "beta", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cuda: wrong_result or not_written or out_of_bounds.
__device__ __forceinline__ float block_sum(float v, float* red) {  // 256 threads
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(~0u, v, s);
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = v;
  __syncthreads();
  v = red[0];
  for (int w = 1; w < 8; ++w) v += red[w];
  return v;
}
extern "C" __global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma,
                                     const float* __restrict__ beta, float* __restrict__ y, int M, int N) {
  __shared__ float a[8], b[8];
  const float* in = x + (int)(blockIdx.x * N);
  float* to = y + (int)(blockIdx.x * N);
  float sum = 0, squares = 0;
  for (int n = threadIdx.x; n < N; n += 256) sum += in[n];
  const float mean = block_sum(sum, a) / N;
  for (int n = threadIdx.x; n < N; n += 256) {
    const float v = in[n];
    squares += (v - mean) * (v - mean);
  }
  const float scale = 1.0f / sqrtf(block_sum(squares, b) / N + 1e-5f);
  for (int n = threadIdx.x; n < N; n += 256) {
    const float v = in[n];
    to[n] = (v - mean) * scale * gamma[n] + beta[n];
  }
}
