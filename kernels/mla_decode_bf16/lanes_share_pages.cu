/* kernelwright
{
  "problem": "mla_decode_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "LANES threads to HEADS heads of a sequence: each key is converted to float once for all of them",
  "tunables": {"LANES": [64, 1, 32], "HEADS": [8, 4], "KEYS": [8, 16]},
  "constraints": ["HEADS * KEYS >= LANES"],
  "launches": [
    {"kernel": "decode", "grid": ["H / HEADS", "B", 1], "block": ["LANES", 1, 1],
     "shared_bytes": "4 * (KEYS * 580 + HEADS * (580 + 512 + KEYS + 3))",
     "args": ["q", "cache", "table", "lengths", "o", "scale", "H", "M"]}
  ]
}
*/
// o = sum_{j < length} p[j] c[j], p = softmax_{j < length}(scale * (q . c[j])); q: [B, H, 576], o: [B, H, 512]; c[j]
// is position j % 64 of page table[b, j / 64] of the cache [P, 64, 576], its first 512 elements are the value.
//
// A block converts KEYS keys to float at a time, which serve HEADS heads, first as keys, then as values. A thread makes
// scores of kHeads x kKeys neighbours with eight running sums each. One thread does the softmax of a head. Then each
// thread owns 512 / LANES columns of o. With one thread, the best choice on a processor, nothing waits at a barrier and
// the compiler vectorises these loops. exp is a polynomial of full fp32 precision, so that it is vectorised, too.
#include <cuda_bf16.h>

constexpr int D = 576, kPitch = 580, kColumns = 512;
constexpr int kHeads = LANES == 1 ? 4 : 1, kKeys = LANES == 1 ? 2 : 1;  // scores that a thread makes together
constexpr int kChunk = LANES == 1 ? 16 : 4;                             // neighbouring columns of a thread

struct __align__(16) Eight {
  unsigned short bits[8];
};

// exp(x) for x <= 0; 0 below the least normal number.
__device__ __forceinline__ float exp_of(float x) {
  const float clamped = fmaxf(x, -87.0f);
  const float shifted = clamped * 1.44269504f + 12582912.0f;
  const float k = shifted - 12582912.0f;
  const float r = (clamped - k * 0.693359375f) + k * 2.12194440e-4f;
  float p = 1.98412698e-4f;
  p = p * r + 1.38888889e-3f;
  p = p * r + 8.33333333e-3f;
  p = p * r + 4.16666667e-2f;
  p = p * r + 1.66666667e-1f;
  p = p * r + 0.5f;
  p = p * r * r + r + 1.0f;
  const float power = __int_as_float((__float_as_int(shifted) + 127) << 23);
  return x < -87.0f ? 0.0f : p * power;
}

// Elements 8 * part to 8 * part + 7 of a row of 576.
__device__ __forceinline__ void to_floats(const __nv_bfloat16* row, int part, float* to) {
  const Eight eight = *(const Eight*)(row + 8 * part);
#pragma unroll
  for (int i = 0; i < 8; ++i) to[8 * part + i] = __int_as_float((int)((unsigned)eight.bits[i] << 16));
}

extern "C" __global__ void __launch_bounds__(LANES)
    decode(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ cache, const int* __restrict__ table,
           const int* __restrict__ lengths, __nv_bfloat16* __restrict__ o, float scale, int H, int M) {
  extern __shared__ __align__(64) float shared[];
  float(*__restrict__ keys)[kPitch] = (float(*)[kPitch])shared;
  float(*__restrict__ queries)[kPitch] = keys + KEYS;
  float(*__restrict__ out)[kColumns] = (float(*)[kColumns])(queries + HEADS);
  float(*__restrict__ weights)[KEYS] = (float(*)[KEYS])(out + HEADS);
  float* __restrict__ largest = (float*)(weights + HEADS);
  float* __restrict__ total = largest + HEADS;
  float* __restrict__ keep = total + HEADS;
  const int length = lengths[blockIdx.y], lane = threadIdx.x;
  const int* pages = table + (size_t)blockIdx.y * M;
  const size_t head0 = (size_t)blockIdx.y * H + blockIdx.x * HEADS;
  for (int e = lane; e < HEADS * (D / 8); e += LANES) {
    to_floats(q + (head0 + e / (D / 8)) * D, e % (D / 8), queries[e / (D / 8)]);
  }
  for (int e = lane; e < HEADS * kColumns; e += LANES) out[e / kColumns][e % kColumns] = 0;
  for (int h = lane; h < HEADS; h += LANES) {
    largest[h] = -INFINITY;
    total[h] = 0;
  }

  for (int j0 = 0; j0 < length; j0 += KEYS) {
    const int held = length - j0 < KEYS ? length - j0 : KEYS;
    // A page has a multiple of KEYS positions, so these rows lie one after another, behind the length as well.
    const __nv_bfloat16* rows = cache + ((size_t)pages[j0 / 64] * 64 + j0 % 64) * D;
    for (int e = lane; e < KEYS * (D / 8); e += LANES) {
      to_floats(rows + e / (D / 8) * D, e % (D / 8), keys[e / (D / 8)]);
    }
    __syncthreads();
    for (int e = lane; e < HEADS / kHeads * (KEYS / kKeys); e += LANES) {
      const int h0 = e / (KEYS / kKeys) * kHeads, k0 = e % (KEYS / kKeys) * kKeys;
      float sums[kHeads][kKeys][8] = {};
      for (int d = 0; d < D; d += 8) {
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
#pragma unroll
          for (int k = 0; k < kKeys; ++k) {
#pragma unroll
            for (int i = 0; i < 8; ++i) sums[h][k][i] += queries[h0 + h][d + i] * keys[k0 + k][d + i];
          }
        }
      }
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
#pragma unroll
        for (int k = 0; k < kKeys; ++k) {
          const float* s = sums[h][k];
          const float score = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
          weights[h0 + h][k0 + k] = k0 + k < held ? score * scale : -INFINITY;
        }
      }
    }
    __syncthreads();
    for (int h = lane; h < HEADS; h += LANES) {
      float most = largest[h], sum = 0;
      for (int j = 0; j < KEYS; ++j) most = weights[h][j] > most ? weights[h][j] : most;
      for (int j = 0; j < KEYS; ++j) weights[h][j] = exp_of(weights[h][j] - most);
      for (int j = 0; j < KEYS; ++j) sum += weights[h][j];
      keep[h] = exp_of(largest[h] - most);
      total[h] = total[h] * keep[h] + sum;
      largest[h] = most;
    }
    __syncthreads();
    for (int c = lane * kChunk; c < kColumns; c += LANES * kChunk) {
      for (int h0 = 0; h0 < HEADS; h0 += 4) {
        float sums[4][kChunk];
#pragma unroll
        for (int h = 0; h < 4; ++h) {
#pragma unroll
          for (int i = 0; i < kChunk; ++i) sums[h][i] = out[h0 + h][c + i] * keep[h0 + h];
        }
        for (int j = 0; j < KEYS; ++j) {
#pragma unroll
          for (int h = 0; h < 4; ++h) {
            const float weight = weights[h0 + h][j];
#pragma unroll
            for (int i = 0; i < kChunk; ++i) sums[h][i] += weight * keys[j][c + i];
          }
        }
#pragma unroll
        for (int h = 0; h < 4; ++h) {
#pragma unroll
          for (int i = 0; i < kChunk; ++i) out[h0 + h][c + i] = sums[h][i];
        }
      }
    }
    __syncthreads();
  }
  for (int e = lane; e < HEADS * kColumns; e += LANES) {
    const int h = e / kColumns;
    o[(head0 + h) * kColumns + e % kColumns] = __float2bfloat16(out[h][e % kColumns] / total[h]);
  }
}
