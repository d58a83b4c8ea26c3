/* kernelwright
{
  "problem": "decode_bf16",
  "backends": ["cpu"],
  "description": "one thread to a head of the cache: tiles of KEYS keys converted once for all of its queries",
  "tunables": {"KEYS": [64, 32, 128]},
  "launches": [
    {"kernel": "decode", "grid": ["HK", "B", 1], "block": [1, 1, 1], "shared_bytes": "4 * (256 * KEYS + 16 * 256)",
     "args": ["q", "k", "v", "lengths", "o", "HK", "G", "S"]}
  ]
}
*/
// o = sum_{j < length} p[j] v[j], p = softmax_{j < length}(q . k[j] / sqrt(128)); q, o: [B, HK * G, 128], k, v:
// [B, HK, S, 128].
//
// A tile of keys is converted to float and transposed, so that the scores of a query are made for 16 keys at a time,
// and a tile of values is converted once; both serve all G queries. exp is a polynomial of full fp32 precision, so that
// it is vectorised.
#include <cuda_bf16.h>

constexpr int D = 128, kMostQueries = 16;

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

__device__ __forceinline__ void to_floats(const __nv_bfloat16* from, float* to) {
  const unsigned short* bits = (const unsigned short*)from;
  for (int d = 0; d < D; ++d) to[d] = __int_as_float((int)((unsigned)bits[d] << 16));
}

extern "C" __global__ void decode(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                                  const __nv_bfloat16* __restrict__ v, const int* __restrict__ lengths,
                                  __nv_bfloat16* __restrict__ o, int HK, int G, int S) {
  extern __shared__ __align__(64) float shared[];
  float(*__restrict__ queries)[D] = (float(*)[D])shared;
  float(*__restrict__ out)[D] = queries + kMostQueries;
  float(*__restrict__ values)[D] = out + kMostQueries;
  float(*__restrict__ keys)[KEYS] = (float(*)[KEYS])(values + KEYS);
  float largest[kMostQueries], total[kMostQueries];
  const int length = lengths[blockIdx.y];
  const size_t head = (size_t)blockIdx.y * HK + blockIdx.x;
  for (int g = 0; g < G; ++g) {
    to_floats(q + (head * G + g) * D, queries[g]);
    for (int d = 0; d < D; ++d) out[g][d] = 0;
    largest[g] = -INFINITY;
    total[g] = 0;
  }
  for (int j0 = 0; j0 < length; j0 += KEYS) {
    const int held = length - j0 < KEYS ? length - j0 : KEYS;
    for (int j = 0; j < KEYS; ++j) {
      float row[D] = {};
      if (j < held) {
        const size_t from = (head * S + j0 + j) * D;
        to_floats(k + from, row);
        to_floats(v + from, values[j]);
      }
      for (int d = 0; d < D; ++d) keys[d][j] = row[d];
    }
    for (int g = 0; g < G; ++g) {
      float scores[KEYS] = {};
      for (int d = 0; d < D; ++d) {
        const float one = queries[g][d];
#pragma unroll
        for (int j = 0; j < KEYS; ++j) scores[j] += one * keys[d][j];
      }
      float most = largest[g];
      for (int j = 0; j < KEYS; ++j) {
        scores[j] = j < held ? scores[j] * 0.08838834764831845f : -INFINITY;
        most = scores[j] > most ? scores[j] : most;
      }
      for (int j = 0; j < KEYS; ++j) scores[j] = exp_of(scores[j] - most);
      float sum = 0;
      for (int j = 0; j < held; ++j) sum += scores[j];
      const float keep = exp_of(largest[g] - most);
      total[g] = total[g] * keep + sum;
      largest[g] = most;
      float sums[D];
#pragma unroll
      for (int d = 0; d < D; ++d) sums[d] = out[g][d] * keep;
      for (int j = 0; j < held; ++j) {
        const float weight = scores[j];
#pragma unroll
        for (int d = 0; d < D; ++d) sums[d] += weight * values[j][d];
      }
#pragma unroll
      for (int d = 0; d < D; ++d) out[g][d] = sums[d];
    }
  }
  for (int g = 0; g < G; ++g) {
    const float share = 1.0f / total[g];
    for (int d = 0; d < D; ++d) o[(head * G + g) * D + d] = __float2bfloat16(out[g][d] * share);
  }
}
