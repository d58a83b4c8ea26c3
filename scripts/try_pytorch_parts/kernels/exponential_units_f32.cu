/* kernelwright
{"problem": "exponential_units_f32",
 "launches": [{"kernel": "exponential_units", "grid": ["ceil_div(rows * width, 64)"], "block": [64],
               "args": ["x", "out", "rows", "width"]}]}
*/
extern "C" __global__ void exponential_units(const float* x, float* out, int rows, int width) {
  const long long i = blockIdx.x * 64LL + threadIdx.x;
  if (i < (long long)rows * width) out[i] = x[i] > 0 ? x[i] : expm1f(x[i]);
}
