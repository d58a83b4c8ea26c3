/* kernelwright
{"problem": "ragged_sums_f32", "description": "one running sum for each output element",
 "launches": [{"kernel": "ragged_sums", "grid": ["ceil_div(B * D, 256)"], "block": [256],
               "args": ["indptr", "x", "y", "B", "D"]}]}
*/
extern "C" __global__ void ragged_sums(const int* indptr, const float* x, float* y, int B, int D) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * D) return;
  const int b = i / D, d = i % D;
  const int begin = indptr[b], end = indptr[b + 1];
  float sum = 0;
  for (int t = begin; t < end; ++t) sum += x[(long long)t * D + d];
  y[i] = sum;
}
