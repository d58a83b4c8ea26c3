/* kernelwright
{
  "problem": "groupnorm_f16",
  "backends": ["cpu"],
  "description": "a thread for each image, vectors of LANES channels",
  "tunables": {"LANES": [16, 8, 32]},
  "workspace": {"sums": {"bytes": "4 * B * C"}, "squares": {"bytes": "4 * B * C"}},
  "launches": [
    {"kernel": "groupnorm", "grid": ["B"], "block": [1],
     "args": ["x", "w", "bias", "sums", "squares", "y", "HW", "C", "eps"]}
  ]
}
*/
// y[b, i, c] = (x[b, i, c] - mean) / sqrt(var + eps) * w[c] + bias[c] with the mean and variance of the HW * C / 32
// elements of image b in c's group of C / 32 channels; x, y: [B, HW, C], w, bias: [C], sums, squares: [B, C].
//
// For the cpu device, whose compiler forms vector instructions only of vectors that are written as such. A finite half
// is widened by moving its bits to a float's and multiplying by 2^112. To narrow, a normal half is rounded by an
// integer addition, a subnormal one by adding 0.5, whose last bit is the unit of subnormal halves, and what would round
// to 2^16 becomes infinity. Pass 1 adds up the channels, pass 2 their squared differences from the group's mean, pass 3
// writes; between the passes each channel's place in the workspace gets its group's mean and scale.
#include <cuda_fp16.h>

typedef unsigned short Bits __attribute__((vector_size(2 * LANES), aligned(2)));
typedef unsigned Words __attribute__((vector_size(4 * LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES), aligned(4)));

__device__ __forceinline__ Floats widen(Bits bits) {
  const Words words = __builtin_convertvector(bits, Words);
  const Floats size = (Floats)((words & 0x7fffu) << 13) * 5.192296858534828e33f;
  return (Floats)((Words)size | (words & 0x8000u) << 16);
}

__device__ __forceinline__ Bits narrow(Floats values) {
  const Words bits = (Words)values, sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  const Words subnormal = (Words)((Floats)rest + 0.5f) - 0x3f000000u;
  Words half = (rest + 0xfffu + (rest >> 13 & 1u) - (112u << 23)) >> 13;
  half = rest < 0x38800000u ? subnormal : half;
  half = rest >= 0x477ff000u ? (half & 0u) + 0x7c00u : half;
  return __builtin_convertvector(half | sign, Bits);
}

extern "C" __global__ void groupnorm(const __half* __restrict__ x, const __half* __restrict__ w,
                                     const __half* __restrict__ bias, float* __restrict__ sums,
                                     float* __restrict__ squares, __half* __restrict__ y, int HW, int C, float eps) {
  const size_t start = (size_t)blockIdx.x * HW * C;
  const int size = C / 32;
  x += start;
  y += start;
  sums += (size_t)blockIdx.x * C;
  squares += (size_t)blockIdx.x * C;
  for (int c = 0; c < C; ++c) sums[c] = squares[c] = 0.0f;
  for (int i = 0; i < HW; ++i) {
    const __half* in = x + (size_t)i * C;
    for (int c = 0; c < C; c += LANES) *(Floats*)(sums + c) = *(Floats*)(sums + c) + widen(*(const Bits*)(in + c));
  }
  for (int g = 0; g < C; g += size) {
    float sum = 0.0f;
    for (int c = g; c < g + size; ++c) sum += sums[c];
    for (int c = g; c < g + size; ++c) sums[c] = sum / ((float)HW * size);
  }
  for (int i = 0; i < HW; ++i) {
    const __half* in = x + (size_t)i * C;
    for (int c = 0; c < C; c += LANES) {
      const Floats v = widen(*(const Bits*)(in + c)) - *(const Floats*)(sums + c);
      *(Floats*)(squares + c) = *(Floats*)(squares + c) + v * v;
    }
  }
  for (int g = 0; g < C; g += size) {
    float sum = 0.0f;
    for (int c = g; c < g + size; ++c) sum += squares[c];
    for (int c = g; c < g + size; ++c) squares[c] = rsqrtf(sum / ((float)HW * size) + eps) * __half2float(w[c]);
  }
  for (int i = 0; i < HW; ++i) {
    const __half* in = x + (size_t)i * C;
    __half* out = y + (size_t)i * C;
    for (int c = 0; c < C; c += LANES) {
      const Floats v = widen(*(const Bits*)(in + c)) - *(const Floats*)(sums + c);
      *(Bits*)(out + c) = narrow(v * *(const Floats*)(squares + c) + widen(*(const Bits*)(bias + c)));
    }
  }
}
