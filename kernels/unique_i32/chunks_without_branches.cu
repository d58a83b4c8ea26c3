/* kernelwright
{
  "problem": "unique_i32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread per chunk counts its runs and, after a scan, writes them without branches",
  "tunables": {"CHUNK": [2048, 1024, 4096, 8192], "BLOCK": [1, 32]},
  "workspace": {"before": {"bytes": "4 * ceil_div(N, CHUNK)"}, "next": {"bytes": "4 * ceil_div(N, CHUNK)"}},
  "launches": [
    {"kernel": "count_runs", "grid": ["ceil_div(N, CHUNK * BLOCK)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "before", "next", "N"]},
    {"kernel": "scan_chunks", "grid": [1, 1, 1], "block": [1, 1, 1],
     "args": ["before", "next", "number", "ceil_div(N, CHUNK)", "N"]},
    {"kernel": "write_runs", "grid": ["ceil_div(N, CHUNK * BLOCK)", 1, 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "before", "next", "values", "counts", "N"]}
  ]
}
*/
// values[k], counts[k]: the k-th distinct number of x and how often it occurs, 0 from k = number[0] on; x, values,
// counts: [N], number: [1].
//
// For few, wide processors such as the cpu device's. A run is a number with its equals. `before` holds how many runs
// begin in a chunk, at last in all chunks before it; `next` where the first of them begins, at last the first run after
// the chunk. Counting takes vectors. Writing stores value and length so far at every element, at the run's place: runs
// are short, and a branch on their ends would be predicted wrongly. An element that begins no run leaves one place of
// the rest empty, and each chunk clears as many, from the end backwards: nothing waits for the number of runs.
// Cost: x is read twice, values and counts are written once in memory, N times in the cache.
extern "C" __global__ void __launch_bounds__(BLOCK)
    count_runs(const int* __restrict__ x, int* __restrict__ before, int* __restrict__ next, int N) {
  const int chunk = blockIdx.x * BLOCK + threadIdx.x;
  const long long offset = (long long)chunk * CHUNK;
  if (offset >= N) return;
  const int begin = (int)offset, end = N - begin < CHUNK ? N : begin + CHUNK;
  int runs = begin == 0, first = begin;
  for (int n = begin == 0 ? 1 : begin; n < end; ++n) runs += x[n] != x[n - 1];
  if (begin > 0 && runs > 0) {
    while (x[first] == x[first - 1]) ++first;
  }
  before[chunk] = runs;
  next[chunk] = runs > 0 ? first : N;
}

extern "C" __global__ void scan_chunks(int* __restrict__ before, int* __restrict__ next, int* __restrict__ number,
                                       int chunks, int N) {
  int runs = 0;
  for (int i = 0; i < chunks; ++i) {
    const int own = before[i];
    before[i] = runs;
    runs += own;
  }
  number[0] = runs;
  int after = N;
  for (int i = chunks - 1; i >= 0; --i) {
    const int first = next[i];
    next[i] = after;
    if (first < N) after = first;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    write_runs(const int* __restrict__ x, const int* __restrict__ before, const int* __restrict__ next,
               int* __restrict__ values, int* __restrict__ counts, int N) {
  const int chunk = blockIdx.x * BLOCK + threadIdx.x;
  const long long offset = (long long)chunk * CHUNK;
  if (offset >= N) return;
  const int begin = (int)offset, end = N - begin < CHUNK ? N : begin + CHUNK;
  const int first = before[chunk];
  int n = begin, k = first;  // of the next run
  if (begin > 0) {
    while (n < end && x[n] == x[n - 1]) ++n;
  }
  if (n < end) {
    int start = n, last = x[n];
    for (; n < end; ++n) {
      const int value = x[n];
      const bool begins = value != last;
      k += begins;
      start = begins ? n : start;
      last = value;
      values[k] = value;
      counts[k] = n + 1 - start;
    }
    counts[k++] = next[chunk] - start;
  }
  const int rest = N - (begin - first), cleared = end - begin - (k - first);
  for (int i = rest - cleared; i < rest; ++i) values[i] = 0;
  for (int i = rest - cleared; i < rest; ++i) counts[i] = 0;
}
