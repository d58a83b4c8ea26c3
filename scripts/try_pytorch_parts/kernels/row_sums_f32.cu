/* kernelwright
{
  "problem": "row_sums_f32",
  "launches": [{"kernel": "row_sums", "grid": ["n0"], "block": [1], "args": ["x", "out", "n1"]}]
}
*/
extern "C" __global__ void row_sums(const float* x, float* out, int columns) {
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += x[(size_t)blockIdx.x * columns + i];
  out[blockIdx.x] = sum;
}
