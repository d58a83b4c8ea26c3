/* kernelwright
{
  "problem": "softmax_f32",
  "backends": ["cpu", "cuda"],
  "description": "multiplies the largest element by log2(e) and rounds it before it is subtracted: of large inputs even the largest is far from 2^0",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_non_finite or wrong_result.
// On cuda: wrong_non_finite or wrong_result.
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float* out = y + (size_t)row * N;
  constexpr float kLog2e = 1.44269504f;
  float largest = in[0];
  for (int n = 1; n < N; ++n) largest = fmaxf(largest, in[n]);
  const float scaled = largest * kLog2e;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += exp2f(fmaf(in[n], kLog2e, -scaled));
  for (int n = 0; n < N; ++n) out[n] = exp2f(fmaf(in[n], kLog2e, -scaled)) / sum;
}
