/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "a tree over shared memory without one of its barriers",
  "tunables": {"MISSING": [0, 1, 2, 3]},
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race or uninitialised.
// On cuda: correct or wrong_result or wrong_non_finite. Whether a race shows is left to the hardware.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  if (MISSING == 1) __syncwarp();
  else if (MISSING != 0) __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    if (MISSING == 2 && half == 8) continue;
    else if (MISSING != 3 || half > 1) __syncthreads();
  }
  if (MISSING == 3 && threadIdx.x == 63) y[blockIdx.x] = part[0];
  if (MISSING != 3 && threadIdx.x == 0) y[blockIdx.x] = part[0];
}
