/* kernelwright
{
  "problem": "add_layernorm_bf16",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "resident blocks; rows come and go by bulk copies through a ring, weights stay in registers",
  "tunables": {"BLOCK": [512, 256, 128], "PACKS": [2, 4, 8], "BLOCKS": [256, 264, 128, 132],
               "STAGES": [6, 3, 2], "OUT": [1, 0], "FIRST": [2, 0, 1]},
  "constraints": ["BLOCK * PACKS == 1024"],
  "launches": [
    {"kernel": "add_layernorm", "grid": ["min(M, BLOCKS)", 1, 1], "block": ["BLOCK", 1, 1],
     "shared_bytes": "(N % 8 == 0) * (N <= 8192) * 4 * N * min(STAGES, 212992 * 132 / BLOCKS / (4 * N))",
     "args": ["x", "residual", "gamma", "beta", "sum", "y", "M", "N", "eps",
              "(N % 8 == 0) * (N <= 8192) * min(STAGES, 212992 * 132 / BLOCKS / (4 * N))"]}
  ]
}
*/
// sum = x + residual; y[m, n] = (sum[m, n] - mean_m) / sqrt(var_m + eps) * gamma[n] + beta[n]
// x, residual, sum, y: [M, N] row-major, gamma, beta: [N].
//
// A block takes every BLOCKS-th row and keeps gamma and beta in registers, since reading them again for each row would
// double what L2 gives. The row of x and that of residual arrive in a ring of stages by bulk copies ahead of time. Each
// thread rounds the sums of its PACKS packs of eight columns and keeps them for the mean, the variance around the mean,
// and the result. With OUT=1 the sums replace x in the stage, y replaces residual, and both leave by bulk copies, whole
// lines in order; the stage is filled again one row later, when they have been read. With OUT=0 the threads store both,
// and the stage is filled again as soon as all have read it. Rows of more than 8192 columns, or whose length is no
// multiple of 8, are read from global memory; `sum` is then read back.
//
// FIRST names what L2 gives up first: 1 lines of inputs, 2 lines of outputs, 0 neither. Memory bounds it, with four
// bf16 per element; not yet timed on a GPU.
#include <cuda_bf16.h>

#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

constexpr int kWarps = BLOCK / 32;

__device__ __forceinline__ unsigned long long evict_first() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ void fetch(unsigned to, const __nv_bfloat16* from, int bytes, unsigned barrier) {
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

__device__ __forceinline__ void send(__nv_bfloat16* to, unsigned from, int bytes) {
  if constexpr (FIRST == 2) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(to), "r"(from),
                 "r"(bytes), "l"(evict_first())
                 : "memory");
  } else {
    kw::tma::store_bytes(to, from, bytes);
  }
}

// One pack of results: into the stage, or to its place.
__device__ __forceinline__ void put(uint4* staged, uint4* to, uint4 v) {
  if constexpr (OUT == 1) {
    *staged = v;
  } else if constexpr (FIRST == 2) {
    __stcs(to, v);
  } else {
    *to = v;
  }
}

__device__ __forceinline__ float low(unsigned two) { return __uint_as_float(two << 16); }
__device__ __forceinline__ float high(unsigned two) { return __uint_as_float(two & 0xffff0000u); }

__device__ __forceinline__ unsigned pack(float a, float b) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(a, b);
  return *(const unsigned*)&two;
}

__device__ __forceinline__ unsigned add(unsigned a, unsigned b) { return pack(low(a) + low(b), high(a) + high(b)); }
__device__ __forceinline__ uint4 add(uint4 a, uint4 b) {
  return make_uint4(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w));
}

__device__ __forceinline__ float sum_of(unsigned two) { return low(two) + high(two); }
__device__ __forceinline__ float sum_of(uint4 v) { return (sum_of(v.x) + sum_of(v.y)) + (sum_of(v.z) + sum_of(v.w)); }

__device__ __forceinline__ float squares_of(unsigned two, float mean) {
  const float a = low(two) - mean, b = high(two) - mean;
  return a * a + b * b;
}
__device__ __forceinline__ float squares_of(uint4 v, float mean) {
  return (squares_of(v.x, mean) + squares_of(v.y, mean)) + (squares_of(v.z, mean) + squares_of(v.w, mean));
}

__device__ __forceinline__ unsigned normalised(unsigned two, float mean, float scale, unsigned factor, unsigned shift) {
  return pack((low(two) - mean) * scale * low(factor) + low(shift),
              (high(two) - mean) * scale * high(factor) + high(shift));
}
__device__ __forceinline__ uint4 normalised(uint4 v, float mean, float scale, uint4 factor, uint4 shift) {
  return make_uint4(normalised(v.x, mean, scale, factor.x, shift.x), normalised(v.y, mean, scale, factor.y, shift.y),
                    normalised(v.z, mean, scale, factor.z, shift.z), normalised(v.w, mean, scale, factor.w, shift.w));
}

// The sum over the block, in each thread. Two sums in turn use different scratch, so one barrier each is enough.
__device__ __forceinline__ float block_sum(float value, float* scratch) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = scratch[0];
#pragma unroll
  for (int w = 1; w < kWarps; ++w) value += scratch[w];
  return value;
}

// Any row, from global memory. A thread reads back only what it wrote.
__device__ __noinline__ void any_rows(const __nv_bfloat16* x, const __nv_bfloat16* residual, const __nv_bfloat16* gamma,
                                      const __nv_bfloat16* beta, __nv_bfloat16* sum, __nv_bfloat16* y, int M, int N,
                                      float eps, float (*scratch)[kWarps]) {
  const int vectors = N % 8 == 0 ? N / 8 : 0, rest = 8 * vectors + threadIdx.x;
  const uint4 *gamma8 = (const uint4*)gamma, *beta8 = (const uint4*)beta;
  for (int m = blockIdx.x; m < M; m += gridDim.x) {
    const size_t start = (size_t)m * N;
    const uint4 *a8 = (const uint4*)(x + start), *b8 = (const uint4*)(residual + start);
    uint4 *sum8 = (uint4*)(sum + start), *y8 = (uint4*)(y + start);
    float total = 0.0f, square = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < vectors; i += BLOCK) {
      const uint4 both = add(__ldcs(a8 + i), __ldcs(b8 + i));
      sum8[i] = both;
      total += sum_of(both);
    }
    for (int n = rest; n < N; n += BLOCK) {
      const __nv_bfloat16 both =
          __float2bfloat16(__bfloat162float(x[start + n]) + __bfloat162float(residual[start + n]));
      sum[start + n] = both;
      total += __bfloat162float(both);
    }
    const float mean = block_sum(total, scratch[0]) / N;
#pragma unroll 4
    for (int i = threadIdx.x; i < vectors; i += BLOCK) square += squares_of(sum8[i], mean);
    for (int n = rest; n < N; n += BLOCK) {
      const float distance = __bfloat162float(sum[start + n]) - mean;
      square += distance * distance;
    }
    const float scale = rsqrtf(block_sum(square, scratch[1]) / N + eps);
#pragma unroll 4
    for (int i = threadIdx.x; i < vectors; i += BLOCK) y8[i] = normalised(sum8[i], mean, scale, gamma8[i], beta8[i]);
    for (int n = rest; n < N; n += BLOCK) {
      y[start + n] = __float2bfloat16((__bfloat162float(sum[start + n]) - mean) * scale * __bfloat162float(gamma[n]) +
                                      __bfloat162float(beta[n]));
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, (BLOCKS + 131) / 132)
    add_layernorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
                  const __nv_bfloat16* __restrict__ gamma, const __nv_bfloat16* __restrict__ beta,
                  __nv_bfloat16* __restrict__ sum, __nv_bfloat16* __restrict__ y, int M, int N, float eps, int stages) {
  extern __shared__ __align__(128) unsigned char ring[];  // [stages, 2, N]
  __shared__ float scratch[2][kWarps];
  __shared__ __align__(8) unsigned long long arrivals[STAGES];
  if (stages == 0) {
    any_rows(x, residual, gamma, beta, sum, y, M, N, eps, scratch);
    return;
  }

  const unsigned ring_at = kw::shared_address(ring), arrivals_at = kw::shared_address(arrivals);
  const int bytes = 2 * N, vectors = N / 8;
  const auto fill = [&](int stage, int m) {  // both inputs of row m; one thread
    const unsigned to = ring_at + 2 * stage * bytes, barrier = arrivals_at + 8 * stage;
    kw::mbarrier::expect(barrier, 2 * bytes);
    fetch(to, x + (size_t)m * N, bytes, barrier);
    fetch(to + bytes, residual + (size_t)m * N, bytes, barrier);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) kw::mbarrier::init(arrivals_at + 8 * s, 1);
    kw::tma::fence();
    for (int s = 0; s < stages; ++s) {
      const int m = blockIdx.x + s * gridDim.x;
      if (m < M) fill(s, m);
    }
  }
  uint4 factors[PACKS], shifts[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = threadIdx.x + p * BLOCK;
    factors[p] = i < vectors ? __ldg((const uint4*)gamma + i) : make_uint4(0, 0, 0, 0);
    shifts[p] = i < vectors ? __ldg((const uint4*)beta + i) : make_uint4(0, 0, 0, 0);
  }
  __syncthreads();  // the barriers are set up

  int stage = 0, previous = stages - 1, parity = 0;
  for (int m = blockIdx.x; m < M; m += gridDim.x) {
    const size_t start = (size_t)m * N;
    const unsigned at = ring_at + 2 * stage * bytes;
    uint4* a8 = (uint4*)(ring + (size_t)2 * stage * bytes);
    uint4* b8 = a8 + vectors;
    uint4 *sum8 = (uint4*)(sum + start), *y8 = (uint4*)(y + start);
    uint4 packs[PACKS];
    float total = 0.0f, square = 0.0f;
    kw::mbarrier::wait(arrivals_at + 8 * stage, parity);
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      const int i = threadIdx.x + p * BLOCK;
      if (i < vectors) {
        packs[p] = add(a8[i], b8[i]);
        put(a8 + i, sum8 + i, packs[p]);
        total += sum_of(packs[p]);
      }
    }
    if constexpr (OUT == 1) kw::tma::fence();  // the threads' writes before the bulk copy's reads
    const float mean = block_sum(total, scratch[0]) / N;
    if (threadIdx.x == 0) {
      if constexpr (OUT == 1) {
        send(sum + start, at, bytes);
        const int ahead = m + (stages - 1) * (int)gridDim.x;
        if (m != (int)blockIdx.x && ahead < M) {
          kw::tma::commit();
          kw::tma::wait_read<1>();  // what the stage before held has left it
          fill(previous, ahead);
        }
      } else {
        const int ahead = m + stages * (int)gridDim.x;
        if (ahead < M) fill(stage, ahead);
      }
    }
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      if (threadIdx.x + p * BLOCK < vectors) square += squares_of(packs[p], mean);
    }
    const float scale = rsqrtf(block_sum(square, scratch[1]) / N + eps);
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      const int i = threadIdx.x + p * BLOCK;
      if (i < vectors) put(b8 + i, y8 + i, normalised(packs[p], mean, scale, factors[p], shifts[p]));
    }
    if constexpr (OUT == 1) {
      kw::tma::fence();
      __syncthreads();
      if (threadIdx.x == 0) {
        send(y + start, at + bytes, bytes);
        kw::tma::commit();
      }
    }
    previous = stage;
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  if (OUT == 1 && threadIdx.x == 0) kw::tma::wait_read<0>();  // the ring is given up with the block
}
