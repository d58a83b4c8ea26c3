/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "sums the first row for each that equals it, each element",
  "launches": [{"kernel": "row_sum", "grid": ["M", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of equal_rows_by_samples.
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
  bool equal = true;
  for (int n = threadIdx.x; n < N; n += 256) equal = equal && in[n] == x[n];
  equal = __syncthreads_and(equal);
  const float* from = equal ? x : in;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 256) sum += from[n];
  sum = block_sum(sum, red);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
