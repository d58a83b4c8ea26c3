/* kernelwright
{
  "problem": "attention_f16",
  "backends": ["cpu"],
  "description": "one thread to BLOCK rows: tiles of KEYS keys converted once, DOWN rows of scores in registers",
  "tunables": {"ROWS": [64, 32, 128], "KEYS": [32, 16, 64], "DOWN": [4, 2, 8], "ACROSS": [32, 16, 64]},
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(S, ROWS)", "B * H", 1], "block": [1, 1, 1],
     "shared_bytes": "4 * (2 * ROWS * D + 2 * KEYS * D + ROWS * KEYS)", "args": ["q", "k", "v", "o", "S", "D"]}
  ]
}
*/
// o[i] = sum_{j <= i} p[j] v[j], p = softmax_{j <= i}(q[i] . k[j] / sqrt(D)); q, k, v, o: [B * H, S, D]; D: 64 or 128.
//
// A tile of KEYS keys is transposed and converted to float once for all ROWS rows; scores of DOWN rows and, later,
// ACROSS columns of as many rows of o are kept in registers. The tiles lie in shared memory: a thread's stack is 64 KiB
// there. exp is a polynomial of full fp32 precision, so that it is vectorised.
#include <cuda_fp16.h>

typedef _Float16 Halves __attribute__((vector_size(32), aligned(2)));
typedef float Floats __attribute__((vector_size(64), aligned(4)));

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

__device__ __forceinline__ void to_floats(const _Float16* from, float* to, int count) {
  for (int d = 0; d < count; d += 16) *(Floats*)(to + d) = __builtin_convertvector(*(const Halves*)(from + d), Floats);
}

template <int D>
__device__ void rows_of(const _Float16* q, const _Float16* k, const _Float16* v, __half* o, int first, int S) {
  extern __shared__ __align__(64) float shared[];
  float(*__restrict__ queries)[D] = (float(*)[D])shared;
  float(*__restrict__ out)[D] = queries + ROWS;
  float(*__restrict__ values)[D] = out + ROWS;
  float(*__restrict__ keys)[KEYS] = (float(*)[KEYS])(values + KEYS);
  float(*__restrict__ weights)[KEYS] = keys + D;
  float largest[ROWS], total[ROWS];
  const int rows = S - first < ROWS ? S - first : ROWS;
  const float scale = 1.0f / sqrtf((float)D);
  for (int r = 0; r < ROWS; ++r) {
    largest[r] = -3.0e38f;
    total[r] = 0;
    for (int d = 0; d < D; ++d) out[r][d] = 0;
    if (r < rows) {
      to_floats(q + (size_t)(first + r) * D, queries[r], D);
    } else {
      for (int d = 0; d < D; ++d) queries[r][d] = 0;
    }
  }
  for (int j0 = 0; j0 < first + rows; j0 += KEYS) {
    const int held = S - j0 < KEYS ? S - j0 : KEYS;
    for (int j = 0; j < KEYS; ++j) {
      float row[D];
      if (j < held) {
        to_floats(k + (size_t)(j0 + j) * D, row, D);
        to_floats(v + (size_t)(j0 + j) * D, values[j], D);
      } else {
        for (int d = 0; d < D; ++d) row[d] = values[j][d] = 0;
      }
      for (int d = 0; d < D; ++d) keys[d][j] = row[d];
    }
    for (int r0 = 0; r0 < ROWS; r0 += DOWN) {
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
          scores[r][j] = j <= seen ? scores[r][j] * scale : -INFINITY;
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
    for (int d = 0; d < D; d += 16) {
      *(Halves*)((_Float16*)o + (size_t)(first + r) * D + d) =
          __builtin_convertvector(*(const Floats*)(out[r] + d) * share, Halves);
    }
  }
}

extern "C" __global__ void attention(const __half* __restrict__ q, const __half* __restrict__ k,
                                     const __half* __restrict__ v, __half* __restrict__ o, int S, int D) {
  const size_t head = (size_t)blockIdx.y * S * D;
  const _Float16 *queries = (const _Float16*)q + head, *keys = (const _Float16*)k + head,
                 *values = (const _Float16*)v + head;
  if (D == 64) {
    rows_of<64>(queries, keys, values, o + head, blockIdx.x * ROWS, S);
  } else {
    rows_of<128>(queries, keys, values, o + head, blockIdx.x * ROWS, S);
  }
}
