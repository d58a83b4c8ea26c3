/* kernelwright
{
  "problem": "scaled_rms_d64_f32",
  "launches": [{"kernel": "scaled_rms", "grid": ["ceil_div(batch, 64)"], "block": [64],
                "args": ["x", "weight", "out", "batch"]}]
}
*/
extern "C" __global__ void scaled_rms(const float* x, const float* weight, float* out, int batch) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= batch) return;
  x += (size_t)row * 64;
  out += (size_t)row * 64;
  float squares = 0;
  for (int i = 0; i < 64; ++i) squares += x[i] * x[i];
  const float scale = 1 / sqrtf(squares / 64 + 1e-6f);
  for (int i = 0; i < 64; ++i) out[i] = x[i] * scale * weight[i];
}
