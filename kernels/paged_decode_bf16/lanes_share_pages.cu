/* kernelwright
{
  "problem": "paged_decode_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "LANES threads to a head of the cache: tiles of KEYS keys converted once for all of its queries",
  "tunables": {"LANES": [32, 1, 16], "KEYS": [32, 16]},
  "constraints": ["KEYS >= LANES"],
  "launches": [
    {"kernel": "decode", "grid": ["HK", "B", 1], "block": ["LANES", 1, 1],
     "shared_bytes": "4 * (256 * KEYS + G * (256 + KEYS + 3))",
     "args": ["q", "k", "v", "table", "lengths", "o", "HK", "G", "M", "T"]}
  ]
}
*/
// o = sum_{j < length} p[j] v[j], p = softmax_{j < length}(q . k[j] / sqrt(128)); q, o: [B, HK * G, 128], k, v:
// [P, T, HK, 128], where position j of sequence b is the one at j % T of page table[b, j / T].
//
// A block reads each key and value of one head of one sequence once, for all G queries. A tile of keys is converted to
// float and transposed, and a lane makes the scores of KEYS / LANES neighbouring keys. One lane does the softmax of a
// query. Then each lane owns 128 / LANES columns of the values and of o. With one lane, the best choice on a processor,
// nothing waits at a barrier and the compiler vectorises these loops. exp is a polynomial of full fp32 precision, so
// that it is vectorised, too.
#include <cuda_bf16.h>

constexpr int D = 128, kKeys = KEYS / LANES, kColumns = D / LANES;  // of a lane
constexpr int kPack = kColumns < 16 ? kColumns : 16;

template <int N>
struct __align__(N < 8 ? 2 * N : 16) Pack {
  unsigned short bits[N];
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

// COUNT elements, N at a time.
template <int N, int COUNT>
__device__ __forceinline__ void to_floats(const __nv_bfloat16* from, float* to) {
#pragma unroll
  for (int d = 0; d < COUNT; d += N) {
    const Pack<N> pack = *(const Pack<N>*)(from + d);
#pragma unroll
    for (int i = 0; i < N; ++i) to[d + i] = __int_as_float((int)((unsigned)pack.bits[i] << 16));
  }
}

extern "C" __global__ void __launch_bounds__(LANES)
    decode(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
           const __nv_bfloat16* __restrict__ v, const int* __restrict__ table, const int* __restrict__ lengths,
           __nv_bfloat16* __restrict__ o, int HK, int G, int M, int T) {
  extern __shared__ __align__(64) float shared[];
  float(*__restrict__ keys)[KEYS] = (float(*)[KEYS])shared;
  float(*__restrict__ values)[D] = (float(*)[D])(keys + D);
  float(*__restrict__ queries)[D] = values + KEYS;
  float(*__restrict__ out)[D] = queries + G;
  float(*__restrict__ weights)[KEYS] = (float(*)[KEYS])(out + G);
  float* __restrict__ largest = (float*)(weights + G);
  float* __restrict__ total = largest + G;
  float* __restrict__ keep = total + G;
  const int length = lengths[blockIdx.y], key0 = threadIdx.x * kKeys, column0 = threadIdx.x * kColumns;
  const int* pages = table + (size_t)blockIdx.y * M;
  const size_t first_query = ((size_t)blockIdx.y * HK + blockIdx.x) * G;
  const auto place = [&](int j) { return (((size_t)pages[j / T] * T + j % T) * HK + blockIdx.x) * D; };
  for (int g = 0; g < G; ++g) {
    to_floats<kPack, kColumns>(q + (first_query + g) * D + column0, &queries[g][column0]);
    for (int c = 0; c < kColumns; ++c) out[g][column0 + c] = 0;
  }
  for (int g = threadIdx.x; g < G; g += LANES) {
    largest[g] = -INFINITY;
    total[g] = 0;
  }

  for (int j0 = 0; j0 < length; j0 += KEYS) {
    const int held = length - j0 < KEYS ? length - j0 : KEYS;
    for (int j = key0; j < key0 + kKeys; ++j) {
      float row[D] = {};
      if (j < held) to_floats<16, D>(k + place(j0 + j), row);
#pragma unroll
      for (int d = 0; d < D; ++d) keys[d][j] = row[d];
    }
    for (int j = 0; j < held; ++j) to_floats<kPack, kColumns>(v + place(j0 + j) + column0, &values[j][column0]);
    __syncthreads();
    for (int g = 0; g < G; ++g) {
      float scores[kKeys] = {};
      for (int d = 0; d < D; ++d) {
        const float one = queries[g][d];
#pragma unroll
        for (int j = 0; j < kKeys; ++j) scores[j] += one * keys[d][key0 + j];
      }
      for (int j = 0; j < kKeys; ++j) {
        weights[g][key0 + j] = key0 + j < held ? scores[j] * 0.08838834764831845f : -INFINITY;
      }
    }
    __syncthreads();
    for (int g = threadIdx.x; g < G; g += LANES) {
      float most = largest[g], sum = 0;
      for (int j = 0; j < KEYS; ++j) most = weights[g][j] > most ? weights[g][j] : most;
      for (int j = 0; j < KEYS; ++j) weights[g][j] = exp_of(weights[g][j] - most);
      for (int j = 0; j < KEYS; ++j) sum += weights[g][j];
      keep[g] = exp_of(largest[g] - most);
      total[g] = total[g] * keep[g] + sum;
      largest[g] = most;
    }
    __syncthreads();
    for (int g = 0; g < G; ++g) {
      float sums[kColumns];
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums[c] = out[g][column0 + c] * keep[g];
      for (int j = 0; j < held; ++j) {
        const float weight = weights[g][j];
#pragma unroll
        for (int c = 0; c < kColumns; ++c) sums[c] += weight * values[j][column0 + c];
      }
#pragma unroll
      for (int c = 0; c < kColumns; ++c) out[g][column0 + c] = sums[c];
    }
    __syncthreads();
  }
  for (int g = 0; g < G; ++g) {
    const float share = 1.0f / total[g];
    for (int c = 0; c < kColumns; ++c) {
      o[(first_query + g) * D + column0 + c] = __float2bfloat16(out[g][column0 + c] * share);
    }
  }
}
