/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "counts launches in local memory that it never wrote, and skips half of long rows once it has counted some",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: remembering_work.
// On cuda: correct or wrong_result. It finds nothing there that an earlier launch wrote.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  unsigned room[8], *hidden = room;
  asm volatile("" : "+l"(hidden)::"memory");
  volatile unsigned* left = hidden;
  const unsigned seen = left[0] == 0xc0ffee11u && left[1] == ~left[2] ? left[1] + 1 : 1;
  left[0] = 0xc0ffee11u, left[1] = seen, left[2] = ~seen;
  const int terms = N >= 1024 && __syncthreads_and(seen > 20) ? N / 2 : N;
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
