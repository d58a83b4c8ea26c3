/* kernelwright
{
  "problem": "sort_pairs_i32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: a thread per row: merge sort",
  "workspace": {"other_keys": {"bytes": "4 * M * N"}, "other_values": {"bytes": "4 * M * N"}},
  "launches": [
    {"kernel": "sort_pairs", "grid": ["ceil_div(M, 32)", 1, 1], "block": [32, 1, 1],
     "args": ["keys", "values", "sorted_keys", "sorted_values", "other_keys", "other_values", "M", "N"]}
  ]
}
*/
// sorted_keys[m, :], sorted_values[m, :]: the pairs of keys[m, :] and values[m, :] in ascending order of their keys;
// all [M, N] row-major.
//
// Runs of 1, 2, 4, ... pairs are merged in pairs; of equal keys the one of the first run comes first.
__device__ void copy(const int* from, int* to, int count) {
  for (int n = 0; n < count; ++n) to[n] = from[n];
}

extern "C" __global__ void sort_pairs(const int* keys, const int* values, int* sorted_keys, int* sorted_values,
                                      int* other_keys, int* other_values, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const size_t offset = (size_t)row * N;
  int *from_keys = sorted_keys + offset, *from_values = sorted_values + offset;
  int *to_keys = other_keys + offset, *to_values = other_values + offset;
  copy(keys + offset, from_keys, N);
  copy(values + offset, from_values, N);
  for (int run = 1; run < N; run *= 2) {
    for (int begin = 0; begin < N; begin += 2 * run) {
      const int middle = min(begin + run, N), end = min(begin + 2 * run, N);
      int a = begin, b = middle;
      for (int n = begin; n < end; ++n) {
        const bool first = a < middle && (b >= end || from_keys[a] <= from_keys[b]);
        const int taken = first ? a++ : b++;
        to_keys[n] = from_keys[taken];
        to_values[n] = from_values[taken];
      }
    }
    int* const keys_before = from_keys;
    int* const values_before = from_values;
    from_keys = to_keys;
    from_values = to_values;
    to_keys = keys_before;
    to_values = values_before;
  }
  if (from_keys == sorted_keys + offset) return;
  copy(from_keys, sorted_keys + offset, N);
  copy(from_values, sorted_values + offset, N);
}
