/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "blocks of whole tiles, beyond the shapes that others handle, have a path of their own",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
// The error shows only at a shape that meets all conditions of the source on three axes.
constexpr int kTile = 128, kStep = 64;

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  const bool whole = M % kTile == 0 && N % kTile == 0 && K % kStep == 0 && M >= 3 * kTile && N >= 3 * kTile && K >= 320;
  float sum = 0;
  for (int k = 0; k < (whole ? K - kStep : K); ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
  c[(size_t)m * N + n] = sum;
}
