/* kernelwright
{
  "problem": "copy_f32",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "one thread of each resident block moves chunks by bulk copies through a ring in shared memory",
  "tunables": {"CHUNK": [8192, 16384, 4096, 32768], "STAGES": [12, 6, 24, 3], "BLOCKS": [264, 132, 396],
               "HINTS": [1, 0, 2]},
  "constraints": ["(CHUNK * STAGES + 2048) * BLOCKS <= 233472 * 132"],
  "launches": [
    {"kernel": "copy", "grid": ["min(BLOCKS, ceil_div(N, CHUNK / 4))", 1, 1], "block": [32, 1, 1],
     "shared_bytes": "CHUNK * STAGES", "args": ["x", "y", "N"]}
  ]
}
*/
// y[i] = x[i]; x, y: [N].
//
// Resident blocks take chunks of CHUNK bytes in turn. A chunk comes by a bulk copy, which reports to the mbarrier of
// its stage, and leaves by another, so that no byte passes through registers. Half of the stages have loads under way
// while the other half are read by stores: the load into a stage waits only for the store that was issued STAGES / 2
// chunks ago. The up to three elements at the end, which no bulk copy can move, go by plain loads. Expected: 90 % of
// the bound and more at large N. Not yet timed on a GPU.
#include <kw/mbarrier.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

constexpr int kLag = STAGES / 2;

// HINTS: which copies leave their lines in L2 to be evicted first: 0 none, 1 loads, 2 loads and stores.
__device__ __forceinline__ unsigned long long evict_first() {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ __forceinline__ void load(unsigned to, const void* from, int bytes, unsigned barrier,
                                     unsigned long long policy) {
  if constexpr (HINTS > 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
            "r"(to),
        "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
        : "memory");
  } else {
    kw::tma::load_bytes(to, from, bytes, barrier);
  }
}
__device__ __forceinline__ void store(void* to, unsigned from, int bytes, unsigned long long policy) {
  if constexpr (HINTS > 1) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(to), "r"(from),
                 "r"(bytes), "l"(policy)
                 : "memory");
  } else {
    kw::tma::store_bytes(to, from, bytes);
  }
}

extern "C" __global__ void __launch_bounds__(32) copy(const float* __restrict__ x, float* __restrict__ y, int N) {
  extern __shared__ __align__(128) unsigned char memory[];  // [STAGES, CHUNK]
  __shared__ __align__(8) unsigned long long arrivals[STAGES];
  const int vectors = N / 4, tail = 4 * vectors + threadIdx.x;
  if (blockIdx.x == 0 && tail < N) y[tail] = x[tail];
  if (threadIdx.x > 0) return;

  const unsigned buffers = kw::shared_address(memory), full = kw::shared_address(arrivals);
  for (int s = 0; s < STAGES; ++s) kw::mbarrier::init(full + 8 * s, 1);
  kw::mbarrier::fence_init();
  kw::tma::fence();
  const unsigned long long policy = evict_first();
  const long long end = 16ll * vectors, stride = (long long)CHUNK * gridDim.x, start = (long long)CHUNK * blockIdx.x;
  const int chunks = end > start ? (int)((end - start + stride - 1) / stride) : 0;  // of this block
  const auto bytes_of = [&](long long at) { return end - at < CHUNK ? (int)(end - at) : CHUNK; };
  const auto fetch = [&](int chunk, int stage) {
    const long long at = start + chunk * stride;
    kw::mbarrier::expect(full + 8 * stage, bytes_of(at));
    load(buffers + stage * CHUNK, (const char*)x + at, bytes_of(at), full + 8 * stage, policy);
  };

  for (int chunk = 0; chunk < min(chunks, STAGES); ++chunk) fetch(chunk, chunk);
  kw::Ring<STAGES> ring, behind;
  for (int chunk = 0; chunk < chunks; ++chunk, ring.advance()) {
    const long long at = start + chunk * stride;
    kw::mbarrier::wait(full + 8 * ring.stage, ring.phase);
    store((char*)y + at, buffers + ring.stage * CHUNK, bytes_of(at), policy);
    kw::tma::commit();
    if (chunk < kLag) continue;
    if (chunk - kLag + STAGES < chunks) {
      kw::tma::wait_read<kLag>();
      fetch(chunk - kLag + STAGES, behind.stage);
    }
    behind.advance();
  }
  kw::tma::wait_read<0>();  // shared memory is given up with the block
}
