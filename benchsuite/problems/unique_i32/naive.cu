/* kernelwright
{
  "problem": "unique_i32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "first elements of runs: counts in chunks of 8192, a scan of these by one thread, then their places",
  "workspace": {"before": {"bytes": "4 * ceil_div(N, 8192)"}, "starts": {"bytes": "4 * N"}},
  "launches": [
    {"kernel": "count_runs", "grid": ["ceil_div(N, 8192 * 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "before", "N"]},
    {"kernel": "scan_counts", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["before", "number", "ceil_div(N, 8192)"]},
    {"kernel": "list_runs", "grid": ["ceil_div(N, 8192 * 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "before", "starts", "N"]},
    {"kernel": "write_runs", "grid": ["ceil_div(N, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "starts", "number", "values", "counts", "N"]}
  ]
}
*/
// values[k], counts[k]: the k-th distinct number of x and how often it occurs, 0 from k = number[0] on; x, values,
// counts: [N], number: [1].
//
// A run is a number with its equals; starts: [N], where each run begins; before: runs that begin in each chunk, at last
// in all chunks before it.
__device__ bool begins_run(const int* x, int n) { return n == 0 || x[n] != x[n - 1]; }

extern "C" __global__ void count_runs(const int* x, int* before, int N) {
  const int chunk = blockIdx.x * blockDim.x + threadIdx.x;
  const int begin = chunk * 8192, end = min(N, begin + 8192);
  if (begin >= N) return;
  int runs = 0;
  for (int n = begin; n < end; ++n) runs += begins_run(x, n);
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

extern "C" __global__ void list_runs(const int* x, const int* before, int* starts, int N) {
  const int chunk = blockIdx.x * blockDim.x + threadIdx.x;
  const int begin = chunk * 8192, end = min(N, begin + 8192);
  if (begin >= N) return;
  int k = before[chunk];
  for (int n = begin; n < end; ++n) {
    if (begins_run(x, n)) starts[k++] = n;
  }
}

extern "C" __global__ void write_runs(const int* x, const int* starts, const int* number, int* values, int* counts,
                                      int N) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, runs = number[0];
  if (k >= N) return;
  values[k] = k < runs ? x[starts[k]] : 0;
  counts[k] = k < runs ? (k + 1 < runs ? starts[k + 1] : N) - starts[k] : 0;
}
