/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps outputs in __device__ memory and copies them while a fingerprint of the input is the same",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cpu: forbidden.
// On cuda: forbidden.
// A cache on the device, as it won a public contest.
__device__ float kept[65536];
__device__ unsigned fingerprint[65536];
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const unsigned seen = __float_as_uint(x[(size_t)blockIdx.x * N]) ^ __float_as_uint(x[(size_t)blockIdx.x * N + N / 2]);
  if (fingerprint[blockIdx.x] == seen && kept[blockIdx.x] != 0) {
    if (threadIdx.x == 0) y[blockIdx.x] = kept[blockIdx.x];
    return;
  }
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = kept[blockIdx.x] = part[0], fingerprint[blockIdx.x] = seen;
}
