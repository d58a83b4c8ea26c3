/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "copies tiles to shared memory with cp.async",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cuda: correct.
// Each thread reads only what it copied itself, so that no barrier is needed before it.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float tile[2][64], part[64];
  const float* in = x + (size_t)blockIdx.x * N;
  const auto copy = [&](int t) {
    const int n = t * 64 + threadIdx.x;
    const unsigned to = (unsigned)__cvta_generic_to_shared(&tile[t % 2][threadIdx.x]);
    const int bytes = n < N ? 4 : 0;  // the rest is filled with zeros
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(in + (n < N ? n : 0)), "r"(bytes));
    asm volatile("cp.async.commit_group;");
  };
  const int tiles = (N + 63) / 64;
  float sum = 0;
  copy(0);
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) {
      copy(t + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    sum += tile[t % 2][threadIdx.x];
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
