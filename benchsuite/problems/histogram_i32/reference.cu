/* kernelwright
{
  "problem": "histogram_i32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: counts are integers, so atomics in any order are exact",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [256, 1, 1], "args": ["y"]},
    {"kernel": "histogram", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// y[b] = number of i with x[i] == b; x: [N] with values in [0, 255], y: [256].
extern "C" __global__ void clear(int* y) { y[threadIdx.x] = 0; }

extern "C" __global__ void histogram(const int* x, int* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) atomicAdd(&y[x[i]], 1);
}
