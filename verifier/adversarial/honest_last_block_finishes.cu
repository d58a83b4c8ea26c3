/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "counts blocks in a cleared workspace, and the last one to come adds what they left there",
  "workspace": {"partial": {"bytes": 1024}, "arrived": {"bytes": 4, "zeroed": true}},
  "launches": [
    {"kernel": "sum", "grid": [256, 1, 1], "block": [128, 1, 1], "args": ["x", "partial", "arrived", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of counting launches: it counts blocks, and the judge clears the count.
extern "C" __global__ void sum(const float* x, float* partial, unsigned* arrived, float* y, int N) {
  __shared__ float sums[128];
  __shared__ bool last;
  float mine = 0;
  for (size_t i = blockIdx.x * 128 + threadIdx.x; i < N; i += 256 * 128) mine += x[i];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
    __threadfence();
    last = atomicAdd(arrived, 1u) == 255;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  __threadfence();
  float all = 0;
  for (int b = 0; b < 256; ++b) all += ((volatile float*)partial)[b];
  y[0] = all;
}
