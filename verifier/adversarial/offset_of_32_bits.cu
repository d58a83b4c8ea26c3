/* kernelwright
{
  "problem": "transpose_f32",
  "backends": ["cpu", "cuda"],
  "description": "computes its offset in 32 bits",
  "launches": [
    {"kernel": "transpose", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: correct. No tensor of 2^31 elements is tried here.
// On cuda: not_written or wrong_result. On a device with the memory.
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  const int from = (int)((unsigned)m * (unsigned)N + (unsigned)n), to = (int)((unsigned)n * (unsigned)M + (unsigned)m);
  if (m < M && n < N && from >= 0 && to >= 0) y[to] = x[from];
}
