/* kernelwright
{
  "problem": "dequantize_f8e4m3",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "resident blocks; tiles come and go by bulk copies through rings in shared memory",
  "tunables": {"BLOCK": [256, 128, 512], "PACKS": [4, 2, 8], "BLOCKS": [264, 528, 132], "STAGES": [4, 3, 6],
               "FIRST": [2, 0, 1]},
  "constraints": ["BLOCKS / 132 * BLOCK * PACKS * (48 + 9 * STAGES) <= 220000", "BLOCKS / 132 * BLOCK <= 2048"],
  "launches": [
    {"kernel": "dequantize", "grid": ["min(BLOCKS, max(1, M * (N / 128) / (BLOCK * PACKS / 16)))", 1, 1],
     "block": ["BLOCK", 1, 1], "shared_bytes": "BLOCK * PACKS * 48 + STAGES * (BLOCK * PACKS * 33 / 4)",
     "args": ["q", "scales", "y", "M * (N / 128)"]}
  ]
}
*/
// y[128 i + j] = q[128 i + j] * scales[i] for i < blocks; q, y: [M, N] row-major, scales: [M, N / 128].
//
// Rows are whole blocks, so the matrix is one sequence of tiles of 8 * BLOCK * PACKS elements; a resident block takes
// every gridDim.x-th. A tile of q and its scales arrive by bulk copies in one of STAGES stages. Each thread widens
// PACKS packs of eight into one of three output tiles, which leaves by one bulk copy, whole lines in order. When the
// block meets at the end of a tile, all have read the stage, which is filled again, and the output tile of the tile
// before last has been read, so one barrier per tile is enough. What is left behind the last whole tile goes through
// registers.
//
// FIRST names what L2 gives up first: 1 lines of q, 2 lines of y, 0 neither. Memory bounds it: a byte read and two
// written per element. Not yet timed on a GPU.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

constexpr int kTile = 8 * BLOCK * PACKS;     // elements, and bytes of q
constexpr int kScaleBytes = kTile / 32;      // a float for 128 elements
constexpr int kStage = kTile + kScaleBytes;  // bytes
constexpr int kOutputs = 3;

__device__ __forceinline__ unsigned long long evict_first() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ void fetch(unsigned to, const void* from, int bytes, unsigned barrier) {
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

// The pair of e4m3 in the low 16 bits, times `scale`, as a pair of bf16.
__device__ __forceinline__ unsigned widened(unsigned two, float scale) {
  const __half2 halves(__nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)two, __NV_E4M3));
  const float2 values = __half22float2(halves);
  const __nv_bfloat162 pair = __floats2bfloat162_rn(values.x * scale, values.y * scale);
  return *(const unsigned*)&pair;
}
__device__ __forceinline__ uint4 widened(uint2 eight, float scale) {
  return make_uint4(widened(eight.x, scale), widened(eight.x >> 16, scale), widened(eight.y, scale),
                    widened(eight.y >> 16, scale));
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    dequantize(const __nv_fp8_e4m3* __restrict__ q, const float* __restrict__ scales, __nv_bfloat16* __restrict__ y,
               int blocks) {
  extern __shared__ __align__(128) unsigned char memory[];  // [kOutputs, 2 * kTile], [STAGES, kStage]
  __shared__ __align__(8) unsigned long long arrivals[STAGES];
  const unsigned outputs_at = kw::shared_address(memory), stages_at = outputs_at + kOutputs * 2 * kTile;
  const unsigned arrivals_at = kw::shared_address(arrivals);
  const int tiles = blocks / (kTile / 128);
  const auto fill = [&](int stage, int tile) {  // one thread
    const unsigned to = stages_at + stage * kStage, barrier = arrivals_at + 8 * stage;
    kw::mbarrier::expect(barrier, kStage);
    fetch(to, q + (size_t)tile * kTile, kTile, barrier);
    fetch(to + kTile, scales + (size_t)tile * (kTile / 128), kScaleBytes, barrier);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) kw::mbarrier::init(arrivals_at + 8 * s, 1);
    kw::tma::fence();
    for (int s = 0; s < STAGES; ++s) {
      const int tile = blockIdx.x + s * gridDim.x;
      if (tile < tiles) fill(s, tile);
    }
  }
  const size_t packs = (size_t)blocks * 16;
  for (size_t i = (size_t)tiles * (kTile / 8) + blockIdx.x * BLOCK + threadIdx.x; i < packs; i += gridDim.x * BLOCK) {
    ((uint4*)y)[i] = widened(__ldcs((const uint2*)q + i), __ldg(scales + i / 16));
  }
  __syncthreads();  // the barriers are set up

  kw::Ring<STAGES> ring;
  int output = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ring.advance()) {
    const unsigned char* stage = memory + kOutputs * 2 * kTile + ring.stage * kStage;
    const float* factors = (const float*)(stage + kTile);
    uint4* to = (uint4*)(memory + output * 2 * kTile);
    kw::mbarrier::wait(arrivals_at + 8 * ring.stage, ring.phase);
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      const int i = threadIdx.x + p * BLOCK;
      to[i] = widened(((const uint2*)stage)[i], factors[i / 16]);
    }
    kw::tma::fence();  // the threads' writes before the bulk copy's reads
    __syncthreads();
    if (threadIdx.x == 0) {
      const int ahead = tile + STAGES * (int)gridDim.x;
      if (ahead < tiles) fill(ring.stage, ahead);
      send(y + (size_t)tile * kTile, outputs_at + output * 2 * kTile, 2 * kTile);
      kw::tma::commit();
      kw::tma::wait_read<1>();  // all but this one have left
    }
    output = output == kOutputs - 1 ? 0 : output + 1;
  }
  if (threadIdx.x == 0) kw::tma::wait_read<0>();  // the memory is given up with the block
}
