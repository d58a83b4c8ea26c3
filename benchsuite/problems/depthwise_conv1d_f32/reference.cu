/* kernelwright
{
  "problem": "depthwise_conv1d_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per element",
  "launches": [
    {"kernel": "convolve", "grid": ["B * L", "ceil_div(C, 128)", 1], "block": ["min(128, C)", 1, 1],
     "args": ["x", "w", "bias", "y", "L", "C"]}
  ]
}
*/
// Floating outputs of a reference are double.
// y[b, l, c] = silu(bias[c] + sum_{t = 0..3} w[c, t] x[b, l - 3 + t, c]); x, y: [B, L, C], w: [C, 4].
extern "C" __global__ void convolve(const float* x, const float* w, const float* bias, double* y, int L, int C) {
  const int c = blockIdx.y * blockDim.x + threadIdx.x, l = blockIdx.x % L;
  if (c >= C) return;
  double sum = bias[c];
  for (int t = 0; t < 4; ++t) {
    if (l + t >= 3) sum += (double)w[(size_t)c * 4 + t] * x[((size_t)blockIdx.x + t - 3) * C + c];
  }
  y[(size_t)blockIdx.x * C + c] = sum / (1 + exp(-sum));
}
