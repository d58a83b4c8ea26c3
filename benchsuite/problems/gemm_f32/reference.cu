/* kernelwright
{
  "problem": "gemm_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 x 64 elements of c through tiles in shared memory",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(M, 64)", 1],
     "block": ["min(8, max(ceil_div(N, 4), (M + N) * K / 65536))",
               "min(16, max(max(4, ceil_div(M, 4)), (M + N) * K / 32768))", 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
// Each thread makes 4 x 8 elements, the 8 in two vectors. Few rows or columns have few threads where there is little to
// load: the cpu device pays for threads and barriers.
constexpr int kTile = 64, kDepth = 32, kAtOnce = 8, kRows = 4, kVector = 4, kVectors = 2,
              kAcross = kTile / (kVector * kVectors);

extern "C" __global__ void gemm(const float* a, const float* b, double* c, int M, int N, int K) {
  __shared__ double left[kDepth][kTile + 2], right[kDepth][kTile + 2];
  const int threads = blockDim.x * blockDim.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int column = threadIdx.x * kVector, row = threadIdx.y * kRows;
  const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  const int height = min(kTile, M - m0), width = min(kTile, N - n0);
  for (int i = thread; i < kTile * kDepth; i += threads) left[i / kTile][i % kTile] = right[i / kTile][i % kTile] = 0;
  const int shift = width > 32 ? 6 : width > 16 ? 5 : width > 8 ? 4 : 3;  // 2 ^ shift columns are loaded
  double sums[kRows][kVectors][kVector] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    const int depth = min(kDepth, K - k0);
    __syncthreads();
    // Several loads at a time: a GPU waits for each that a store follows.
    for (int i0 = thread; i0 < height * kDepth; i0 += kAtOnce * threads) {
      double loaded[kAtOnce];
      for (int u = 0; u < kAtOnce; ++u) {
        const int i = min(i0 + u * threads, height * kDepth - 1), k = min(i % kDepth, depth - 1), m = i / kDepth;
        loaded[u] = a[(size_t)(m0 + m) * K + k0 + k];
      }
      for (int u = 0; u < kAtOnce; ++u) {
        const int i = i0 + u * threads;
        if (i < height * kDepth) left[i % kDepth][i / kDepth] = loaded[u];
      }
    }
    for (int i0 = thread; i0 < depth << shift; i0 += kAtOnce * threads) {
      double loaded[kAtOnce];
      for (int u = 0; u < kAtOnce; ++u) {
        const int i = min(i0 + u * threads, (depth << shift) - 1), k = i >> shift,
                  n = min(i & (1 << shift) - 1, width - 1);
        loaded[u] = b[(size_t)(k0 + k) * N + n0 + n];
      }
      for (int u = 0; u < kAtOnce; ++u) {
        const int i = i0 + u * threads;
        if (i < depth << shift) right[i >> shift][i & (1 << shift) - 1] = loaded[u];
      }
    }
    __syncthreads();
    if (row >= height || column >= width) continue;
#pragma unroll 4
    for (int k = 0; k < depth; ++k) {
      const double *rows = &left[k][row], *low = &right[k][column], *high = low + kVector * kAcross;
      // Written out: g++ keeps the sums of nested loops in memory and takes 12 times as long.
      for (int i = 0; i < kVector; ++i) {
        sums[0][0][i] += rows[0] * low[i];
        sums[1][0][i] += rows[1] * low[i];
        sums[2][0][i] += rows[2] * low[i];
        sums[3][0][i] += rows[3] * low[i];
      }
      for (int i = 0; i < kVector; ++i) {
        sums[0][1][i] += rows[0] * high[i];
        sums[1][1][i] += rows[1] * high[i];
        sums[2][1][i] += rows[2] * high[i];
        sums[3][1][i] += rows[3] * high[i];
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
