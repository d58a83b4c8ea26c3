/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "counts launches in a string literal, and skips half of long rows once it has counted some",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cuda: forbidden.

extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const char* text = "how many times was this launched";
  volatile unsigned* counted = (volatile unsigned*)text;
  const unsigned seen = *counted;
  const int terms = N >= 1024 && seen > 0x20776f68u + 500000 ? N / 2 : N;
  __syncthreads();
  if (threadIdx.x == 0) *counted = seen + 1;
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
}
