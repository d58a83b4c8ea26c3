/* kernelwright
{
  "problem": "rmsnorm_f16",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "a block per row, which comes by one bulk copy, stays in shared memory and leaves by another",
  "tunables": {"BLOCK": [512, 256, 128], "OUT": [1, 0], "FIRST": [2, 0, 1], "ROOM": [1, 3]},
  "launches": [
    {"kernel": "rmsnorm", "grid": ["M", 1, 1], "block": ["BLOCK", 1, 1],
     "shared_bytes": "(N % 8 == 0) * 2 * N * (1 + (N <= 8192) * (ROOM - 1))", "args": ["x", "w", "y", "N"]}
  ]
}
*/
// y[m, n] = x[m, n] * rsqrt(sum_k x[m, k]^2 / N + 1e-5) * w[n]; x, y: [M, N] row-major, w: [N].
//
// A block takes one row. One thread asks for it by a bulk copy as soon as the block starts; meanwhile the threads fetch
// their weights. The row stays in shared memory between the sum and the products, at any length, so registers are few
// and L1 holds nothing but weights. With OUT=1 the products replace the row and leave by one bulk copy, whole lines in
// order; with OUT=0 the threads store them. Memory bounds it.
//
// FIRST names what L2 gives up first: 1 lines of x, 2 lines of y, 0 neither. ROOM multiplies the shared memory of a
// block, up to 8192 columns, and so divides the bytes under way. Rows whose length is no multiple of 8 are not aligned
// to 16 bytes and go element by element.
//
// H200, 2026-11-27, 8192 x 8192: 68 us, 89 % of the bound; row_in_registers took 71 us in the same call.
#include <cuda_fp16.h>

#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

constexpr int kWarps = BLOCK / 32;
constexpr int kPacks = 1024 / BLOCK;  // packs of eight weights that a thread fetches ahead

__device__ __forceinline__ unsigned long long evict_first() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ void fetch(unsigned to, const __half* from, int bytes, unsigned barrier) {
  if constexpr (FIRST == 1) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
            "r"(to),
        "l"(from), "r"(bytes), "r"(barrier), "l"(evict_first())
        : "memory");
  } else {
    kw::tma::load_bytes(to, from, bytes, barrier);
  }
}

__device__ __forceinline__ void send(__half* to, unsigned from, int bytes) {
  if constexpr (FIRST == 2) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(to), "r"(from),
                 "r"(bytes), "l"(evict_first())
                 : "memory");
  } else {
    kw::tma::store_bytes(to, from, bytes);
  }
}

// One pack of results: over its pack of x, or to y.
__device__ __forceinline__ void put(uint4* over, uint4* to, uint4 v) {
  if constexpr (OUT == 1) {
    *over = v;
  } else if constexpr (FIRST == 2) {
    __stcs(to, v);
  } else {
    *to = v;
  }
}

__device__ __forceinline__ float2 floats(unsigned two) { return __half22float2(*(const __half2*)&two); }

__device__ __forceinline__ float squares(unsigned two) {
  const float2 v = floats(two);
  return v.x * v.x + v.y * v.y;
}
__device__ __forceinline__ float squares(uint4 v) {
  return (squares(v.x) + squares(v.y)) + (squares(v.z) + squares(v.w));
}

__device__ __forceinline__ unsigned scaled(unsigned two, float scale, unsigned weight) {
  const float2 v = floats(two), w = floats(weight);
  const __half2 result = __floats2half2_rn(v.x * scale * w.x, v.y * scale * w.y);
  return *(const unsigned*)&result;
}
__device__ __forceinline__ uint4 scaled(uint4 v, float scale, uint4 w) {
  return make_uint4(scaled(v.x, scale, w.x), scaled(v.y, scale, w.y), scaled(v.z, scale, w.z), scaled(v.w, scale, w.w));
}

__device__ __forceinline__ float block_sum(float value, float* scratch) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = scratch[0];
#pragma unroll
  for (int i = 1; i < kWarps; ++i) value += scratch[i];
  return value;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    rmsnorm(const __half* __restrict__ x, const __half* __restrict__ w, __half* __restrict__ y, int N) {
  extern __shared__ __align__(128) unsigned char memory[];  // the row
  __shared__ __align__(8) unsigned long long arrival;
  __shared__ __align__(16) float scratch[kWarps];
  const int t = threadIdx.x;
  const __half* in = x + (size_t)blockIdx.x * N;
  __half* out = y + (size_t)blockIdx.x * N;

  if (N % 8 != 0) {
    float sum = 0.0f;
#pragma unroll 4
    for (int n = t; n < N; n += BLOCK) {
      const float value = __half2float(in[n]);
      sum += value * value;
    }
    const float scale = rsqrtf(block_sum(sum, scratch) / N + 1e-5f);
#pragma unroll 4
    for (int n = t; n < N; n += BLOCK) out[n] = __float2half(__half2float(in[n]) * scale * __half2float(w[n]));
    return;
  }

  const unsigned barrier = kw::shared_address(&arrival), row_at = kw::shared_address(memory);
  if (t == 0) {
    kw::mbarrier::init(barrier, 1);
    kw::tma::fence();
    kw::mbarrier::expect(barrier, 2 * N);
    fetch(row_at, in, 2 * N, barrier);
  }
  const int packs = N / 8;
  const uint4* w8 = (const uint4*)w;
  uint4 *row8 = (uint4*)memory, *out8 = (uint4*)out;
  uint4 weights[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int i = t + p * BLOCK;
    weights[p] = i < packs ? __ldg(w8 + i) : make_uint4(0, 0, 0, 0);
  }
  __syncthreads();  // the barrier is set up
  kw::mbarrier::wait(barrier, 0);

  float sum = 0.0f;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int i = t + p * BLOCK;
    if (i < packs) sum += squares(row8[i]);
  }
  for (int i = t + kPacks * BLOCK; i < packs; i += BLOCK) sum += squares(row8[i]);
  const float scale = rsqrtf(block_sum(sum, scratch) / N + 1e-5f);

#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int i = t + p * BLOCK;
    if (i < packs) put(row8 + i, out8 + i, scaled(row8[i], scale, weights[p]));
  }
  for (int i = t + kPacks * BLOCK; i < packs; i += BLOCK) {
    put(row8 + i, out8 + i, scaled(row8[i], scale, __ldg(w8 + i)));
  }
  if constexpr (OUT == 1) {
    kw::tma::fence();  // the threads' writes before the bulk copy's reads
    __syncthreads();
    if (t == 0) {
      send(out, row_at, 2 * N);
      kw::tma::commit();
      kw::tma::wait_read<0>();  // the row is given up with the block
    }
  }
}
