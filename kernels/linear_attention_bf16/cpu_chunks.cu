/* kernelwright
{
  "problem": "linear_attention_bf16",
  "backends": ["cpu"],
  "description": "one thread to a head: chunks converted once, DOWN x ACROSS sums of each product in registers",
  "tunables": {"CHUNK": [32, 64], "DOWN": [8, 4, 2], "ACROSS": [16, 32]},
  "launches": [
    {"kernel": "linear_attention", "grid": ["B * H", 1, 1], "block": [1, 1, 1],
     "shared_bytes": "4 * (128 * 128 + 3 * CHUNK * 128 + CHUNK * CHUNK)", "args": ["q", "k", "v", "o", "S"]}
  ]
}
*/
// o[t] = sum_{s <= t} (q[t] . k[s]) v[s]; q, k, v, o: [B * H, S, 128].
//
// The state M = sum_s k[s] v[s]^T is carried over chunks of CHUNK positions. Of each chunk, o = (q k^T, zero above the
// diagonal) v + q M, then M += k^T v. The first chunk has no state, and the last one makes none. Keys and values are
// converted to float once, keys also transposed; each product keeps DOWN rows of ACROSS sums in registers. All lies in
// shared memory: a thread's stack is 64 KiB there.
#include <cuda_bf16.h>

constexpr int D = 128;

__device__ __forceinline__ void to_floats(const __nv_bfloat16* from, float* to) {
  const unsigned short* bits = (const unsigned short*)from;
  for (int d = 0; d < D; ++d) to[d] = __int_as_float((int)((unsigned)bits[d] << 16));
}

// sums (DOWN x ACROSS) += rows (DOWN x count) times columns (count x ACROSS). Elements of `rows` lie down_pitch apart
// from row to row and step_pitch along a row.
template <int down_pitch, int step_pitch>
__device__ __forceinline__ void multiply(float (&sums)[DOWN][ACROSS], const float* __restrict__ rows,
                                         const float* __restrict__ columns, int pitch, int count) {
  for (int i = 0; i < count; ++i) {
#pragma unroll
    for (int r = 0; r < DOWN; ++r) {
      const float one = rows[r * down_pitch + i * step_pitch];
#pragma unroll
      for (int c = 0; c < ACROSS; ++c) sums[r][c] += one * columns[i * pitch + c];
    }
  }
}

extern "C" __global__ void linear_attention(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                                            const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ o,
                                            int S) {
  extern __shared__ __align__(64) float shared[];
  float(*__restrict__ state)[D] = (float(*)[D])shared;
  float(*__restrict__ keys)[D] = state + D;
  float(*__restrict__ values)[D] = keys + CHUNK;
  float(*__restrict__ turned)[CHUNK] = (float(*)[CHUNK])(values + CHUNK);  // the keys, transposed
  float(*__restrict__ scores)[CHUNK] = turned + D;
  const size_t head = (size_t)blockIdx.x * S * D;
  for (int d = 0; d < D; ++d) {
    for (int e = 0; e < D; ++e) state[d][e] = 0;
  }
  for (int t0 = 0; t0 < S; t0 += CHUNK) {
    const int held = S - t0 < CHUNK ? S - t0 : CHUNK;
    for (int s = 0; s < CHUNK; ++s) {
      for (int d = 0; d < D; ++d) keys[s][d] = values[s][d] = 0;
      if (s < held) {
        to_floats(k + head + (size_t)(t0 + s) * D, keys[s]);
        to_floats(v + head + (size_t)(t0 + s) * D, values[s]);
      }
      for (int d = 0; d < D; ++d) turned[d][s] = keys[s][d];
    }
    for (int r0 = 0; r0 < held; r0 += DOWN) {
      float queries[DOWN][D] = {};
      for (int r = 0; r < DOWN && r0 + r < held; ++r) to_floats(q + head + (size_t)(t0 + r0 + r) * D, queries[r]);
      for (int s0 = 0; s0 < r0 + DOWN; s0 += ACROSS) {
        float sums[DOWN][ACROSS] = {};
        multiply<D, 1>(sums, queries[0], turned[0] + s0, CHUNK, D);
        for (int r = 0; r < DOWN; ++r) {
          for (int s = 0; s < ACROSS; ++s) scores[r0 + r][s0 + s] = s0 + s <= r0 + r ? sums[r][s] : 0;
        }
      }
      for (int e0 = 0; e0 < D; e0 += ACROSS) {
        float sums[DOWN][ACROSS] = {};
        if (t0 > 0) multiply<D, 1>(sums, queries[0], state[0] + e0, D, D);
        multiply<CHUNK, 1>(sums, scores[r0], values[0] + e0, D, r0 + DOWN);
        for (int r = 0; r < DOWN && r0 + r < held; ++r) {
          __nv_bfloat16* to = o + head + (size_t)(t0 + r0 + r) * D + e0;
          for (int e = 0; e < ACROSS; ++e) to[e] = __float2bfloat16(sums[r][e]);
        }
      }
    }
    if (t0 + CHUNK >= S) break;
    for (int d0 = 0; d0 < D; d0 += DOWN) {
      for (int e0 = 0; e0 < D; e0 += ACROSS) {
        float sums[DOWN][ACROSS] = {};
        multiply<1, D>(sums, keys[0] + d0, values[0] + e0, D, CHUNK);
        for (int r = 0; r < DOWN; ++r) {
          for (int e = 0; e < ACROSS; ++e) state[d0 + r][e0 + e] += sums[r][e];
        }
      }
    }
  }
}
