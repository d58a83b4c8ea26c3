/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "a workspace that one launch writes and the next reads",
  "workspace": {"partial": {"bytes": 256}},
  "launches": [
    {"kernel": "partial_sums", "grid": [64, 1, 1], "block": [128, 1, 1], "args": ["x", "partial", "N"]},
    {"kernel": "total", "grid": [1, 1, 1], "block": [64, 1, 1], "args": ["partial", "y"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of the caches that keep answers in their workspace.
extern "C" __global__ void partial_sums(const float* x, float* partial, int N) {
  __shared__ float sums[128];
  float sum = 0;
  for (size_t i = blockIdx.x * 128 + threadIdx.x; i < N; i += 64 * 128) sum += x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}
extern "C" __global__ void total(const float* partial, float* y) {
  __shared__ float sums[64];
  sums[threadIdx.x] = partial[threadIdx.x];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = sums[0];
}
