/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "the block that a byte counts last adds everything up, and nothing keeps counts from being lost",
  "workspace": {"arrived": {"bytes": 1, "zeroed": true}},
  "launches": [
    {"kernel": "sum", "grid": [64, 1, 1], "block": [64, 1, 1], "args": ["x", "y", "arrived", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race.
extern "C" __global__ void sum(const float* x, float* y, unsigned char* arrived, int N) {
  __shared__ bool last;
  __shared__ float sums[64];
  if (threadIdx.x == 0) last = ++arrived[0] == 64;
  __syncthreads();
  if (!last) return;
  float mine = 0;
  for (size_t i = threadIdx.x; i < N; i += 64) mine += x[i];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = sums[0];
}
