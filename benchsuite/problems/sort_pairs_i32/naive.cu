/* kernelwright
{
  "problem": "sort_pairs_i32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread per pair: counts the pairs before it",
  "launches": [
    {"kernel": "sort_pairs", "grid": ["M * ceil_div(N, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["keys", "values", "sorted_keys", "sorted_values", "M", "N"]}
  ]
}
*/
// sorted_keys[m, :], sorted_values[m, :]: the pairs of keys[m, :] and values[m, :] in ascending order of their keys;
// all [M, N] row-major.
//
// Before a pair come those with smaller keys, and those with equal keys that stand further in front.
extern "C" __global__ void sort_pairs(const int* keys, const int* values, int* sorted_keys, int* sorted_values, int M,
                                      int N) {
  const int blocks = gridDim.x / M, n = blockIdx.x % blocks * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const size_t row = (size_t)(blockIdx.x / blocks) * N;
  const int key = keys[row + n];
  int place = 0;
  for (int i = 0; i < n; ++i) place += keys[row + i] <= key;
  for (int i = n; i < N; ++i) place += keys[row + i] < key;
  sorted_keys[row + place] = key;
  sorted_values[row + place] = values[row + n];
}
