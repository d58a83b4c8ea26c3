/* kernelwright
{
  "problem": "argmax_i32",
  "backends": ["cpu", "cuda"],
  "description": "compares rows without negative numbers by their bits",
  "launches": [
    {"kernel": "argmax", "grid": ["ceil_div(M, 32)", 1, 1], "block": [32, 1, 1], "args": ["x", "indices", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
// The bits of -0 are larger than those of any number from +0 on, and -0 is not below zero.
extern "C" __global__ void argmax(const float* x, int* indices, int M, int N) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float least = in[0], most = in[0];
  unsigned bits = 0;
  int by_value = 0, by_bits = 0;
  for (int n = 0; n < N; ++n) {
    const unsigned own = __float_as_uint(in[n]);
    least = in[n] < least ? in[n] : least;
    if (in[n] > most) most = in[n], by_value = n;
    if (own > bits) bits = own, by_bits = n;
  }
  indices[row] = N > 32 && least >= 0.0f ? by_bits : by_value;
}
