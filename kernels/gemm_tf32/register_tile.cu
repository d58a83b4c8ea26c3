/* kernelwright
{
  "problem": "gemm_tf32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "tiles in double-buffered shared memory, TM x TN results per thread in registers",
  "tunables": {"BM": [128, 32, 64], "BN": [128, 32, 64], "BK": [16, 8, 32], "TM": [8, 4], "TN": [8, 4]},
  "constraints": ["BM * BN >= 32 * TM * TN", "BM * BN <= 256 * TM * TN",
                  "BM * BK % (4 * (BM / TM) * (BN / TN)) == 0", "BN * BK % (4 * (BM / TM) * (BN / TN)) == 0",
                  "8 * BK * (BM + 4 + BN) <= 49152"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, BN)", "ceil_div(M, BM)", 1], "block": ["(BM / TM) * (BN / TN)", 1, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// A block makes a BM x BN tile of c in steps of BK along k. While it multiplies one pair of tiles in shared memory it
// already loads the next pair into registers, and stores them into the other buffer afterwards: one barrier per step.
// The tile of a is kept transposed (padded by 4 against bank conflicts of its stores), so that a thread reads its TM
// values of a and TN values of b as float4 and makes TM * TN products from TM + TN loads. A thread's columns come in
// groups of four, BN / (TN / 4) apart, so that neighbouring threads read neighbouring float4. Tiles that reach over an
// edge are filled up with zeros; rows that are not aligned to float4 are read element by element.
// Products are made in f32, for processors without matrix units.
constexpr int kAcross = BN / TN;  // threads along n
constexpr int kThreads = BM / TM * kAcross;
constexpr int kGroups = TN / 4;
constexpr int kGroupStride = BN / kGroups;
constexpr int kLoadsA = BM * BK / (4 * kThreads), kLoadsB = BN * BK / (4 * kThreads);  // float4 per thread and step

struct Tiles {
  float a[BK][BM + 4];
  float b[BK][BN];
};

// Four elements of a row-major [rows, columns] matrix from (row, column), zero outside it.
__device__ __forceinline__ float4 load4(const float* __restrict__ from, int row, int column, int rows, int columns) {
  if (row >= rows || column >= columns) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const float* at = from + (size_t)row * columns + column;
  if (columns % 4 == 0) return *(const float4*)at;
  return make_float4(at[0], column + 1 < columns ? at[1] : 0.0f, column + 2 < columns ? at[2] : 0.0f,
                     column + 3 < columns ? at[3] : 0.0f);
}

// A thread's share of the next pair of tiles.
struct Share {
  float4 a[kLoadsA], b[kLoadsB];
};

__device__ __forceinline__ void load_share(Share& share, const float* __restrict__ a, const float* __restrict__ b,
                                           int m0, int n0, int k0, int M, int N, int K) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const int index = threadIdx.x + i * kThreads;
    share.a[i] = load4(a, m0 + index / (BK / 4), k0 + index % (BK / 4) * 4, M, K);
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const int index = threadIdx.x + i * kThreads;
    share.b[i] = load4(b, k0 + index / (BN / 4), n0 + index % (BN / 4) * 4, K, N);
  }
}

__device__ __forceinline__ void store_share(Tiles& tiles, const Share& share) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const int index = threadIdx.x + i * kThreads;
    const int row = index / (BK / 4), k = index % (BK / 4) * 4;
    tiles.a[k][row] = share.a[i].x;
    tiles.a[k + 1][row] = share.a[i].y;
    tiles.a[k + 2][row] = share.a[i].z;
    tiles.a[k + 3][row] = share.a[i].w;
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const int index = threadIdx.x + i * kThreads;
    *(float4*)&tiles.b[index / (BN / 4)][index % (BN / 4) * 4] = share.b[i];
  }
}

__device__ __forceinline__ void multiply(float (&sums)[TM][TN], const Tiles& tiles, int across, int down) {
#pragma unroll
  for (int k = 0; k < BK; ++k) {
    float left[TM], right[TN];
#pragma unroll
    for (int i = 0; i < TM; i += 4) {
      const float4 four = *(const float4*)&tiles.a[k][down * TM + i];
      left[i] = four.x;
      left[i + 1] = four.y;
      left[i + 2] = four.z;
      left[i + 3] = four.w;
    }
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const float4 four = *(const float4*)&tiles.b[k][g * kGroupStride + across * 4];
      right[4 * g] = four.x;
      right[4 * g + 1] = four.y;
      right[4 * g + 2] = four.z;
      right[4 * g + 3] = four.w;
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) sums[i][j] += left[i] * right[j];
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N, int K) {
  __shared__ __align__(16) Tiles tiles[2];
  const int across = threadIdx.x % kAcross, down = threadIdx.x / kAcross;
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  const int steps = (K + BK - 1) / BK;

  float sums[TM][TN] = {};
  Share share;
  load_share(share, a, b, m0, n0, 0, M, N, K);
  store_share(tiles[0], share);
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const bool more = step + 1 < steps;
    if (more) load_share(share, a, b, m0, n0, (step + 1) * BK, M, N, K);
    multiply(sums, tiles[step % 2], across, down);
    if (more) store_share(tiles[(step + 1) % 2], share);
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = m0 + down * TM + i;
    if (row >= M) return;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const int column = n0 + g * kGroupStride + across * 4;
      float* to = c + (size_t)row * N + column;
      if (N % 4 == 0) {
        if (column < N) {
          *(float4*)to = make_float4(sums[i][4 * g], sums[i][4 * g + 1], sums[i][4 * g + 2], sums[i][4 * g + 3]);
        }
        continue;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (column + j < N) to[j] = sums[i][4 * g + j];
      }
    }
  }
}
