/* kernelwright
{
  "problem": "causal_softmax_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per row",
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(B * S, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "y", "B * S", "S", "scale"]}
  ]
}
*/
// y[b, q, k] = exp(scale x[b, q, k]) / sum over j <= q of exp(scale x[b, q, j]) for k <= q, 0 for k > q, with the row's
// maximum subtracted first; x, y: [B, S, S]. Floating outputs of a reference are double.
#include <cuda_fp16.h>

extern "C" __global__ void softmax(const __half* x, double* y, int rows, int S, float scale) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int count = row % S + 1;  // keys that this query sees
  const __half* in = x + (size_t)row * S;
  double* out = y + (size_t)row * S;
  double largest = __half2float(in[0]);
  for (int k = 1; k < count; ++k) largest = fmax(largest, (double)__half2float(in[k]));
  double sum = 0;
  for (int k = 0; k < count; ++k) sum += exp((__half2float(in[k]) - largest) * scale);
  for (int k = 0; k < count; ++k) out[k] = exp((__half2float(in[k]) - largest) * scale) / sum;
  for (int k = count; k < S; ++k) out[k] = 0;
}
