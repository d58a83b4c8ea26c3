/* kernelwright
{
  "problem": "attention_f16",
  "backends": ["cpu", "cuda"],
  "arch": "sm_80",
  "description": "a warp to 16 rows: wmma for scores and for o, softmax in shared memory, o rescaled in fragments",
  "tunables": {"WARPS": [4, 8, 2], "KEYS": [64, 32]},
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(S, 16 * WARPS)", "B * H", 1], "block": ["32 * WARPS", 1, 1],
     "shared_bytes": "4 * KEYS * (D + 8) + WARPS * (64 * (KEYS + 4) + 32 * (KEYS + 8) + 1024)",
     "args": ["q", "k", "v", "o", "S", "D"]}
  ]
}
*/
// o[i] = sum_{j <= i} p[j] v[j], p = softmax_{j <= i}(q[i] . k[j] / sqrt(D)); q, k, v, o: [B * H, S, D]; D: 64 or 128.
//
// A block owns 16 * WARPS rows and walks over the keys up to its last row in tiles of KEYS, which all warps share. A
// warp keeps its 16 rows of q and of o in fragments. Scores go to shared memory, where two lanes share a row: they take
// its maximum and write exp(score - maximum) as fp16. How elements lie in a fragment is unknown, so the factors by
// which rows of o shrink are loaded as a fragment, too, from a 16 x 16 tile in which all elements of a row are the
// same.
#include <cuda_fp16.h>
#include <mma.h>

constexpr unsigned kWholeWarp = 0xffffffffu;
using Left = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major>;
using Turned = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::col_major>;
using Right = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::row_major>;
using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;

template <int D>
__device__ __forceinline__ void rows_of(const __half* q, const __half* k, const __half* v, __half* o, int S) {
  extern __shared__ __align__(128) unsigned char raw[];
  constexpr int kWide = D + 8, kScores = KEYS + 4, kWeights = KEYS + 8;
  __half* keys = (__half*)raw;
  __half* values = keys + KEYS * kWide;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned char* own = (unsigned char*)(values + KEYS * kWide) + warp * (64 * kScores + 32 * kWeights + 1024);
  float* factors = (float*)own;  // 16 x 16
  float* scores = factors + 256;
  __half* weights = (__half*)(scores + 16 * kScores);
  const int block_first = blockIdx.x * 16 * WARPS, first = block_first + 16 * warp;
  const int block_end = block_first + 16 * WARPS < S ? block_first + 16 * WARPS : S;
  const uint4 nothing = make_uint4(0, 0, 0, 0);

  // q through the warp's part of the keys' and values' room: rows beyond S are zeros.
  Left rows[D / 16];
  for (int w = 0; w < WARPS; ++w) {  // one warp after another: the room may be smaller than all rows
    __syncthreads();
    if (w == warp) {
      for (int e = lane; e < 16 * D / 8; e += 32) {
        const int r = e / (D / 8), d = e % (D / 8) * 8;
        *(uint4*)(keys + r * kWide + d) = first + r < S ? *(const uint4*)(q + (size_t)(first + r) * D + d) : nothing;
      }
      __syncwarp();
#pragma unroll
      for (int c = 0; c < D / 16; ++c) nvcuda::wmma::load_matrix_sync(rows[c], keys + 16 * c, kWide);
    }
  }

  Sums out[D / 16];
#pragma unroll
  for (int c = 0; c < D / 16; ++c) nvcuda::wmma::fill_fragment(out[c], 0.0f);
  const float scale = 1.44269504f / sqrtf((float)D);  // exp2 is used
  const int r = lane / 2, side = lane % 2 * (KEYS / 2);
  float largest = -INFINITY, total = 0.0f;
  for (int j0 = 0; j0 < block_end; j0 += KEYS) {
    __syncthreads();
    for (int e = threadIdx.x; e < KEYS * D / 8; e += 32 * WARPS) {
      const int j = e / (D / 8), d = e % (D / 8) * 8;
      const size_t from = (size_t)(j0 + j) * D + d;
      *(uint4*)(keys + j * kWide + d) = j0 + j < S ? *(const uint4*)(k + from) : nothing;
      *(uint4*)(values + j * kWide + d) = j0 + j < S ? *(const uint4*)(v + from) : nothing;
    }
    __syncthreads();
    if (j0 > first + 15) continue;  // all later than this warp's rows
#pragma unroll
    for (int c = 0; c < KEYS / 16; ++c) {
      Sums part;
      nvcuda::wmma::fill_fragment(part, 0.0f);
#pragma unroll
      for (int d = 0; d < D / 16; ++d) {
        Turned key;
        nvcuda::wmma::load_matrix_sync(key, keys + 16 * c * kWide + 16 * d, kWide);
        nvcuda::wmma::mma_sync(part, rows[d], key, part);
      }
      nvcuda::wmma::store_matrix_sync(scores + 16 * c, part, kScores, nvcuda::wmma::mem_row_major);
    }
    __syncwarp();
    const int seen = first + r - j0 - side;  // of this lane's keys 0 .. seen count
    const float* row = scores + r * kScores + side;
    float score[KEYS / 2];
    float most = largest;
#pragma unroll
    for (int j = 0; j < KEYS / 2; ++j) {
      score[j] = j <= seen ? row[j] * scale : -INFINITY;
      most = fmaxf(most, score[j]);
    }
    most = fmaxf(most, __shfl_xor_sync(kWholeWarp, most, 1));
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < KEYS / 2; j += 2) {
      const float a = exp2f(score[j] - most), b = exp2f(score[j + 1] - most);
      sum += a + b;
      *(__half2*)(weights + r * kWeights + side + j) = __floats2half2_rn(a, b);
    }
    sum += __shfl_xor_sync(kWholeWarp, sum, 1);
    const float keep = exp2f(largest - most);
    total = total * keep + sum;
    largest = most;
#pragma unroll
    for (int e = 0; e < 8; ++e) factors[r * 16 + lane % 2 * 8 + e] = keep;
    __syncwarp();
    Sums shrink;
    nvcuda::wmma::load_matrix_sync(shrink, factors, 16, nvcuda::wmma::mem_row_major);
    Left weight[KEYS / 16];
#pragma unroll
    for (int j = 0; j < KEYS / 16; ++j) nvcuda::wmma::load_matrix_sync(weight[j], weights + 16 * j, kWeights);
#pragma unroll
    for (int c = 0; c < D / 16; ++c) {
#pragma unroll
      for (int e = 0; e < out[c].num_elements; ++e) out[c].x[e] *= shrink.x[e];
#pragma unroll
      for (int j = 0; j < KEYS / 16; ++j) {
        Right value;
        nvcuda::wmma::load_matrix_sync(value, values + 16 * j * kWide + 16 * c, kWide);
        nvcuda::wmma::mma_sync(out[c], weight[j], value, out[c]);
      }
    }
    __syncwarp();
  }
  const float share = 1.0f / total;
#pragma unroll
  for (int c = 0; c < D / 16; ++c) {
    __syncwarp();
    nvcuda::wmma::store_matrix_sync(factors, out[c], 16, nvcuda::wmma::mem_row_major);
    __syncwarp();
    if (first + r < S) {
      const float* from = factors + r * 16 + lane % 2 * 8;
      __half* to = o + (size_t)(first + r) * D + 16 * c + lane % 2 * 8;
#pragma unroll
      for (int e = 0; e < 8; e += 2) *(__half2*)(to + e) = __floats2half2_rn(from[e] * share, from[e + 1] * share);
    }
  }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    attention(const __half* __restrict__ q, const __half* __restrict__ k, const __half* __restrict__ v,
              __half* __restrict__ o, int S, int D) {
  const size_t head = (size_t)blockIdx.y * S * D;
  if (D == 64) {
    rows_of<64>(q + head, k + head, v + head, o + head, S);
  } else {
    rows_of<128>(q + head, k + head, v + head, o + head, S);
  }
}
