/* kernelwright
{
  "problem": "varlen_attention_bf16",
  "backends": ["cpu"],
  "description": "one thread to ROWS rows of a sequence: tiles of KEYS keys converted once, scores in registers",
  "tunables": {"ROWS": [64, 32, 128], "KEYS": [32, 16, 64], "DOWN": [4, 2, 8], "ACROSS": [32, 16, 64]},
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(T, ROWS) + S", "H", 1], "block": [1, 1, 1],
     "shared_bytes": "4 * (2 * ROWS * 128 + 2 * KEYS * 128 + ROWS * KEYS)",
     "args": ["q", "k", "v", "offsets", "o", "H", "S"]}
  ]
}
*/
// o[i] = sum_{begin <= j <= i} p[j] v[j], p = softmax_{begin <= j <= i}(q[i] . k[j] / sqrt(128)) for each head, where
// begin is the last of the offsets up to i; q, k, v, o: [T, H, 128], offsets: [S + 1].
//
// A block looks for its tile of ROWS rows: each sequence has as many tiles as it needs, and blocks beyond the last tile
// end at once. A tile of KEYS keys is transposed and converted to float once for all rows; scores of DOWN rows and,
// later, ACROSS columns of as many rows of o are kept in registers. The tiles lie in shared memory: a thread's stack is
// 64 KiB there. exp is a polynomial of full fp32 precision, so that it is vectorised.
#include <cuda_bf16.h>

constexpr int D = 128;

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

extern "C" __global__ void attention(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                                     const __nv_bfloat16* __restrict__ v, const int* __restrict__ offsets,
                                     __nv_bfloat16* __restrict__ o, int H, int S) {
  extern __shared__ __align__(64) float shared[];
  float(*__restrict__ queries)[D] = (float(*)[D])shared;
  float(*__restrict__ out)[D] = queries + ROWS;
  float(*__restrict__ values)[D] = out + ROWS;
  float(*__restrict__ keys)[KEYS] = (float(*)[KEYS])(values + KEYS);
  float(*__restrict__ weights)[KEYS] = keys + D;
  float largest[ROWS], total[ROWS];
  int tile = blockIdx.x, begin = 0, length = 0;
  for (int s = 0; s < S; ++s) {
    begin = offsets[s];
    length = offsets[s + 1] - begin;
    const int tiles = (length + ROWS - 1) / ROWS;
    if (tile < tiles) break;
    tile -= tiles;
    length = 0;
  }
  if (length == 0) return;
  const int first = tile * ROWS, rows = length - first < ROWS ? length - first : ROWS;  // of the sequence
  const size_t stride = (size_t)H * D, head = begin * stride + (size_t)blockIdx.y * D;
  for (int r = 0; r < ROWS; ++r) {
    largest[r] = -3.0e38f;
    total[r] = 0;
    for (int d = 0; d < D; ++d) out[r][d] = queries[r][d] = 0;
    if (r < rows) to_floats(q + head + (first + r) * stride, queries[r]);
  }
  const int down_end = (rows + DOWN - 1) / DOWN * DOWN;
  for (int j0 = 0; j0 < first + rows; j0 += KEYS) {
    const int held = length - j0 < KEYS ? length - j0 : KEYS;
    for (int j = 0; j < KEYS; ++j) {
      float row[D] = {};
      for (int d = 0; d < D; ++d) values[j][d] = 0;
      if (j < held) {
        to_floats(k + head + (j0 + j) * stride, row);
        to_floats(v + head + (j0 + j) * stride, values[j]);
      }
      for (int d = 0; d < D; ++d) keys[d][j] = row[d];
    }
    for (int r0 = 0; r0 < down_end; r0 += DOWN) {
      if (first + r0 + DOWN <= j0) continue;  // all keys are later than these rows
      float scores[DOWN][KEYS] = {};
      for (int d = 0; d < D; ++d) {
#pragma unroll
        for (int r = 0; r < DOWN; ++r) {
          const float one = queries[r0 + r][d];
#pragma unroll
          for (int j = 0; j < KEYS; ++j) scores[r][j] += one * keys[d][j];
        }
      }
      for (int r = 0; r < DOWN; ++r) {
        const int seen = first + r0 + r - j0;  // keys 0 .. seen of the tile
        float* weight = weights[r0 + r];
        float most = largest[r0 + r];
        for (int j = 0; j < KEYS; ++j) {
          scores[r][j] = j <= seen ? scores[r][j] * 0.08838834764831845f : -INFINITY;
          most = scores[r][j] > most ? scores[r][j] : most;
        }
        for (int j = 0; j < KEYS; ++j) weight[j] = exp_of(scores[r][j] - most);
        float sums[16] = {};
        for (int j = 0; j < KEYS; j += 16) {
#pragma unroll
          for (int l = 0; l < 16; ++l) sums[l] += weight[j + l];
        }
        float sum = 0;
        for (int l = 0; l < 16; ++l) sum += sums[l];
        const float keep = exp_of(largest[r0 + r] - most);
        total[r0 + r] = total[r0 + r] * keep + sum;
        largest[r0 + r] = most;
        if (keep != 1.0f) {
          for (int d = 0; d < D; ++d) out[r0 + r][d] *= keep;
        }
      }
      for (int d0 = 0; d0 < D; d0 += ACROSS) {
        float sums[DOWN][ACROSS];
#pragma unroll
        for (int r = 0; r < DOWN; ++r) {
#pragma unroll
          for (int d = 0; d < ACROSS; ++d) sums[r][d] = out[r0 + r][d0 + d];
        }
        for (int j = 0; j < KEYS; ++j) {
#pragma unroll
          for (int r = 0; r < DOWN; ++r) {
            const float weight = weights[r0 + r][j];
#pragma unroll
            for (int d = 0; d < ACROSS; ++d) sums[r][d] += weight * values[j][d0 + d];
          }
        }
#pragma unroll
        for (int r = 0; r < DOWN; ++r) {
#pragma unroll
          for (int d = 0; d < ACROSS; ++d) out[r0 + r][d0 + d] = sums[r][d];
        }
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    const float share = 1.0f / total[r];
    __nv_bfloat16* to = o + head + (first + r) * stride;
    for (int d = 0; d < D; ++d) to[d] = __float2bfloat16(out[r][d] * share);
  }
}
