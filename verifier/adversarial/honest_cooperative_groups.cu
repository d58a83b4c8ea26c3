/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "reduces in tiles of cooperative groups",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 4)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int row = blockIdx.x * 4 + tile.meta_group_rank();
  float sum = 0;
  if (row < M) {
    for (int n = tile.thread_rank(); n < N; n += 16) sum += x[(size_t)row * N + n];
  }
  sum = cg::reduce(tile, sum, cg::plus<float>());
  if (row < M && tile.thread_rank() == 0) y[row] = sum;
}
