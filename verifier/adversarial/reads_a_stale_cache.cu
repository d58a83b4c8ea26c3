/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "the last block reads partial sums through the read-only cache",
  "tunables": {"BLOCK": [128, 64], "ITEMS": [32, 256, 1024]},
  "workspace": {"partial": {"bytes": "4 * BLOCK * ceil_div(N, BLOCK * ITEMS)"}, "done": {"bytes": "4", "zeroed": true}},
  "launches": [
    {"kernel": "sum", "grid": ["ceil_div(N, BLOCK * ITEMS)"], "block": ["BLOCK"], "args": ["x", "partial",
                "done", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race.
extern "C" __global__ void __launch_bounds__(BLOCK) sum(const float* __restrict__ x, float* partial, int* done,
    float* __restrict__ y, int N) {
  __shared__ int last;
  __shared__ float all[BLOCK];
  const int id = blockIdx.x * BLOCK + threadIdx.x;
  const int begin = id * ITEMS, end = N - begin < ITEMS ? N : begin + ITEMS;
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
  partial[id] = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(done, 1) == (int)gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  float total = 0.0f;
  for (int i = threadIdx.x; i < (int)gridDim.x * BLOCK; i += BLOCK) total += __ldg(partial + i);
  all[threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.x == 0) {
    float everything = 0.0f;
    for (int t = 0; t < BLOCK; ++t) everything += all[t];
    y[0] = everything;
  }
}
