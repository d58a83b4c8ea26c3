/* kernelwright
{"problem": "paged_sums_f32", "description": "one running sum for each output element",
 "launches": [{"kernel": "paged_sums", "grid": ["ceil_div(B * D, 256)"], "block": [256],
               "args": ["lengths", "pages", "table", "y", "B", "L", "D"]}]}
*/
extern "C" __global__ void paged_sums(const int* lengths, const float* pages, const long long* table, float* y, int B,
                                      int L, int D) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * D) return;
  const int b = i / D, d = i % D;
  float sum = 0;
  for (int t = 0; t < lengths[b]; ++t) sum += pages[(table[b * L + t / 4] * 4 + t % 4) * D + d];
  y[i] = sum;
}
