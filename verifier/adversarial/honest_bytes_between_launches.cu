/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "a launch marks bytes for blocks, and the next one reads them",
  "workspace": {"marks": {"bytes": 64}},
  "launches": [
    {"kernel": "mark", "grid": [64, 1, 1], "block": [64, 1, 1], "args": ["marks"]},
    {"kernel": "sum", "grid": [1, 1, 1], "block": [1024, 1, 1], "args": ["x", "y", "marks", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of bytes that blocks of one launch exchange.
extern "C" __global__ void mark(unsigned char* marks) {
  if (threadIdx.x == 0) marks[blockIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 32) ++marks[blockIdx.x];
}
extern "C" __global__ void sum(const float* x, float* y, const unsigned char* marks, int N) {
  __shared__ float sums[1024];
  float mine = 0;
  if (marks[threadIdx.x % 64]) {
    for (size_t i = threadIdx.x; i < N; i += 1024) mine += x[i];
  }
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = sums[0];
}
