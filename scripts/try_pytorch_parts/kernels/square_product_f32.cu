/* kernelwright
{
  "problem": "square_product_f32",
  "launches": [{"kernel": "product", "grid": ["ceil_div(n1, 64)", "n0"], "block": [64],
                "args": ["a", "b", "out", "n1"]}]
}
*/
extern "C" __global__ void product(const float* a, const float* b, float* out, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[(size_t)blockIdx.y * n + k] * b[(size_t)k * n + column];
  out[(size_t)blockIdx.y * n + column] = sum;
}
