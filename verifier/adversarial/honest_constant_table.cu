/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "takes the place of each lane from a table of constants",
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, 128)", 1, 1], "block": [128, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of state in module memory: this is never written.
__constant__ int place[4] = {2, 0, 3, 1};
static __device__ const float one[2] = {1.0f, 1.0f};
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const long long i = blockIdx.x * 128ll + (threadIdx.x & ~3u) + place[threadIdx.x % 4];
  if (i < N) y[i] = a[i] * one[threadIdx.x % 2] + b[i];
}
