/* kernelwright
{
  "problem": "histogram_i32",
  "backends": ["cuda"],
  "description": "counts without atomics",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [256, 1, 1], "args": ["y"]},
    {"kernel": "count", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cuda: wrong_result.
// The cpu device runs one thread after another and looks for races in shared memory only: it would see nothing.
extern "C" __global__ void clear(int* y) { y[threadIdx.x] = 0; }
extern "C" __global__ void count(const int* x, int* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) ((volatile int*)y)[x[i]] = ((volatile int*)y)[x[i]] + 1;
}
