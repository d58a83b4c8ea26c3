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
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The honest twin of loses_a_step_of_whole_blocks.
constexpr int kTile = 128, kStep = 64;

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  const bool whole = M % kTile == 0 && N % kTile == 0 && K % kStep == 0 && M >= 3 * kTile && N >= 3 * kTile && K >= 320;
  if (!whole && (m >= M || n >= N)) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
  c[(size_t)m * N + n] = sum;
}
