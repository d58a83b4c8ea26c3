/* kernelwright
{
  "problem": "norm_rows_f32",
  "launches": [{"kernel": "norm_rows", "grid": ["rows"], "block": [1],
                "args": ["x", "norm_weight", "norm_bias", "out", "width"]}]
}
*/
extern "C" __global__ void norm_rows(const float* x, const float* weight, const float* bias, float* out, int width) {
  x += (size_t)blockIdx.x * width;
  out += (size_t)blockIdx.x * width;
  float sum = 0, squares = 0;
  for (int i = 0; i < width; ++i) sum += x[i];
  const float mean = sum / width;
  for (int i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const float factor = rsqrtf(squares / width + 1e-5f);
  for (int i = 0; i < width; ++i) out[i] = (x[i] - mean) * factor * weight[i] + bias[i];
}
