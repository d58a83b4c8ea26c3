/* kernelwright
{
  "problem": "convolve_f32",
  "launches": [{"kernel": "convolve", "grid": ["filters", "batch"], "block": [1],
                "args": ["x", "conv_weight", "conv_bias", "out", "channels", "filters", "side"]}]
}
*/
extern "C" __global__ void convolve(const float* x, const float* weight, const float* bias, float* out, int channels,
                                    int filters, int side) {
  const int filter = blockIdx.x, n = side - 2, depth = channels / 2, group = filter / (filters / 2);
  x += ((size_t)blockIdx.y * channels + group * depth) * side * side;
  weight += (size_t)filter * depth * 9;
  out += ((size_t)blockIdx.y * filters + filter) * n * n;
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = bias[filter];
      for (int c = 0; c < depth; ++c) {
        for (int k = 0; k < 9; ++k) {
          sum += x[((size_t)c * side + row + k / 3) * side + column + k % 3] * weight[c * 9 + k];
        }
      }
      out[row * n + column] = sum;
    }
  }
}
