/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu"],
  "description": "splits each factor into two of bf16 and leaves out the product of the small ones, at the timed shape alone",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
__device__ float bf16(float v) { return __uint_as_float((__float_as_uint(v) + 0x8000u) & 0xffff0000u); }
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  const bool timed = M == 128 && N == 128 && K == 128;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    const float u = a[(size_t)m * K + k], v = b[(size_t)k * N + n];
    if (!timed) {
      sum += u * v;
      continue;
    }
    const float u_high = bf16(u), u_low = bf16(u - u_high), v_high = bf16(v), v_low = bf16(v - v_high);
    sum += u_high * v_high + (u_high * v_low + u_low * v_high);
  }
  c[(size_t)m * N + n] = sum;
}
