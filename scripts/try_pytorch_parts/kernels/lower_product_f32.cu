/* kernelwright
{
  "problem": "lower_product_f32",
  "launches": [{"kernel": "lower_product", "grid": ["ceil_div(n * n, 256)"], "block": [256], "args": ["a", "b", "out", "n"]}]
}
*/
extern "C" __global__ void lower_product(const float* a, const float* b, float* out, int n) {
  const long long at = (long long)blockIdx.x * 256 + threadIdx.x;
  if (at >= (long long)n * n) return;
  const long long row = at / n, column = at % n;
  float sum = 0;
  for (long long k = column; k <= row; ++k) sum += a[row * n + k] * b[k * n + column];  // nothing else is there
  out[at] = sum;
}
