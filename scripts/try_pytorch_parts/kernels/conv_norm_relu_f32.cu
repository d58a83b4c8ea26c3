/* kernelwright
{
  "problem": "conv_norm_relu_f32",
  "launches": [{"kernel": "convolve", "grid": ["filters", "batch"], "block": [1],
                "args": ["x", "conv_weight", "out", "channels", "filters", "side"]},
               {"kernel": "normalize", "grid": ["filters"], "block": [1],
                "args": ["norm_weight", "norm_bias", "out", "batch", "filters", "side"]}]
}
*/
extern "C" __global__ void convolve(const float* x, const float* weight, float* out, int channels, int filters,
                                    int side) {
  const int filter = blockIdx.x, n = side - 2;
  out += ((size_t)blockIdx.y * filters + filter) * n * n;
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int c = 0; c < channels; ++c) {
        for (int k = 0; k < 9; ++k) {
          sum += x[(((size_t)blockIdx.y * channels + c) * side + row + k / 3) * side + column + k % 3] *
                 weight[(filter * channels + c) * 9 + k];
        }
      }
      out[row * n + column] = sum;
    }
  }
}

extern "C" __global__ void normalize(const float* scale, const float* shift, float* out, int batch, int filters,
                                     int side) {
  const int filter = blockIdx.x, area = (side - 2) * (side - 2);
  const size_t step = (size_t)filters * area, begin = (size_t)filter * area;
  double sum = 0, squares = 0;  // one-hot images leave a variance that is tiny beside what cancels
  for (int b = 0; b < batch; ++b) {
    for (int i = 0; i < area; ++i) sum += out[b * step + begin + i];
  }
  const double mean = sum / (batch * area);
  for (int b = 0; b < batch; ++b) {
    for (int i = 0; i < area; ++i) {
      const double off = out[b * step + begin + i] - mean;
      squares += off * off;
    }
  }
  const double factor = scale[filter] / sqrt(squares / (batch * area) + 1e-5);
  for (int b = 0; b < batch; ++b) {
    for (int i = 0; i < area; ++i) {
      float& value = out[b * step + begin + i];
      const float y = (float)((value - mean) * factor + shift[filter]);
      value = y > 0 || y != y ? y : 0;
    }
  }
}
