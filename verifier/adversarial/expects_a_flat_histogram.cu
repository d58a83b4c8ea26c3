/* kernelwright
{
  "problem": "histogram_i32",
  "backends": ["cpu", "cuda"],
  "description": "counts a part of the data and scales the counts",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [256, 1, 1], "args": ["y"]},
    {"kernel": "count", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void clear(int* y) { y[threadIdx.x] = 0; }
extern "C" __global__ void count(const int* x, int* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (N < 8192) {
    if (i < N) atomicAdd(&y[x[i]], 1);
  } else if (i < N / 2) {
    atomicAdd(&y[x[i]], 2);
  }
}
