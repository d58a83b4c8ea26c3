/* kernelwright
{
  "problem": "histogram_i32",
  "backends": ["cpu"],
  "description": "counts chunks of 262144 elements in four tables of 16 bits",
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [256, 1, 1], "args": ["y"]},
    {"kernel": "histogram", "grid": ["ceil_div(N, 262144)", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// A counter overflows where all elements of a chunk are equal, and not where one in 64 is another one.
extern "C" __global__ void clear(int* y) { y[threadIdx.x] = 0; }
extern "C" __global__ void histogram(const int* x, int* y, int N) {
  unsigned short counts[4][256];
  for (int v = 0; v < 256; ++v) counts[0][v] = counts[1][v] = counts[2][v] = counts[3][v] = 0;
  const int begin = blockIdx.x * 262144, end = N - begin < 262144 ? N : begin + 262144;
  for (int i = begin; i < end; ++i) ++counts[i % 4][x[i]];
  for (int v = 0; v < 256; ++v) {
    const int count = counts[0][v] + counts[1][v] + counts[2][v] + counts[3][v];
    if (count > 0) atomicAdd(&y[v], count);
  }
}
