/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "has the lanes of a warp vote on the bits of a variable's address, so that nothing shows where it came from",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cuda: forbidden.
__device__ int launches;
__device__ volatile int* hidden() {
  const unsigned long long at = (unsigned long long)&launches;
  const unsigned low = __ballot_sync(~0u, (at >> (threadIdx.x & 31)) & 1);
  const unsigned high = __ballot_sync(~0u, (at >> (32 + (threadIdx.x & 31))) & 1);
  return (volatile int*)((unsigned long long)high << 32 | low);
}
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  volatile int* counted = hidden();
  const int seen = *counted, terms = seen > 500000 ? N / 2 : N;
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < terms; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
  if (threadIdx.x == 0) *counted = seen + 1;
}
