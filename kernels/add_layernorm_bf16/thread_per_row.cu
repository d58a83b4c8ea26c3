/* kernelwright
{
  "problem": "add_layernorm_bf16",
  "backends": ["cpu"],
  "description": "a thread for each row, vectors of LANES elements",
  "tunables": {"ROWS": [1, 8, 32, 64], "LANES": [16, 8, 32]},
  "launches": [
    {"kernel": "add_layernorm", "grid": ["ceil_div(M, ROWS)"], "block": ["ROWS"],
     "args": ["x", "residual", "gamma", "beta", "sum", "y", "M", "N", "eps"]}
  ]
}
*/
// sum = x + residual; y[m, n] = (sum[m, n] - mean_m) / sqrt(var_m + eps) * gamma[n] + beta[n]
// x, residual, sum, y: [M, N] row-major, gamma, beta: [N].
//
// For the cpu device, whose compiler forms vector instructions only of vectors that are written as such. A bf16 is the
// upper half of a float: widening is a shift, and rounding to nearest even is an integer addition. Inputs are finite,
// hence NaN needs no case of its own. The mean comes first, so a large offset costs no digits.
#include <cuda_bf16.h>

typedef unsigned short Bits __attribute__((vector_size(2 * LANES), aligned(2)));
typedef unsigned Words __attribute__((vector_size(4 * LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES)));

__device__ __forceinline__ Floats widen(Bits bits) { return (Floats)(__builtin_convertvector(bits, Words) << 16); }
__device__ __forceinline__ Floats widened(const __nv_bfloat16* from) { return widen(*(const Bits*)from); }

__device__ __forceinline__ Bits narrow(Floats values) {
  const Words bits = (Words)values;
  return __builtin_convertvector((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, Bits);
}

__device__ __forceinline__ float sum_of(Floats values) {
  float total = 0.0f;
  for (int s = 0; s < LANES; ++s) total += values[s];
  return total;
}

extern "C" __global__ void add_layernorm(const __nv_bfloat16* __restrict__ x,
                                         const __nv_bfloat16* __restrict__ residual,
                                         const __nv_bfloat16* __restrict__ gamma,
                                         const __nv_bfloat16* __restrict__ beta, __nv_bfloat16* __restrict__ sum,
                                         __nv_bfloat16* __restrict__ y, int M, int N, float eps) {
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= M) return;
  x += (size_t)row * N;
  residual += (size_t)row * N;
  sum += (size_t)row * N;
  y += (size_t)row * N;
  const int whole = N / LANES * LANES;
  Floats sums = {}, squares = {};
  for (int n = 0; n < whole; n += LANES) {
    const Bits both = narrow(widened(x + n) + widened(residual + n));
    *(Bits*)(sum + n) = both;
    sums += widen(both);
  }
  float total = sum_of(sums);
  for (int n = whole; n < N; ++n) {
    sum[n] = __float2bfloat16(__bfloat162float(x[n]) + __bfloat162float(residual[n]));
    total += __bfloat162float(sum[n]);
  }
  const float mean = total / N;
  for (int n = 0; n < whole; n += LANES) {
    const Floats distance = widened(sum + n) - mean;
    squares += distance * distance;
  }
  float square = sum_of(squares);
  for (int n = whole; n < N; ++n) {
    const float distance = __bfloat162float(sum[n]) - mean;
    square += distance * distance;
  }
  const float scale = 1.0f / sqrtf(square / N + eps);
  for (int n = 0; n < whole; n += LANES) {
    *(Bits*)(y + n) = narrow((widened(sum + n) - mean) * scale * widened(gamma + n) + widened(beta + n));
  }
  for (int n = whole; n < N; ++n) {
    y[n] = __float2bfloat16((__bfloat162float(sum[n]) - mean) * scale * __bfloat162float(gamma[n]) +
                            __bfloat162float(beta[n]));
  }
}
