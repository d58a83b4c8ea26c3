/* kernelwright
{
  "problem": "sort_pairs_i32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread sorts a row by the bytes of its keys, the lowest first",
  "tunables": {"BLOCK": [1, 8, 32]},
  "workspace": {"one": {"bytes": "8 * M * N"}, "other": {"bytes": "8 * M * N"}},
  "launches": [
    {"kernel": "sort_pairs", "grid": ["ceil_div(M, BLOCK)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["keys", "values", "one", "other", "sorted_keys", "sorted_values", "M", "N"]}
  ]
}
*/
// sorted_keys[m, :], sorted_values[m, :]: the pairs of keys[m, :] and values[m, :] in ascending order of their keys;
// all [M, N] row-major, as are one and other.
//
// For few, wide processors such as the cpu device's. With the sign turned, keys ascend as unsigned numbers; a pair is a
// word of 64 bits with the key above. One pass counts the values of all four bytes; then four passes move each pair to
// the next free place of its byte's value, through the two workspaces. Pairs with equal bytes keep their order.
__device__ __forceinline__ unsigned key_of(unsigned long long pair) { return (unsigned)(pair >> 32); }

extern "C" __global__ void __launch_bounds__(BLOCK)
    sort_pairs(const int* __restrict__ keys, const int* __restrict__ values, unsigned long long* __restrict__ one,
               unsigned long long* __restrict__ other, int* __restrict__ sorted_keys, int* __restrict__ sorted_values,
               int M, int N) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= M) return;
  const size_t offset = (size_t)row * N;
  const int *in_keys = keys + offset, *in_values = values + offset;
  unsigned long long *a = one + offset, *b = other + offset;
  int *out_keys = sorted_keys + offset, *out_values = sorted_values + offset;
  int places[4][256];
  for (int v = 0; v < 256; ++v) places[0][v] = places[1][v] = places[2][v] = places[3][v] = 0;
  for (int n = 0; n < N; ++n) {
    const unsigned key = (unsigned)in_keys[n] ^ 0x80000000u;
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
    const unsigned key = (unsigned)in_keys[n] ^ 0x80000000u;
    a[places[0][key & 255]++] = (unsigned long long)key << 32 | (unsigned)in_values[n];
  }
  for (int n = 0; n < N; ++n) b[places[1][key_of(a[n]) >> 8 & 255]++] = a[n];
  for (int n = 0; n < N; ++n) a[places[2][key_of(b[n]) >> 16 & 255]++] = b[n];
  for (int n = 0; n < N; ++n) {
    const int place = places[3][key_of(a[n]) >> 24]++;
    out_keys[place] = (int)(key_of(a[n]) ^ 0x80000000u);
    out_values[place] = (int)(unsigned)a[n];
  }
}
