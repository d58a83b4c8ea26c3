/* kernelwright
{
  "problem": "histogram_i32",
  "backends": ["cpu"],
  "description": "adds to y by compare and swap until it succeeds",
  "tunables": {"ITEMS": [4096, 2048, 8192], "BLOCK": [1, 2, 4]},
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [256, 1, 1], "args": ["y"]},
    {"kernel": "histogram", "grid": ["ceil_div(N, BLOCK * ITEMS)"], "block": ["BLOCK"], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
extern "C" __global__ void clear(int* y) { y[threadIdx.x] = 0; }
extern "C" __global__ void histogram(const int* __restrict__ x, int* y, int N) {
  int even[256], odd[256];
  for (int b = 0; b < 256; ++b) even[b] = odd[b] = 0;
  const long long begin = (long long)(blockIdx.x * BLOCK + threadIdx.x) * ITEMS;
  const long long end = begin + ITEMS < N ? begin + ITEMS : N;
  long long i = begin;
  for (; i + 2 <= end; i += 2) {
    ++even[x[i]];
    ++odd[x[i + 1]];
  }
  if (i < end) ++even[x[i]];
  for (int b = 0; b < 256; ++b) {
    const int count = even[b] + odd[b];
    if (count == 0) continue;
    int seen = *(volatile int*)(y + b), found;
    while ((found = atomicCAS(y + b, seen, seen + count)) != seen) seen = found;
  }
}
