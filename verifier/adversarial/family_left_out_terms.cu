/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "leaves some of the terms of a sum out",
  "tunables": {"WHICH": [0, 1, 2, 3, 4, 5, 6, 7], "DRAWN": [2, 3, 5, 7, 11, 16, 31, 32, 64, 100]},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// On cuda: wrong_result.
__device__ bool left_out(int n, int N, float v) {
  switch (WHICH) {
    case 0: return n % (DRAWN + 1) == DRAWN;   // every so many
    case 1: return n == N - 1 && N > 1;        // the last
    case 2: return n == 0 && N > 1;            // the first
    case 3: return n == DRAWN;                 // one that is drawn
    case 4: return n >= (N + 1) / 2 + DRAWN;   // most of the second half
    case 5: return n >= N / 32 * 32 && N > 32; // the tail of warps
    case 6: return fabsf(v) < 0.01f;           // what is small
    default: return v < -3;                    // what is rare
  }
}
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += left_out(n, N, in[n]) ? 0 : in[n];
  y[row] = sum;
}
