// TMA: one thread copies boxes of a tensor map, or plain rows of bytes, between global and shared memory.
// arch: sm_90
//
// Coordinates count elements, innermost first, and name the first element of the box. Elements outside the tensor read
// as zeros and are not written; a load always brings the whole box's bytes. Boxes lie densely in shared memory, aligned
// to 128 bytes, or 1024 if swizzled by 128. A load reports its bytes to an mbarrier that expects them (mbarrier.cuh).
//
// Stores read shared memory asynchronously: threads write it, each calls fence(), they meet, and one thread stores and
// commits. That thread waits before the memory is written again (wait_read) or the kernel ends (wait).
//
//   kw::tma::fence();
//   __syncthreads();
//   if (threadIdx.x == 0) {
//     kw::tma::store(&c_map, n, m, buffer);
//     kw::tma::commit();
//     kw::tma::wait_read<0>();
//   }
//
// Tensor maps are kernel parameters, `const __grid_constant__ CUtensorMap`, which need #include <cuda.h>.
#include <cuda.h>

namespace kw {
namespace tma {

// Orders this thread's accesses to shared memory before those of TMA that follow.
__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Fetches the map itself ahead of its first use.
__device__ __forceinline__ void prefetch(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__device__ __forceinline__ void load(unsigned to, const CUtensorMap* map, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void load(unsigned to, const CUtensorMap* map, int x, int y, int z, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
          "r"(to),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void load(unsigned to, const CUtensorMap* map, int x, int y, int z, int w,
                                     unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], "
      "[%6];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(barrier)
      : "memory");
}
// To the same address of each block of the cluster; reports to the same barrier of each. blocks: how many it has.
template <int blocks>
__device__ __forceinline__ void load_multicast(unsigned to, const CUtensorMap* map, int x, int y, unsigned barrier) {
  if constexpr (blocks == 1) {
    load(to, map, x, y, barrier);
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(map), "r"(x), "r"(y), "r"(barrier), "h"((unsigned short)((1 << blocks) - 1))
        : "memory");
  }
}
// Without a map. Addresses and bytes are multiples of 16.
__device__ __forceinline__ void load_bytes(unsigned to, const void* from, int bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}

__device__ __forceinline__ void store(const CUtensorMap* map, int x, int y, unsigned from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y),
               "r"(from)
               : "memory");
}
__device__ __forceinline__ void store(const CUtensorMap* map, int x, int y, int z, unsigned from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(x),
               "r"(y), "r"(z), "r"(from)
               : "memory");
}
__device__ __forceinline__ void store(const CUtensorMap* map, int x, int y, int z, int w, unsigned from) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%1, %2, %3, %4}], [%5];" ::"l"(map), "r"(x),
               "r"(y), "r"(z), "r"(w), "r"(from)
               : "memory");
}
__device__ __forceinline__ void store_bytes(void* to, unsigned from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
               : "memory");
}

// Makes a group of this thread's stores since the last one; it may be empty.
__device__ __forceinline__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until all but the latest N groups of this thread have read their shared memory, or also written.
template <int N>
__device__ __forceinline__ void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
template <int N>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

}  // namespace tma
}  // namespace kw
