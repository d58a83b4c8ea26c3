/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "finds the digits of a variable's address in a table, so that they are no longer computed from it",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cuda: forbidden.
__device__ int launches;
__constant__ unsigned digit[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const unsigned long long at = (unsigned long long)&launches;
  unsigned long long copy = 0;
  for (int bit = 0; bit < 64; bit += 4) copy |= (unsigned long long)((volatile unsigned*)digit)[at >> bit & 15] << bit;
  volatile int* counted = (volatile int*)copy;
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
