/* kernelwright
{
  "problem": "softmax_long_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a block per row, three passes, trees in shared memory",
  "launches": [
    {"kernel": "softmax", "grid": ["M", 1, 1], "block": ["min(256, ceil_div(N, 64))", 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// y[m, n] = exp(x[m, n] - max_m) / sum_k exp(x[m, k] - max_m); x, y: [M, N] row-major.
extern "C" __global__ void softmax(const float* x, float* y, int N) {
  __shared__ float parts[256];
  const float* in = x + (size_t)blockIdx.x * N;
  float* out = y + (size_t)blockIdx.x * N;
  float largest = in[0];
  for (int n = threadIdx.x; n < N; n += blockDim.x) largest = fmaxf(largest, in[n]);
  parts[threadIdx.x] = largest;
  __syncthreads();
  for (int live = blockDim.x, half; live > 1; live = half) {
    half = (live + 1) / 2;
    if (threadIdx.x + half < live) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  largest = parts[0];
  __syncthreads();
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += blockDim.x) sum += expf(in[n] - largest);
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int live = blockDim.x, half; live > 1; live = half) {
    half = (live + 1) / 2;
    if (threadIdx.x + half < live) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  sum = parts[0];
  for (int n = threadIdx.x; n < N; n += blockDim.x) out[n] = expf(in[n] - largest) / sum;
}
