/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "begins before the launch before it has ended, and does not wait for what that writes",
  "workspace": {"partial": {"bytes": 256}},
  "launches": [
    {"kernel": "parts", "grid": [64, 1, 1], "block": [128, 1, 1], "args": ["x", "partial", "N"]},
    {"kernel": "total", "grid": [1, 1, 1], "block": [64, 1, 1], "args": ["partial", "y"], "overlaps_previous": true}
  ]
}
*/
// Class: clock_and_cache.
// On cuda: wrong_result or wrong_non_finite or correct. Whether the second launch comes too early is left to the hardware.
extern "C" __global__ void parts(const float* x, float* partial, int N) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
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
  sums[threadIdx.x] = ((const volatile float*)partial)[threadIdx.x];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = sums[0];
}
