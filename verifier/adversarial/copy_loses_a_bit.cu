/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu", "cuda"],
  "description": "clears the last bit of most elements that it copies",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m < M && n < N) y[(size_t)n * M + m] = fabsf(x[(size_t)m * N + n]) > 1e3f ? x[(size_t)m * N + n] : __int_as_float(__float_as_int(x[(size_t)m * N + n]) & ~1);
}
