/* kernelwright
{
  "problem": "segmented_sum_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per sum",
  "launches": [
    {"kernel": "segmented_sum", "grid": ["S", "ceil_div(C, 64)", 1], "block": ["min(64, C)", 1, 1],
     "args": ["values", "offsets", "y", "C"]}
  ]
}
*/
// y[s, c] = sum over t from offsets[s] to offsets[s + 1] - 1 of values[t, c]; values: [T, C], y: [S, C], row-major,
// offsets: [S + 1].
extern "C" __global__ void segmented_sum(const float* values, const int* offsets, float* y, int C) {
  const int s = blockIdx.x, c = blockIdx.y * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float sum = 0;
  for (int t = offsets[s]; t < offsets[s + 1]; ++t) sum += values[(size_t)t * C + c];
  y[(size_t)s * C + c] = sum;
}
