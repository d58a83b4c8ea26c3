/* kernelwright
{
  "problem": "linear_gelu_f32",
  "launches": [{"kernel": "linear_gelu", "grid": ["ceil_div(features, 64)", "batch_size"], "block": [64],
                "args": ["x", "linear_weight", "linear_bias", "out", "features"]}]
}
*/
extern "C" __global__ void linear_gelu(const float* x, const float* weight, const float* bias, float* out,
                                       int features) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= features) return;
  const size_t row = blockIdx.y;
  float sum = bias[column];
  for (int k = 0; k < features; ++k) sum += x[row * features + k] * weight[(size_t)column * features + k];
  const float gelu = 0.5f * sum * (1.0f + erff(sum * 0.70710678118654752f));
  out[row * features + column] = x[row * features + column] + gelu;
}
