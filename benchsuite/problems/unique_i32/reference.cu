/* kernelwright
{
  "problem": "unique_i32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: chunks of 8192; each run's end by bisection",
  "workspace": {"before": {"bytes": "4 * ceil_div(N, 8192)"}},
  "launches": [
    {"kernel": "clear", "grid": ["ceil_div(N, 64)", 1, 1], "block": [64, 1, 1], "args": ["values", "counts", "N"]},
    {"kernel": "count_runs", "grid": ["ceil_div(N, 8192 * 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "before", "N"]},
    {"kernel": "scan_counts", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["before", "number", "ceil_div(N, 8192)"]},
    {"kernel": "write_runs", "grid": ["ceil_div(N, 8192 * 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "before", "values", "counts", "N"]}
  ]
}
*/
// values[k], counts[k]: the k-th distinct number of x and how often it occurs, 0 from k = number[0] on; x, values,
// counts: [N], number: [1].
//
// A run is a number with its equals; before: runs that begin in each chunk, at last in all chunks before it.
extern "C" __global__ void clear(int* values, int* counts, int N) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < N) values[k] = counts[k] = 0;
}

extern "C" __global__ void count_runs(const int* x, int* before, int N) {
  const int chunk = blockIdx.x * blockDim.x + threadIdx.x;
  const int begin = chunk * 8192, end = min(N, begin + 8192);
  if (begin >= N) return;
  int runs = 0;
  for (int n = begin; n < end; ++n) runs += n == 0 || x[n - 1] < x[n];
  before[chunk] = runs;
}

extern "C" __global__ void scan_counts(int* before, int* number, int chunks) {
  int all = 0;
  for (int i = 0; i < chunks; ++i) {
    const int runs = before[i];
    before[i] = all;
    all += runs;
  }
  number[0] = all;
}

// The first place after n that holds a larger number, or N.
__device__ int end_of_run(const int* x, int n, int N) {
  int low = n + 1, high = N;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (x[middle] > x[n]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

extern "C" __global__ void write_runs(const int* x, const int* before, int* values, int* counts, int N) {
  const int chunk = blockIdx.x * blockDim.x + threadIdx.x;
  const int begin = chunk * 8192, end = min(N, begin + 8192);
  if (begin >= N) return;
  int k = before[chunk];
  for (int n = begin; n < end; ++n) {
    if (n > 0 && x[n - 1] == x[n]) continue;
    values[k] = x[n];
    counts[k] = end_of_run(x, n, N) - n;
    ++k;
  }
}
