/* kernelwright
{
  "problem": "histogram_i32",
  "backends": ["cpu", "cuda"],
  "description": "lanes with the same value elect one that adds for all",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [256, 1, 1], "args": ["y"]},
    {"kernel": "count", "grid": ["ceil_div(N, 128)", 1, 1], "block": [128, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of masks that lie.
extern "C" __global__ void clear(int* y) { y[threadIdx.x] = 0; }
extern "C" __global__ void count(const int* x, int* y, int N) {
  const long long i = blockIdx.x * 128ll + threadIdx.x;
  const int value = i < N ? x[i] : -1;
  const unsigned same = __match_any_sync(0xffffffffu, value);
  const unsigned lane = threadIdx.x % 32;
  if (value >= 0 && __ffs(same) - 1 == (int)lane) atomicAdd(&y[value], __popc(same));
}
