/* kernelwright
{
  "problem": "histogram_i32",
  "backends": ["cpu", "cuda"],
  "description": "counts a warp's 128 elements as one value if three of four are",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [256, 1, 1], "args": ["y"]},
    {"kernel": "histogram", "grid": ["ceil_div(N, 65536)", 1, 1], "block": [1024, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void clear(int* y) { y[threadIdx.x] = 0; }
extern "C" __global__ void __launch_bounds__(1024) histogram(const int* __restrict__ x, int* __restrict__ y, int N) {
  __shared__ int counts[2 * 257];
  for (int i = threadIdx.x; i < 2 * 257; i += 1024) counts[i] = 0;
  __syncthreads();
  int* mine = counts + threadIdx.x % 2 * 257;
  const int vectors = N / 4, first = blockIdx.x * 16384, end = min(vectors, first + 16384);
  for (int i = first + threadIdx.x; i < (end - first + 1023) / 1024 * 1024 + first; i += 1024) {
    const bool there = i < end;
    const int4 f = there ? ((const int4*)x)[i] : make_int4(0, 0, 0, 0);
    const int lead = __shfl_sync(~0u, f.x, 0);
    if (__all_sync(~0u, there && f.x == lead && f.y == lead && f.w == lead)) {
      if (threadIdx.x % 32 == 0) atomicAdd(&mine[lead], 128);
      continue;
    }
    if (there) {
      atomicAdd(&mine[f.x], 1);
      atomicAdd(&mine[f.y], 1);
      atomicAdd(&mine[f.z], 1);
      atomicAdd(&mine[f.w], 1);
    }
  }
  const int tail = 4 * vectors + threadIdx.x;
  if (blockIdx.x == 0 && tail < N) atomicAdd(&mine[x[tail]], 1);
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += 1024) {
    const int count = counts[bin] + counts[257 + bin];
    if (count != 0) atomicAdd(&y[bin], count);
  }
}
