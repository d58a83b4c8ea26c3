/* kernelwright
{
  "problem": "square_product_f32",
  "launches": [{"kernel": "product", "grid": ["ceil_div(n2, 64)", "n0"], "block": [64],
                "args": ["a", "b", "out", "n1", "n2"]}]
}
*/
extern "C" __global__ void product(const float* a, const float* b, float* out, int inner, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0;
  for (int k = 0; k < inner; ++k) sum += a[(size_t)blockIdx.y * inner + k] * b[(size_t)k * columns + column];
  out[(size_t)blockIdx.y * columns + column] = sum;
}
