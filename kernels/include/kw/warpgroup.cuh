// Warpgroups (128 threads, four warps from a multiple of four on) that do different work: their barriers and registers.
// arch: sm_90a
// problems: gemm, attention
//
// Named barriers 1 to 15 let some warps of a block meet; __syncthreads is number 0. sync() arrives and waits, arrive()
// only arrives; the template argument counts the threads of both, a multiple of 32. Groups that take turns wait at a
// barrier of their own for the arrival of the group before.
//
// A block starts with the same number of registers for each thread. A producer gives most of its own away and consumers
// take them: all threads of a warpgroup call it; the count is a multiple of 8, and the sum over the block must fit.
//
//   if (threadIdx.x / 128 == 2) {
//     kw::warpgroup::keep_registers<40>();
//     ...                                      // one thread feeds TMA
//   } else {
//     kw::warpgroup::take_registers<232>();
//     kw::warpgroup::sync<128>(1 + threadIdx.x / 128);
//   }
namespace kw {
namespace warpgroup {

template <int threads>
__device__ __forceinline__ void sync(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}
template <int threads>
__device__ __forceinline__ void arrive(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}

// Lowers the registers of a thread to this count.
template <int count>
__device__ __forceinline__ void keep_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
// Raises them to this count; waits until others have given theirs.
template <int count>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

}  // namespace warpgroup
}  // namespace kw
