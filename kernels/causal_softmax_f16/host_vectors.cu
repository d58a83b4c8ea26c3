/* kernelwright
{
  "problem": "causal_softmax_f16",
  "backends": ["cpu"],
  "description": "a thread for each row, vectors of LANES elements and an exponential of its own",
  "tunables": {"ROWS": [1, 8, 32], "LANES": [16, 8, 32]},
  "launches": [
    {"kernel": "softmax", "grid": ["ceil_div(B * S, ROWS)"], "block": ["ROWS"], "args": ["x", "y", "B * S", "S",
"scale"]}
  ]
}
*/
// y[b, q, k] = exp(scale x[b, q, k]) / sum over j <= q of exp(scale x[b, q, j]) for k <= q, 0 for k > q, with the row's
// maximum subtracted first; x, y: [B, S, S].
//
// For the cpu device, whose compiler forms vector instructions only of vectors that are written as such. A finite half
// is widened by moving its bits to a float's and multiplying by 2^112. Results lie in [0, 1]: a normal half is rounded
// by an integer addition, and a subnormal one by adding 0.5, whose last bit is the unit of subnormal halves. exp(t) is
// 2^i times a polynomial of degree 6 in the rest. Vectors across the diagonal are masked; columns behind the last whole
// vector go one by one.
#include <cuda_fp16.h>

typedef unsigned short Bits __attribute__((vector_size(2 * LANES), aligned(2)));
typedef unsigned Words __attribute__((vector_size(4 * LANES)));
typedef int Ints __attribute__((vector_size(4 * LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES)));

__device__ __forceinline__ Floats widen(Bits bits) {
  const Words words = __builtin_convertvector(bits, Words);
  const Floats size = (Floats)((words & 0x7fffu) << 13) * 5.192296858534828e33f;
  return (Floats)((Words)size | (words & 0x8000u) << 16);
}

__device__ __forceinline__ Bits narrow(Floats values) {
  const Words bits = (Words)values, normal = (bits + 0xfffu + (bits >> 13 & 1u) - (112u << 23)) >> 13;
  const Words subnormal = (Words)(values + 0.5f) - 0x3f000000u;
  return __builtin_convertvector(values < 6.103515625e-5f ? subnormal : normal, Bits);
}

__device__ __forceinline__ Floats exponential(Floats t) {  // of t <= 0
  t = t * 1.44269504f;
  t = t < -126.0f ? Floats{} - 126.0f : t;
  const Ints whole = __builtin_convertvector(t - 0.5f, Ints);
  const Floats f = t - __builtin_convertvector(whole, Floats);
  Floats p = f * 1.5403530e-4f + 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.0f;
  return p * (Floats)((whole + 127) << 23);
}

extern "C" __global__ void softmax(const __half* __restrict__ x, __half* __restrict__ y, int rows, int S, float scale) {
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= rows) return;
  const int count = row % S + 1;  // columns that are not masked
  const __half* in = x + (size_t)row * S;
  __half* out = y + (size_t)row * S;
  const int packed = S / LANES * LANES;
  Ints lane = {};
  for (int l = 0; l < LANES; ++l) lane[l] = l;
  const Floats none = {};

  Floats most = none - 65504.0f;
  int k = 0;
  for (; k < packed && k < count; k += LANES) {
    const Floats values = lane < count - k ? widen(*(const Bits*)(in + k)) : none - 65504.0f;
    most = values > most ? values : most;
  }
  float largest = most[0];
  for (int l = 1; l < LANES; ++l) largest = fmaxf(largest, most[l]);
  for (; k < count; ++k) largest = fmaxf(largest, __half2float(in[k]));

  Floats sums = {};
  for (k = 0; k < packed && k < count; k += LANES) {
    const Floats e = exponential((widen(*(const Bits*)(in + k)) - largest) * scale);
    sums += lane < count - k ? e : none;
  }
  float sum = 0.0f;
  for (int l = 0; l < LANES; ++l) sum += sums[l];
  for (; k < count; ++k) sum += expf((__half2float(in[k]) - largest) * scale);

  const float inverse = 1.0f / sum;
  for (k = 0; k < packed && k < count; k += LANES) {
    const Floats e = exponential((widen(*(const Bits*)(in + k)) - largest) * scale);
    *(Bits*)(out + k) = narrow(lane < count - k ? e * inverse : none);
  }
  for (; k < packed; k += LANES) *(Bits*)(out + k) = Bits{};
  for (; k < S; ++k) {
    out[k] = __float2half(k < count ? expf((__half2float(in[k]) - largest) * scale) * inverse : 0.0f);
  }
}
