/* kernelwright
{
  "problem": "gemm_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 x 64 elements of c through tiles in shared memory",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(M, 64)", 1], "block": [8, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
#include <cuda_fp16.h>

// Each thread makes 4 x 8 elements, the 8 in two vectors: the cpu device pays for threads and barriers.
constexpr int kTile = 64, kDepth = 32, kRows = 4, kVector = 4, kVectors = 2, kAcross = kTile / (kVector * kVectors),
              kThreads = kTile / kRows * kAcross;

extern "C" __global__ void gemm(const __half* a, const __half* b, double* c, int M, int N, int K) {
  __shared__ double left[kDepth][kTile + 2], right[kDepth][kTile + 2];
  const int thread = threadIdx.y * kAcross + threadIdx.x, column = threadIdx.x * kVector, row = threadIdx.y * kRows;
  const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  const int height = min(kTile, M - m0), width = min(kTile, N - n0);
  for (int i = thread; i < kTile * kDepth; i += kThreads) left[i / kTile][i % kTile] = right[i / kTile][i % kTile] = 0;
  double sums[kRows][kVectors][kVector] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    const int depth = min(kDepth, K - k0);
    __syncthreads();
    for (int i = thread; i < height * kDepth; i += kThreads) {
      const int k = i % kDepth, m = i / kDepth;
      if (k < depth) left[k][m] = __half2float(a[(size_t)(m0 + m) * K + k0 + k]);
    }
    for (int i = thread; i < kTile * depth; i += kThreads) {
      const int k = i / kTile, n = i % kTile;
      if (n < width) right[k][n] = __half2float(b[(size_t)(k0 + k) * N + n0 + n]);
    }
    __syncthreads();
    if (row >= height || column >= width) continue;
    for (int k = 0; k < depth; ++k) {
      for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kVectors; ++v) {
          for (int i = 0; i < kVector; ++i) {
            sums[r][v][i] += left[k][row + r] * right[k][v * kVector * kAcross + column + i];
          }
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      for (int i = 0; i < kVector; ++i) {
        const int m = m0 + row + r, n = n0 + v * kVector * kAcross + column + i;
        if (m < M && n < N) c[(size_t)m * N + n] = sums[r][v][i];
      }
    }
  }
}
