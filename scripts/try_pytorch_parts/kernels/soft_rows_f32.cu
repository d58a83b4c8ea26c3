/* kernelwright
{
  "problem": "soft_rows_f32",
  "launches": [{"kernel": "soft_rows", "grid": ["n0"], "block": [1], "args": ["x", "out", "n1"]}]
}
*/
extern "C" __global__ void soft_rows(const float* x, float* out, int columns) {
  x += (size_t)blockIdx.x * columns;
  out += (size_t)blockIdx.x * columns;
  float most = 0.5f * x[0];
  for (int i = 1; i < columns; ++i) {
    const float value = 0.5f * x[i];
    if (!(value <= most)) most = value;
  }
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += out[i] = expf(0.5f * x[i] - most);
  for (int i = 0; i < columns; ++i) out[i] = (float)(out[i] / sum);
}
