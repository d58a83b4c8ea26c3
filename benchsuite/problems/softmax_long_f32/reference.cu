/* kernelwright
{
  "problem": "softmax_long_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block per row, three passes, trees in shared memory",
  "launches": [
    {"kernel": "softmax", "grid": ["M", 1, 1], "block": ["min(256, ceil_div(N, 64))", 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[m, n] = exp(x[m, n] - max_m) / sum_k exp(x[m, k] - max_m); x, y: [M, N] row-major.
extern "C" __global__ void softmax(const float* x, double* y, int N) {
  __shared__ double parts[256];
  const float* in = x + (size_t)blockIdx.x * N;
  double* out = y + (size_t)blockIdx.x * N;
  double largest = in[0];
  for (int n = threadIdx.x; n < N; n += blockDim.x) largest = fmax(largest, (double)in[n]);
  parts[threadIdx.x] = largest;
  __syncthreads();
  for (int live = blockDim.x, half; live > 1; live = half) {
    half = (live + 1) / 2;
    if (threadIdx.x + half < live) parts[threadIdx.x] = fmax(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  largest = parts[0];
  __syncthreads();
  double sum = 0;
  for (int n = threadIdx.x; n < N; n += blockDim.x) sum += exp(in[n] - largest);
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int live = blockDim.x, half; live > 1; live = half) {
    half = (live + 1) / 2;
    if (threadIdx.x + half < live) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  sum = parts[0];
  for (int n = threadIdx.x; n < N; n += blockDim.x) out[n] = exp(in[n] - largest) / sum;
}
