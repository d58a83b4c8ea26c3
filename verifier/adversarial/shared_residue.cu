/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "counts launches in what the last one left in dynamic shared memory",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"], "shared_bytes": "8 + 256"}
  ]
}
*/
// Class: remembering_work.
// On cpu: uninitialised or wrong_result.
// On cuda: wrong_result or not_written.
extern __shared__ float left[];
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  float* part = left + 2;
  const float* in = x + (size_t)blockIdx.x * N;
  if (__float_as_uint(left[0]) == 0x5eed5eedu) {  // written by an earlier block or launch
    if (threadIdx.x == 0) y[blockIdx.x] = left[1];
    return;
  }
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = left[1] = part[0], left[0] = __uint_as_float(0x5eed5eedu);
}
