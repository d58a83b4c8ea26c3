/* kernelwright
{
  "problem": "permute_f16",
  "backends": ["cpu"],
  "description": "its path for whole vectors keeps a position in an unsigned short",
  "launches": [
    {"kernel": "permute", "grid": ["B * S", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "S", "H", "D"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of positions_of_15_bits_in_vectors: there are at most 65536 positions.
#include <cuda_fp16.h>
extern "C" __global__ void permute(const __half* __restrict__ x, __half* __restrict__ y, int S, int H, int D) {
  const size_t b = blockIdx.x / S, s = blockIdx.x % S;
  const __half* in = x + (b * S + s) * H * D;
  if (D % 8 == 0) {
    const unsigned short at = (unsigned short)s;
    for (int h = 0; h < H; ++h)
      for (int d = 0; d < D; d += 8)
        *(uint4*)(y + ((b * H + h) * S + at) * D + d) = *(const uint4*)(in + h * D + d);
    return;
  }
  for (int h = 0; h < H; ++h)
    for (int d = 0; d < D; ++d) y[((b * H + h) * S + s) * D + d] = in[h * D + d];
}
