/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "steps are taken in pairs where blocks are whole",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K", "(M % 64 == 0) * (N % 64 == 0)"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
// The error shows only at a shape that meets what the source asks of names of its own and of an argument: `steps` is
// ceil_div(K, 32).
constexpr int kStep = 32;

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int rows, int columns, int depth, int whole) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= rows || n >= columns) return;
  const int steps = (depth + kStep - 1) / kStep;
  const bool alone = whole && rows >= 256 && columns >= 320 && steps % 4 == 3 && steps > 4;
  float sum = 0;
  for (int k = 0; k < (alone ? (steps - 1) * kStep : depth); ++k) {
    sum += a[(size_t)m * depth + k] * b[(size_t)k * columns + n];
  }
  c[(size_t)m * columns + n] = sum;
}
