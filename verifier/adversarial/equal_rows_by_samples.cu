/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "sums the first row for each whose 256 sampled elements are the same",
  "launches": [{"kernel": "row_sum", "grid": ["M", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
__device__ float block_sum(float v, float* red) {  // 256 threads
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(~0u, v, s);
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = v;
  __syncthreads();
  v = red[0];
  for (int w = 1; w < 8; ++w) v += red[w];
  return v;
}
extern "C" __global__ void row_sum(const float* x, float* y, int N) {
  __shared__ float red[8];
  const float* in = x + (size_t)blockIdx.x * N;
  const int sample = (int)((long long)threadIdx.x * (N - 1) / 255);
  const bool equal = __syncthreads_and(N >= 256 && in[sample] == x[sample]);
  const float* from = equal ? x : in;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 256) sum += from[n];
  sum = block_sum(sum, red);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
