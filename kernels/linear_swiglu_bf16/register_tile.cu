/* kernelwright
{
  "problem": "linear_swiglu_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "fp32 multiply-adds on tiles widened on their way to shared memory, TM x TN gates and ups a thread",
  "tunables": {"BM": [128, 32, 64], "BN": [64, 32, 128], "BK": [16, 8, 32], "TM": [8, 4], "TN": [8, 4]},
  "constraints": ["BM * BN >= 32 * TM * TN", "BM * BN <= 256 * TM * TN",
                  "BM * BK % (4 * (BM / TM) * (BN / TN)) == 0", "BN * BK % (4 * (BM / TM) * (BN / TN)) == 0",
                  "8 * BK * (BM + 4 + 2 * (BN + 4)) <= 49152"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, BN)", "ceil_div(M, BM)", 1], "block": ["(BM / TM) * (BN / TN)", 1, 1],
     "args": ["x", "w_gate", "w_up", "y", "M", "N", "K"]}
  ]
}
*/
// y[m, n] = silu(g) * u, g = sum_k x[m, k] * w_gate[n, k], u = sum_k x[m, k] * w_up[n, k], silu(g) = g / (1 + exp(-g));
// x: [M, K], w_gate, w_up: [N, K], y: [M, N].
//
// A block makes a BM x BN tile of y in steps of BK along k. While it multiplies the tiles of x and both weights in
// shared memory it already loads the next ones into registers, and stores them into the other buffer afterwards: one
// barrier per step. Tiles are widened to fp32 and transposed on their way to shared memory (padded by 4 against bank
// conflicts of these stores), so that a thread reads its values as float4 and makes 2 * TM * TN products from TM + 2 *
// TN loads. A thread's columns come in groups of four, BN / (TN / 4) apart, so that neighbouring threads read
// neighbouring float4. Tiles that reach over an edge are filled up with zeros; rows whose length is no multiple of four
// are read element by element. This is the version for devices without tensor cores.
#include <cuda_bf16.h>

// Where exp is infinite, silu is 0, as it should be.
__device__ __forceinline__ float silu_times(float gate, float up) { return gate / (1.0f + expf(-gate)) * up; }

constexpr int kAcross = BN / TN;  // threads along n
constexpr int kThreads = BM / TM * kAcross;
constexpr int kGroups = TN / 4;
constexpr int kGroupStride = BN / kGroups;
constexpr int kLoadsX = BM * BK / (4 * kThreads), kLoadsW = BN * BK / (4 * kThreads);  // of four values, per step

struct __align__(8) Four {
  __nv_bfloat16 value[4];
};

struct Tiles {
  float x[BK][BM + 4];
  float gate[BK][BN + 4];
  float up[BK][BN + 4];
};

// Four elements of a row-major [rows, columns] matrix from (row, column), zero outside it.
__device__ __forceinline__ Four load4(const __nv_bfloat16* __restrict__ from, int row, int column, int rows,
                                      int columns) {
  Four four;
#pragma unroll
  for (int j = 0; j < 4; ++j) four.value[j] = __float2bfloat16(0.0f);
  if (row >= rows || column >= columns) return four;
  const __nv_bfloat16* at = from + (size_t)row * columns + column;
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

// A thread's share of the next tiles.
struct Share {
  Four x[kLoadsX], gate[kLoadsW], up[kLoadsW];
};

template <int count>
__device__ __forceinline__ void load_fours(Four (&fours)[count], const __nv_bfloat16* __restrict__ from, int row0,
                                           int k0, int rows, int K) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int index = threadIdx.x + i * kThreads;
    fours[i] = load4(from, row0 + index / (BK / 4), k0 + index % (BK / 4) * 4, rows, K);
  }
}

template <int count, int pitch>
__device__ __forceinline__ void store_fours(float (&to)[BK][pitch], const Four (&fours)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int index = threadIdx.x + i * kThreads;
    const int row = index / (BK / 4), k = index % (BK / 4) * 4;
#pragma unroll
    for (int j = 0; j < 4; ++j) to[k + j][row] = __bfloat162float(fours[i].value[j]);
  }
}

__device__ __forceinline__ void store_share(Tiles& tiles, const Share& share) {
  store_fours(tiles.x, share.x);
  store_fours(tiles.gate, share.gate);
  store_fours(tiles.up, share.up);
}

// A thread's columns of a row of a tile of weights.
__device__ __forceinline__ void read_columns(float (&to)[TN], const float (&row)[BN + 4], int across) {
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const float4 four = *(const float4*)&row[g * kGroupStride + across * 4];
    to[4 * g] = four.x;
    to[4 * g + 1] = four.y;
    to[4 * g + 2] = four.z;
    to[4 * g + 3] = four.w;
  }
}

__device__ __forceinline__ void multiply(float (&gates)[TM][TN], float (&ups)[TM][TN], const Tiles& tiles, int across,
                                         int down) {
#pragma unroll 4
  for (int k = 0; k < BK; ++k) {
    float left[TM], gate[TN], up[TN];
#pragma unroll
    for (int i = 0; i < TM; i += 4) {
      const float4 four = *(const float4*)&tiles.x[k][down * TM + i];
      left[i] = four.x;
      left[i + 1] = four.y;
      left[i + 2] = four.z;
      left[i + 3] = four.w;
    }
    read_columns(gate, tiles.gate[k], across);
    read_columns(up, tiles.up[k], across);
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        gates[i][j] += left[i] * gate[j];
        ups[i][j] += left[i] * up[j];
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w_gate,
         const __nv_bfloat16* __restrict__ w_up, __nv_bfloat16* __restrict__ y, int M, int N, int K) {
  __shared__ __align__(16) Tiles tiles[2];
  const int across = threadIdx.x % kAcross, down = threadIdx.x / kAcross;
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  const int steps = (K + BK - 1) / BK;

  float gates[TM][TN] = {}, ups[TM][TN] = {};
  Share share;
  const auto load_share = [&](int k0) {
    load_fours(share.x, x, m0, k0, M, K);
    load_fours(share.gate, w_gate, n0, k0, N, K);
    load_fours(share.up, w_up, n0, k0, N, K);
  };
  load_share(0);
  store_share(tiles[0], share);
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const bool more = step + 1 < steps;
    if (more) load_share((step + 1) * BK);
    multiply(gates, ups, tiles[step % 2], across, down);
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
      __nv_bfloat16* to = y + (size_t)row * N + column;
      Four four;
#pragma unroll
      for (int j = 0; j < 4; ++j) four.value[j] = __float2bfloat16(silu_times(gates[i][4 * g + j], ups[i][4 * g + j]));
      if (N % 4 == 0) {
        if (column < N) *(Four*)to = four;
        continue;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (column + j < N) to[j] = four.value[j];
      }
    }
  }
}
