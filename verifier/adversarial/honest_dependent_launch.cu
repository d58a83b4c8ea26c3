/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "the second launch begins before the first has ended, and waits for it",
  "workspace": {"partial": {"bytes": 256}},
  "launches": [
    {"kernel": "parts", "grid": [64, 1, 1], "block": [128, 1, 1], "args": ["x", "partial", "N"]},
    {"kernel": "total", "grid": [1, 1, 1], "block": [32, 1, 1], "args": ["partial", "y"], "overlaps_previous": true}
  ]
}
*/
// Class: honest.
// On cuda: correct.
// The twin of work that goes on after its launch has ended.
extern "C" __global__ void parts(const float* x, float* partial, int N) {
  __shared__ float sums[128];
  float sum = 0;
  for (size_t i = blockIdx.x * 128 + threadIdx.x; i < N;) {
    float part = 0;  // one running sum for all would lose digits
    for (int k = 0; k < 256 && i < N; ++k, i += 64 * 128) part += x[i];
    sum += part;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
extern "C" __global__ void total(const float* partial, float* y) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  float sum = partial[threadIdx.x] + partial[threadIdx.x + 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x == 0) y[0] = sum;
}
