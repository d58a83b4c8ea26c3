/* kernelwright
{
  "problem": "segmented_sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread to a segment and VEC columns, whose sums stay in registers",
  "tunables": {"VEC": [64, 32, 16, 8], "BLOCK": [1, 8, 32]},
  "launches": [
    {"kernel": "segmented_sum", "grid": ["ceil_div(S, BLOCK)", "ceil_div(C, VEC)", 1], "block": ["BLOCK", 1, 1],
     "args": ["values", "offsets", "y", "C", "S"]}
  ]
}
*/
// y[s, c] = sum over t from offsets[s] to offsets[s + 1] - 1 of values[t, c]; values: [T, C], y: [S, C], row-major,
// offsets: [S + 1].
//
// For processors with vectors, such as the cpu device's: a thread adds VEC neighbouring columns of its rows side by
// side. Columns that do not fill a thread are summed one by one.
extern "C" __global__ void __launch_bounds__(BLOCK)
    segmented_sum(const float* __restrict__ values, const int* __restrict__ offsets, float* __restrict__ y, int C,
                  int S) {
  const int s = blockIdx.x * BLOCK + threadIdx.x, from = blockIdx.y * VEC;
  if (s >= S) return;
  const int begin = offsets[s], end = offsets[s + 1];
  if (from + VEC <= C) {
    float sums[VEC] = {};
    for (int t = begin; t < end; ++t) {
      const float* __restrict__ row = values + (size_t)t * C + from;
#pragma unroll
      for (int v = 0; v < VEC; ++v) sums[v] += row[v];
    }
#pragma unroll
    for (int v = 0; v < VEC; ++v) y[(size_t)s * C + from + v] = sums[v];
    return;
  }
  for (int c = from; c < C; ++c) {
    float sum = 0.0f;
    for (int t = begin; t < end; ++t) sum += values[(size_t)t * C + c];
    y[(size_t)s * C + c] = sum;
  }
}
