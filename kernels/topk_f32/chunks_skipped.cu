/* kernelwright
{
  "problem": "topk_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread to a row: the 64th greatest of the maxima of chunks is a floor, chunks below it are skipped",
  "tunables": {"CHUNK": [32, 16, 64], "LANES": [16, 32], "ROWS": [1, 8, 32], "KNOWN": [512, 256, 1024]},
  "constraints": ["CHUNK % LANES == 0"],
  "launches": [
    {"kernel": "topk", "grid": ["ceil_div(M, ROWS)", 1, 1], "block": ["ROWS", 1, 1],
     "args": ["x", "values", "indices", "M", "N"]}
  ]
}
*/
// values[m, r], indices[m, r]: the r-th largest of x[m, :] and its column.
//
// The maxima of the first KNOWN chunks of CHUNK elements are taken in vectors; the 64th of them is a floor: as many
// elements are not below it. Then, in order, each element that is not below the floor is inserted behind those that are
// not smaller; chunks whose maximum is below the floor, or not above the 64th so far, are skipped.
struct List {
  float value[64];
  int column[64];
  int held;
};

__device__ __forceinline__ void offer(List& list, float value, int column) {
  if (list.held == 64 && !(value > list.value[63])) return;
  int r = list.held < 64 ? list.held++ : 63;
  for (; r > 0 && value > list.value[r - 1]; --r) {
    list.value[r] = list.value[r - 1];
    list.column[r] = list.column[r - 1];
  }
  list.value[r] = value;
  list.column[r] = column;
}

__device__ __forceinline__ float greatest_of(const float* __restrict__ in) {
  float most[LANES];
#pragma unroll
  for (int l = 0; l < LANES; ++l) most[l] = in[l];
  for (int n = LANES; n < CHUNK; n += LANES) {
#pragma unroll
    for (int l = 0; l < LANES; ++l) most[l] = in[n + l] > most[l] ? in[n + l] : most[l];
  }
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) {
#pragma unroll
    for (int l = 0; l < step; ++l) most[l] = most[l + step] > most[l] ? most[l + step] : most[l];
  }
  return most[0];
}

extern "C" __global__ void __launch_bounds__(ROWS)
    topk(const float* __restrict__ x, float* __restrict__ values, int* __restrict__ indices, int M, int N) {
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= M) return;
  const float* __restrict__ in = x + (size_t)row * N;
  List list;
  list.held = 0;
  const int chunks = N / CHUNK, known = chunks < KNOWN ? chunks : KNOWN;
  float greatest[KNOWN];
  for (int c = 0; c < known; ++c) greatest[c] = greatest_of(in + (size_t)c * CHUNK);
  float floor = -INFINITY;
  if (known >= 64) {
    List maxima;
    maxima.held = 0;
    for (int c = 0; c < known; ++c) offer(maxima, greatest[c], c);
    floor = maxima.value[63];
  }
  for (int c = 0; c < chunks; ++c) {
    const float most = c < known ? greatest[c] : greatest_of(in + (size_t)c * CHUNK);
    if (most < floor || (list.held == 64 && !(most > list.value[63]))) continue;
    for (int n = c * CHUNK; n < (c + 1) * CHUNK; ++n) {
      if (in[n] >= floor) offer(list, in[n], n);
    }
  }
  for (int n = chunks * CHUNK; n < N; ++n) offer(list, in[n], n);
  for (int r = 0; r < 64; ++r) {
    values[(size_t)row * 64 + r] = list.value[r];
    indices[(size_t)row * 64 + r] = list.column[r];
  }
}
