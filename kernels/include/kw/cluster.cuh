// Thread block clusters ("cluster" of a launch): blocks that run at the same time and reach each other's shared memory.
// arch: sm_90
//
// Template argument: the number of blocks; with 1 there is no cluster, and sync() is that of the block. All threads of
// all blocks take part in sync(), or in arrive() and wait(); whole warps do so together (__syncwarp before, if lanes
// were apart). Writes before arrive() are visible behind wait(). A block touches another's shared memory only between
// two such meetings: the first says that the other runs, the last that no one will come back to it when it has left.
//
//   kw::cluster::arrive<2>();                            // at the start
//   ...
//   kw::cluster::wait<2>();                              // the other block runs
//   kw::cluster::store_four(kw::cluster::map(kw::shared_address(&slots[threadIdx.x]), 1 - rank), x, y, z, w);
//   kw::cluster::sync<2>();                              // its words are here
namespace kw {
namespace cluster {

template <int blocks>
__device__ __forceinline__ void arrive() {
  if constexpr (blocks > 1) asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
// Without a cluster, arrive() does nothing and wait() is the block's barrier.
template <int blocks>
__device__ __forceinline__ void wait() {
  if constexpr (blocks == 1) {
    __syncthreads();
  } else {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
}
template <int blocks>
__device__ __forceinline__ void sync() {
  arrive<blocks>();
  wait<blocks>();
}

// Address of what lies at `address` in the shared memory of a block of the cluster.
__device__ __forceinline__ unsigned map(unsigned address, int block) {
  unsigned mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(block));
  return mapped;
}
// Mapped addresses. Four floats are aligned to 16 bytes.
__device__ __forceinline__ void store(unsigned to, float value) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(value) : "memory");
}
__device__ __forceinline__ void store_four(unsigned to, float x, float y, float z, float w) {
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(x), "f"(y), "f"(z), "f"(w)
               : "memory");
}
__device__ __forceinline__ float load(unsigned from) {
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(from) : "memory");
  return value;
}

}  // namespace cluster
}  // namespace kw
