// mbarriers: barriers in shared memory (8 bytes, aligned to 8) that count arrivals of threads and bytes of TMA.
// arch: sm_90
//
// A phase ends when `arrivals` threads have arrived and all expected bytes are there; then the next one begins. wait()
// returns when the phase of the given parity has ended. Parities alternate, the first phase has 0; waiting for parity 1
// at a fresh barrier returns at once. One thread calls init() for all barriers, then fence_init(), then the block (or
// the cluster, if others arrive or copy) meets. That thread may start copies before; it calls tma::fence() first.
//
// A ring of buffers has two barriers for each: full (1 arrival and the bytes) and empty (one arrival for each consuming
// warp). Producer and consumers walk it with a Ring of their own:
//
//   kw::Ring<STAGES> ring;                                        // the producer, one thread
//   for (int step = 0; step < steps; ++step, ring.advance()) {
//     kw::mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
//     kw::mbarrier::expect(full + 8 * ring.stage, BYTES);         // its arrival, and what the copies will bring
//     kw::tma::load(memory + ring.stage * BYTES, &map, x, y, full + 8 * ring.stage);
//   }
//   ...                                                           // a consumer, for each step
//   kw::mbarrier::wait(full + 8 * ring.stage, ring.phase);
//   __syncwarp();                                                 // where lanes read the buffer: all have read it
//   if (lane == 0) kw::mbarrier::arrive(empty + 8 * ring.stage);  // after wgmma's or the warp's last use of it
namespace kw {

template <int stages>
struct Ring {
  int stage = 0, phase = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

namespace mbarrier {

__device__ __forceinline__ void init(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// At the same barrier of a block of the cluster; blocks: how many it has. It publishes nothing to other blocks:
// `.release.cluster` would, but waits for all of the warp's accesses to global memory, at each step.
template <int blocks>
__device__ __forceinline__ void arrive_at(unsigned barrier, int block) {
  if constexpr (blocks == 1) {
    arrive(barrier);
  } else {
    asm volatile(
        "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
        "r"(block)
        : "memory");
  }
}
// Arrives, and adds bytes that copies will bring to this phase.
__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void wait(unsigned barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace mbarrier
}  // namespace kw
