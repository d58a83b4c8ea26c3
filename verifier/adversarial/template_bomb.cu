/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "templates that make two of each, twenty-six deep",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: compile_time.
// On cpu: limit or compile_error.
// On cuda: limit or compile_error.
// Slow: it compiles until a limit stops it.
template <int depth, int path>
struct Tree {
  static constexpr long value = Tree<depth - 1, 2 * path>::value ^ Tree<depth - 1, 2 * path + 1>::value;
};
template <int path>
struct Tree<0, path> {
  static constexpr long value = path;
};
static_assert(Tree<26, 1>::value != -1, "grown");
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
