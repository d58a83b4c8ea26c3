/* kernelwright
{
  "problem": "rmsnorm_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "resident blocks; rows come and go by bulk copies through a ring, weights stay in registers",
  "tunables": {"BLOCK": [128, 512, 256], "PACKS": [16, 4, 8], "BLOCKS": [256, 264, 128, 132], "STAGES": [2, 6, 3],
               "OUT": [1, 0], "FIRST": [0, 2, 1]},
  "constraints": ["BLOCK * PACKS == 2048"],
  "launches": [
    {"kernel": "rmsnorm", "grid": ["min(M, BLOCKS)", 1, 1], "block": ["BLOCK", 1, 1],
     "shared_bytes": "(N % 4 == 0) * (N <= 8192) * 4 * N * min(STAGES, 212992 * 132 / BLOCKS / (4 * N))",
     "args": ["x", "w", "y", "M", "N", "eps",
              "(N % 4 == 0) * (N <= 8192) * min(STAGES, 212992 * 132 / BLOCKS / (4 * N))"]}
  ]
}
*/
// y[m, n] = x[m, n] * rsqrt(sum_k x[m, k]^2 / N + eps) * w[n]; x, y: [M, N] row-major, w: [N].
//
// A block takes every BLOCKS-th row and keeps the weights in registers, since reading them again for each row would
// double what L2 gives. Rows arrive in a ring of stages by bulk copies ahead of time; each thread keeps its PACKS
// float4 of the row between the sum and the products. With OUT=1 the products replace the row in its stage and leave by
// a bulk copy, whole lines in order; the stage is filled again one row later, when they have been read. With OUT=0 the
// threads store them, and the stage is filled again as soon as all have read it. Rows of more than 8192 columns, or
// whose length is no multiple of 4, are read from global memory twice.
//
// FIRST names what L2 gives up first: 1 lines of x, 2 lines of y, 0 neither. Memory bounds it: a float read and a float
// written per element. On an H200 it takes up to 8 % longer than row_in_registers.
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

constexpr int kWarps = BLOCK / 32;

__device__ __forceinline__ unsigned long long evict_first() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ void fetch(unsigned to, const float* from, int bytes, unsigned barrier) {
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

__device__ __forceinline__ void send(float* to, unsigned from, int bytes) {
  if constexpr (FIRST == 2) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(to), "r"(from),
                 "r"(bytes), "l"(evict_first())
                 : "memory");
  } else {
    kw::tma::store_bytes(to, from, bytes);
  }
}

// One pack of results: into the stage, or to its place.
__device__ __forceinline__ void put(float4* staged, float4* to, float4 v) {
  if constexpr (OUT == 1) {
    *staged = v;
  } else if constexpr (FIRST == 2) {
    __stcs(to, v);
  } else {
    *to = v;
  }
}

__device__ __forceinline__ float squares(float4 v) { return (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w); }

__device__ __forceinline__ float4 scaled(float4 v, float scale, float4 w) {
  return make_float4(v.x * scale * w.x, v.y * scale * w.y, v.z * scale * w.z, v.w * scale * w.w);
}

// The sum over the block, in each thread. Two rows in turn use different scratch, so one barrier per row is enough.
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

// Any row, from global memory.
__device__ __noinline__ void any_rows(const float* x, const float* w, float* y, int M, int N, float eps,
                                      float (*scratch)[kWarps]) {
  const int vectors = N % 4 == 0 ? N / 4 : 0, rest = 4 * vectors + threadIdx.x;
  const float4* w4 = (const float4*)w;
  int turn = 0;
  for (int m = blockIdx.x; m < M; m += gridDim.x, turn ^= 1) {
    const float* in = x + (size_t)m * N;
    float* out = y + (size_t)m * N;
    const float4* in4 = (const float4*)in;
    float4* out4 = (float4*)out;
    float sum = 0.0f;
#pragma unroll 8
    for (int i = threadIdx.x; i < vectors; i += BLOCK) sum += squares(in4[i]);
    for (int n = rest; n < N; n += BLOCK) sum += in[n] * in[n];
    const float scale = rsqrtf(block_sum(sum, scratch[turn]) / N + eps);
#pragma unroll 4
    for (int i = threadIdx.x; i < vectors; i += BLOCK) __stcs(out4 + i, scaled(__ldcs(in4 + i), scale, w4[i]));
    for (int n = rest; n < N; n += BLOCK) out[n] = in[n] * scale * w[n];
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, (BLOCKS + 131) / 132)
    rmsnorm(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int M, int N, float eps,
            int stages) {
  extern __shared__ __align__(128) unsigned char ring[];  // [stages, N]
  __shared__ float scratch[2][kWarps];
  __shared__ __align__(8) unsigned long long arrivals[STAGES];
  if (stages == 0) {
    any_rows(x, w, y, M, N, eps, scratch);
    return;
  }

  const unsigned ring_at = kw::shared_address(ring), arrivals_at = kw::shared_address(arrivals);
  const int bytes = 4 * N, vectors = N / 4;
  const auto fill = [&](int stage, int m) {  // by row m; one thread
    kw::mbarrier::expect(arrivals_at + 8 * stage, bytes);
    fetch(ring_at + stage * bytes, x + (size_t)m * N, bytes, arrivals_at + 8 * stage);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) kw::mbarrier::init(arrivals_at + 8 * s, 1);
    kw::tma::fence();
    for (int s = 0; s < stages; ++s) {
      const int m = blockIdx.x + s * gridDim.x;
      if (m < M) fill(s, m);
    }
  }
  float4 weights[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int i = threadIdx.x + p * BLOCK;
    weights[p] = i < vectors ? __ldg((const float4*)w + i) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  __syncthreads();  // the barriers are set up

  int stage = 0, previous = stages - 1, parity = 0, turn = 0;
  for (int m = blockIdx.x; m < M; m += gridDim.x, turn ^= 1) {
    float4* x4 = (float4*)(ring + (size_t)stage * bytes);
    float4* y4 = (float4*)(y + (size_t)m * N);
    float4 packs[PACKS];
    float sum = 0.0f;
    kw::mbarrier::wait(arrivals_at + 8 * stage, parity);
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      const int i = threadIdx.x + p * BLOCK;
      if (i < vectors) {
        packs[p] = x4[i];
        sum += squares(packs[p]);
      }
    }
    const float scale = rsqrtf(block_sum(sum, scratch[turn]) / N + eps);
    if (threadIdx.x == 0) {
      const int ahead = m + (stages - OUT) * (int)gridDim.x;
      if constexpr (OUT == 1) {
        if (m != (int)blockIdx.x && ahead < M) {
          kw::tma::wait_read<0>();  // what the stage before held has left it
          fill(previous, ahead);
        }
      } else if (ahead < M) {
        fill(stage, ahead);
      }
    }
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      const int i = threadIdx.x + p * BLOCK;
      if (i < vectors) put(x4 + i, y4 + i, scaled(packs[p], scale, weights[p]));
    }
    if constexpr (OUT == 1) {
      kw::tma::fence();  // the threads' writes before the bulk copy's reads
      __syncthreads();
      if (threadIdx.x == 0) {
        send(y + (size_t)m * N, ring_at + stage * bytes, bytes);
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
