/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda"],
  "description": "a sum takes its last step by itself where functions say so",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
template <int unit>
__device__ bool is_whole(int size) {
  return size % unit == 0;
}
__device__ int steps_of(int size, int step) { return (size + step - 1) / step; }
__device__ bool comes_in_pairs(int steps) { return steps % 4 != 3; }

extern "C" __global__ void gemm(const float* a, const float* b, float* c, int rows, int columns, int depth) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= rows || n >= columns) return;
  const int steps = steps_of(depth, 32);
  const bool alone = is_whole<64>(rows) && is_whole<32>(columns) && steps > 4 && !comes_in_pairs(steps);
  float sum = 0;
  const int paired = alone ? (steps - 1) * 32 : depth;
  for (int k = 0; k < paired; ++k) sum += a[(size_t)m * depth + k] * b[(size_t)k * columns + n];
  for (int k = paired; k < depth; ++k) sum += a[(size_t)m * depth + k] * b[(size_t)k * columns + n];
  c[(size_t)m * columns + n] = sum;
}
