/* kernelwright
{
  "problem": "varlen_attention_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 rows of o, online softmax over tiles of 32 keys",
  "launches": [
    {"kernel": "attention", "grid": ["ceil_div(T, 64)", "H", 1], "block": [16, 16, 1],
     "args": ["q", "k", "v", "offsets", "o", "T", "H"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype.
// o[i] = sum_{begin <= j <= i} p[j] v[j], p = softmax_{begin <= j <= i}(q[i] . k[j] / sqrt(128)) for each head, where
// begin is the last of the offsets up to i; q, k, v, o: [T, H, 128], offsets: [S + 1].
// A block has 64 tokens, of one or of several sequences, and walks over the keys from the first token's begin on.
// Thread (x, y) owns rows y + 16 r of the block and, of each, keys x + 16 c of a tile and columns x + 16 c of o.
#include <cuda_bf16.h>

constexpr int kRows = 64, kKeys = 32, kDepth = 16, kSide = 16, D = 128;
constexpr int kR = kRows / kSide, kC = kKeys / kSide, kO = D / kSide;

extern "C" __global__ void __launch_bounds__(256)
    attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, const int* offsets, double* o,
              int T, int H) {
  __shared__ double part[2048];           // 16 x 64 of q and 16 x 32 of k; then 16 x 128 of v
  __shared__ double p[kRows][kKeys + 1];  // scores, then exp(score - largest)
  __shared__ double largest[kRows], total[kRows], keep[kRows];
  __shared__ int begin[kRows];
  double(*left)[kRows] = (double(*)[kRows])part;
  double(*right)[kKeys] = (double(*)[kKeys])(part + kDepth * kRows);
  double(*values)[D] = (double(*)[D])part;
  const int x = threadIdx.x, y = threadIdx.y, t = y * kSide + x;
  const int first = blockIdx.x * kRows, end = first + kRows < T ? first + kRows : T;
  const size_t head = (size_t)blockIdx.y * D, stride = (size_t)H * D;
  double out[kR][kO] = {};
  if (t < kRows) {
    largest[t] = -INFINITY;
    total[t] = 0;
    int s = 0;
    while (offsets[s + 1] <= first + t && offsets[s + 1] < T) ++s;
    begin[t] = offsets[s];
  }
  __syncthreads();
  for (int j0 = begin[0]; j0 < end; j0 += kKeys) {
    double score[kR][kC] = {};
    for (int d0 = 0; d0 < D; d0 += kDepth) {
      __syncthreads();
      for (int e = t; e < kRows * kDepth; e += 256) {
        const int i = first + e / kDepth;
        left[e % kDepth][e / kDepth] = i < T ? (double)__bfloat162float(q[head + i * stride + d0 + e % kDepth]) : 0.0;
      }
      for (int e = t; e < kKeys * kDepth; e += 256) {
        const int j = j0 + e / kDepth;
        right[e % kDepth][e / kDepth] = j < T ? (double)__bfloat162float(k[head + j * stride + d0 + e % kDepth]) : 0.0;
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
        const int i = first + y + kSide * r, j = j0 + x + kSide * c;
        const bool seen = begin[y + kSide * r] <= j && j <= i && j < T;
        p[y + kSide * r][x + kSide * c] = seen ? score[r][c] / sqrt((double)D) : -INFINITY;
      }
    }
    __syncthreads();
    if (t < kRows) {  // one thread a row, which may not have seen a key yet
      double most = largest[t];
      for (int c = 0; c < kKeys; ++c) most = p[t][c] > most ? p[t][c] : most;
      double sum = 0;
      for (int c = 0; c < kKeys; ++c) {
        p[t][c] = most == -INFINITY ? 0 : exp(p[t][c] - most);
        sum += p[t][c];
      }
      keep[t] = most == -INFINITY ? 0 : exp(largest[t] - most);
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
        values[e / D][e % D] = j < T ? (double)__bfloat162float(v[head + j * stride + e % D]) : 0.0;
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
    if (i >= T) continue;
    for (int c = 0; c < kO; ++c) {
      o[head + i * stride + x + kSide * c] = out[r][c] / total[y + kSide * r];
    }
  }
}
