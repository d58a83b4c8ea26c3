/* kernelwright
{
  "problem": "block_scaled_gemm_bf16",
  "backends": ["cpu", "cuda"],
  "description": "fp32 multiply-adds on tiles widened once on their way to shared memory, TM x TN results per thread",
  "tunables": {"BM": [64, 32, 128], "BN": [64, 32, 128], "BK": [16, 8, 32], "TM": [8, 4], "TN": [8, 4]},
  "constraints": ["BM * BN >= 32 * TM * TN", "BM * BN <= 256 * TM * TN",
                  "BM * BK % (4 * (BM / TM) * (BN / TN)) == 0", "BN * BK % (4 * (BM / TM) * (BN / TN)) == 0",
                  "8 * BK * (BM + 4 + BN + 4) <= 49152"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, BN)", "ceil_div(M, BM)", 1], "block": ["(BM / TM) * (BN / TN)", 1, 1],
     "args": ["a", "b", "scale_a", "scale_b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum over blocks j of 128 columns of scale_a[j, m] * scale_b[n / 128, j] * sum_{k in j} a[m, k] * b[n, k];
// a: [M, K], b: [N, K], c: [M, N], scale_a: [ceil(K / 128), M], scale_b: [ceil(N / 128), ceil(K / 128)], all row-major.
//
// A block makes a BM x BN tile in steps of BK along k. While it multiplies one pair of tiles in shared memory it
// already loads the next pair into registers, and stores them into the other buffer afterwards: one barrier per step.
// A step and the columns of a tile lie in one block of b, since BK and BN divide 128: the elements of a take both
// scales on their way to shared memory, and one level of sums is enough. Both tiles are widened to fp32 and transposed
// on their way to shared memory (padded by 4 against bank conflicts of these stores), so that a thread reads its TM and
// TN values as float4 and makes TM * TN products from TM + TN loads. A thread's columns come in groups of four, BN /
// (TN / 4) apart, so that neighbouring threads read neighbouring float4. Tiles that reach over an edge are filled up
// with zeros; rows whose length is no multiple of four are read element by element. This is the version for devices
// without tensor cores.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int kAcross = BN / TN;  // threads along n
constexpr int kThreads = BM / TM * kAcross;
constexpr int kGroups = TN / 4;
constexpr int kGroupStride = BN / kGroups;
constexpr int kLoadsA = BM * BK / (4 * kThreads), kLoadsB = BN * BK / (4 * kThreads);  // of four values, per step

struct __align__(4) Four {
  __nv_fp8_e4m3 value[4];
};

struct __align__(8) FourOut {
  __nv_bfloat16 value[4];
};

struct Tiles {
  float a[BK][BM + 4];
  float b[BK][BN + 4];
};

// Four elements of a row-major [rows, columns] matrix from (row, column), zero outside it.
__device__ __forceinline__ Four load4(const __nv_fp8_e4m3* __restrict__ from, int row, int column, int rows,
                                      int columns) {
  Four four;
#pragma unroll
  for (int j = 0; j < 4; ++j) four.value[j] = __nv_fp8_e4m3(0.0f);
  if (row >= rows || column >= columns) return four;
  const __nv_fp8_e4m3* at = from + (size_t)row * columns + column;
  if (columns % 4 == 0) {
    four = *(const Four*)at;
    return four;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (column + j < columns) four.value[j] = at[j];
  }
  return four;
}

// A thread's share of the next pair of tiles.
struct Share {
  Four a[kLoadsA], b[kLoadsB];
  float scale[kLoadsA];
};

__device__ __forceinline__ void load_share(Share& share, const __nv_fp8_e4m3* __restrict__ a,
                                           const __nv_fp8_e4m3* __restrict__ b, const float* __restrict__ scale_a,
                                           const float* __restrict__ scale_b, int m0, int n0, int k0, int M, int N,
                                           int K) {
  const int j = k0 / 128;
  const float of_b = scale_b[n0 / 128 * ((K + 127) / 128) + j];
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const int index = threadIdx.x + i * kThreads;
    const int row = m0 + index / (BK / 4);
    share.a[i] = load4(a, row, k0 + index % (BK / 4) * 4, M, K);
    share.scale[i] = of_b * scale_a[(size_t)j * M + min(row, M - 1)];
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const int index = threadIdx.x + i * kThreads;
    share.b[i] = load4(b, n0 + index / (BK / 4), k0 + index % (BK / 4) * 4, N, K);
  }
}

__device__ __forceinline__ void store_share(Tiles& tiles, const Share& share) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const int index = threadIdx.x + i * kThreads;
    const int row = index / (BK / 4), k = index % (BK / 4) * 4;
#pragma unroll
    for (int j = 0; j < 4; ++j) tiles.a[k + j][row] = share.scale[i] * float(share.a[i].value[j]);
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const int index = threadIdx.x + i * kThreads;
    const int row = index / (BK / 4), k = index % (BK / 4) * 4;
#pragma unroll
    for (int j = 0; j < 4; ++j) tiles.b[k + j][row] = float(share.b[i].value[j]);
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
    gemm(const __nv_fp8_e4m3* __restrict__ a, const __nv_fp8_e4m3* __restrict__ b, const float* __restrict__ scale_a,
         const float* __restrict__ scale_b, __nv_bfloat16* __restrict__ c, int M, int N, int K) {
  __shared__ __align__(16) Tiles tiles[2];
  const int across = threadIdx.x % kAcross, down = threadIdx.x / kAcross;
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  const int steps = (K + BK - 1) / BK;

  float sums[TM][TN] = {};
  Share share;
  load_share(share, a, b, scale_a, scale_b, m0, n0, 0, M, N, K);
  store_share(tiles[0], share);
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const bool more = step + 1 < steps;
    if (more) load_share(share, a, b, scale_a, scale_b, m0, n0, (step + 1) * BK, M, N, K);
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
      __nv_bfloat16* to = c + (size_t)row * N + column;
      FourOut four;
#pragma unroll
      for (int j = 0; j < 4; ++j) four.value[j] = __float2bfloat16(sums[i][4 * g + j]);
      if (N % 4 == 0) {
        if (column < N) *(FourOut*)to = four;
        continue;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (column + j < N) to[j] = four.value[j];
      }
    }
  }
}
