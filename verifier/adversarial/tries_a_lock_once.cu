/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "a block that finds the lock taken leaves its sum out",
  "tunables": {"ITEMS": [4096, 2048, 8192]},
  "workspace": {"lock": {"bytes": "8", "zeroed": true}},
  "launches": [
    {"kernel": "clear", "grid": [1], "block": [1], "args": ["y"]},
    {"kernel": "sum", "grid": ["ceil_div(N, ITEMS)"], "block": [1], "args": ["x", "lock", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
extern "C" __global__ void clear(float* y) { y[0] = 0.0f; }
extern "C" __global__ void sum(const float* __restrict__ x, int* lock, float* y, int N) {
  const int begin = blockIdx.x * ITEMS, end = N - begin < ITEMS ? N : begin + ITEMS;
  float sums[16] = {};
  int n = begin;
  for (; n + 16 <= end; n += 16) {
#pragma unroll
    for (int v = 0; v < 16; ++v) sums[v] += x[n + v];
  }
  float sum = 0.0f;
  for (; n < end; ++n) sum += x[n];
#pragma unroll
  for (int v = 0; v < 16; ++v) sum += sums[v];
  if (atomicCAS(lock, 0, 1) == 0) {
    __threadfence();
    *(volatile float*)y = *(volatile float*)y + sum;
    __threadfence();
    atomicExch(lock, 0);
  }
}
