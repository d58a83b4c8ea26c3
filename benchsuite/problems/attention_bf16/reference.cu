/* kernelwright
{
  "problem": "attention_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 rows of o, online softmax over tiles of 32 keys",
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(S, 64)", "B * H", 1], "block": [16, 16, 1],
     "args": ["q", "k", "v", "o", "S"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype.
// o[i] = sum_j p[j] v[j], p = softmax_j(q[i] . k[j] / 8); q, k, v, o: [B * H, S, 64].
// Thread (x, y) owns rows y + 16 r of the block and, of each, keys x + 16 c of a tile and columns x + 16 c of o.
#include <cuda_bf16.h>

constexpr int kRows = 64, kKeys = 32, kDepth = 16, kSide = 16, D = 64;
constexpr int kR = kRows / kSide, kC = kKeys / kSide, kO = D / kSide;

extern "C" __global__ void __launch_bounds__(256)
    attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, double* o, int S) {
  __shared__ double part[1536];           // 16 x 64 of q and 16 x 32 of k; then 16 x 64 of v
  __shared__ double p[kRows][kKeys + 1];  // scores, then exp(score - largest)
  __shared__ double largest[kRows], total[kRows], keep[kRows];
  double(*left)[kRows] = (double(*)[kRows])part;
  double(*right)[kKeys] = (double(*)[kKeys])(part + kDepth * kRows);
  double(*values)[D] = (double(*)[D])part;
  const int x = threadIdx.x, y = threadIdx.y, t = y * kSide + x;
  const int first = blockIdx.x * kRows;
  const size_t head = (size_t)blockIdx.y * S * D;
  double out[kR][kO] = {};
  if (t < kRows) {
    largest[t] = -INFINITY;
    total[t] = 0;
  }
  for (int j0 = 0; j0 < S; j0 += kKeys) {
    double score[kR][kC] = {};
    for (int d0 = 0; d0 < D; d0 += kDepth) {
      __syncthreads();
      for (int e = t; e < kRows * kDepth; e += 256) {
        const int i = first + e / kDepth;
        left[e % kDepth][e / kDepth] =
            i < S ? (double)__bfloat162float(q[head + (size_t)i * D + d0 + e % kDepth]) : 0.0;
      }
      for (int e = t; e < kKeys * kDepth; e += 256) {
        const int j = j0 + e / kDepth;
        right[e % kDepth][e / kDepth] =
            j < S ? (double)__bfloat162float(k[head + (size_t)j * D + d0 + e % kDepth]) : 0.0;
      }
      __syncthreads();
      for (int d = 0; d < kDepth; ++d) {
        for (int r = 0; r < kR; ++r) {
          for (int c = 0; c < kC; ++c) score[r][c] += left[d][y + kSide * r] * right[d][x + kSide * c];
        }
      }
    }
    for (int r = 0; r < kR; ++r) {
      for (int c = 0; c < kC; ++c) {
        const int j = j0 + x + kSide * c;
        p[y + kSide * r][x + kSide * c] = j < S ? score[r][c] / 8 : -INFINITY;
      }
    }
    __syncthreads();
    if (t < kRows) {  // one thread a row; the first tile has key 0, so `most` is finite
      double most = largest[t];
      for (int c = 0; c < kKeys; ++c) most = p[t][c] > most ? p[t][c] : most;
      double sum = 0;
      for (int c = 0; c < kKeys; ++c) {
        p[t][c] = exp(p[t][c] - most);
        sum += p[t][c];
      }
      keep[t] = exp(largest[t] - most);
      total[t] = total[t] * keep[t] + sum;
      largest[t] = most;
    }
    __syncthreads();
    for (int r = 0; r < kR; ++r) {
      for (int c = 0; c < kO; ++c) out[r][c] *= keep[y + kSide * r];
    }
    for (int l0 = 0; l0 < kKeys; l0 += kDepth) {
      __syncthreads();
      for (int e = t; e < kDepth * D; e += 256) {
        const int j = j0 + l0 + e / D;
        values[e / D][e % D] = j < S ? (double)__bfloat162float(v[head + (size_t)j * D + e % D]) : 0.0;
      }
      __syncthreads();
      for (int l = 0; l < kDepth; ++l) {
        for (int r = 0; r < kR; ++r) {
          const double weight = p[y + kSide * r][l0 + l];
          for (int c = 0; c < kO; ++c) out[r][c] += weight * values[l][x + kSide * c];
        }
      }
    }
  }
  for (int r = 0; r < kR; ++r) {
    const int i = first + y + kSide * r;
    if (i >= S) continue;
    for (int c = 0; c < kO; ++c) {
      o[head + (size_t)i * D + x + kSide * c] = out[r][c] / total[y + kSide * r];
    }
  }
}
