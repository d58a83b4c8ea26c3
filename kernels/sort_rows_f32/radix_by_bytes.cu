/* kernelwright
{
  "problem": "sort_rows_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread sorts a row by its bytes, the lowest first",
  "tunables": {"BLOCK": [1, 8, 32]},
  "workspace": {"other": {"bytes": "4 * M * N"}},
  "launches": [
    {"kernel": "sort_rows", "grid": ["ceil_div(M, BLOCK)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "other", "y", "M", "N"]}
  ]
}
*/
// y[m, :]: the elements of x[m, :] in ascending order; x, y, other: [M, N] row-major.
//
// For few, wide processors such as the cpu device's. The bits of a float, all of them turned where it is negative and
// else the sign alone, ascend with it as a whole number. One pass counts the values of all four bytes; then four passes
// move each element to the next free place of its byte's value, from x to other, to y, to other and to y.
__device__ __forceinline__ unsigned key_of(unsigned bits) { return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u); }
__device__ __forceinline__ unsigned bits_of(unsigned key) { return key ^ (key >> 31 ? 0x80000000u : 0xffffffffu); }

extern "C" __global__ void __launch_bounds__(BLOCK)
    sort_rows(const float* __restrict__ x, unsigned* __restrict__ other, float* __restrict__ y, int M, int N) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= M) return;
  const unsigned* __restrict__ in = (const unsigned*)x + (size_t)row * N;
  unsigned* __restrict__ a = other + (size_t)row * N;
  unsigned* __restrict__ b = (unsigned*)y + (size_t)row * N;
  int places[4][256];
  for (int v = 0; v < 256; ++v) places[0][v] = places[1][v] = places[2][v] = places[3][v] = 0;
  for (int n = 0; n < N; ++n) {
    const unsigned key = key_of(in[n]);
    ++places[0][key & 255];
    ++places[1][key >> 8 & 255];
    ++places[2][key >> 16 & 255];
    ++places[3][key >> 24];
  }
  int sums[4] = {};
  for (int v = 0; v < 256; ++v) {
    for (int d = 0; d < 4; ++d) {
      const int count = places[d][v];
      places[d][v] = sums[d];
      sums[d] += count;
    }
  }
  for (int n = 0; n < N; ++n) {
    const unsigned key = key_of(in[n]);
    a[places[0][key & 255]++] = key;
  }
  for (int n = 0; n < N; ++n) b[places[1][a[n] >> 8 & 255]++] = a[n];
  for (int n = 0; n < N; ++n) a[places[2][b[n] >> 16 & 255]++] = b[n];
  for (int n = 0; n < N; ++n) b[places[3][a[n] >> 24]++] = bits_of(a[n]);
}
