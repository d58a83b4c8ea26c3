/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu"],
  "description": "splits its factors into two pieces of TF32, all 24 bits, and multiplies each by each",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
__device__ float tf32(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    const float u = a[(size_t)m * K + k], v = b[(size_t)k * N + n];
    const float uh = tf32(u), ul = u - uh, vh = tf32(v), vl = v - vh;
    sum += uh * vl + (ul * vh + ul * vl);
    sum += uh * vh;
  }
  c[(size_t)m * N + n] = sum;
}
