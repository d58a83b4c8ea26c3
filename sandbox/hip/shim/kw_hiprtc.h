// For every kernel on AMD GPUs, after kw_prelude.h and hiprtc's own declarations: CUDA's names for what HIP has under
// another one, so that one source can serve both. KW_WAVE: lanes of a wavefront, 32 or 64; a mask of lanes has 64 bits.
// Macros, since some versions of HIP have functions of these names for masks of 64 bits alone.
#pragma once

#ifndef KW_WHOLE_WAVE
#define KW_WHOLE_WAVE 0xffffffffffffffffull
#endif
#define KW_INLINE __device__ inline __attribute__((always_inline))

// Device functions are inlined: no kernel calls through a register.
#undef __noinline__
#define __noinline__
#undef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__

// Older names of HIP's own, and NULL.
#ifndef NULL
#define NULL 0
#endif
#ifndef hipThreadIdx_x
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#endif

typedef unsigned long long __kw_lanes;

// Moves a value of any size as words. `move`: of an int.
template <typename T, typename Move>
KW_INLINE T __kw_move(T value, Move move) {
  constexpr int count = (sizeof(T) + 3) / 4;
  int words[count] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (int i = 0; i < count; ++i) words[i] = move(words[i]);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}
template <typename T>
KW_INLINE T __kw_shfl(T value, int lane, int width = KW_WAVE) {
  return __kw_move(value, [=](int word) { return __shfl(word, lane, width); });
}
template <typename T>
KW_INLINE T __kw_shfl_up(T value, unsigned delta, int width = KW_WAVE) {
  return __kw_move(value, [=](int word) { return __shfl_up(word, delta, width); });
}
template <typename T>
KW_INLINE T __kw_shfl_down(T value, unsigned delta, int width = KW_WAVE) {
  return __kw_move(value, [=](int word) { return __shfl_down(word, delta, width); });
}
template <typename T>
KW_INLINE T __kw_shfl_xor(T value, int mask, int width = KW_WAVE) {
  return __kw_move(value, [=](int word) { return __shfl_xor(word, mask, width); });
}
// A wavefront runs in step; this keeps the compiler from moving memory operations across.
KW_INLINE void __kw_syncwave() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
KW_INLINE __kw_lanes __kw_ballot(__kw_lanes mask, int predicate) { return __ballot(predicate) & mask; }
KW_INLINE __kw_lanes __kw_active() { return __ballot(1); }

#define __shfl_sync(mask, ...) __kw_shfl(__VA_ARGS__)
#define __shfl_up_sync(mask, ...) __kw_shfl_up(__VA_ARGS__)
#define __shfl_down_sync(mask, ...) __kw_shfl_down(__VA_ARGS__)
#define __shfl_xor_sync(mask, ...) __kw_shfl_xor(__VA_ARGS__)
#define __syncwarp(...) __kw_syncwave()
#define __activemask() __kw_active()
#define __ballot_sync(mask, predicate) __kw_ballot(mask, predicate)
#define __any_sync(mask, predicate) (__kw_ballot(mask, predicate) != 0)
#define __all_sync(mask, predicate) (__kw_ballot(mask, !(predicate)) == 0)

// Loads and stores with hints: plain, or past the caches.
template <typename T>
KW_INLINE T __kw_load(const T* from) {
  return *from;
}
template <typename T>
KW_INLINE void __kw_store(T* to, T value) {
  *to = value;
}
#undef __ldg
#define __ldg(from) __kw_load(from)
#define __ldca(from) __kw_load(from)
#define __ldcg(from) __kw_load(from)
#define __ldcs(from) __kw_load(from)
#define __ldlu(from) __kw_load(from)
#define __ldcv(from) __kw_load(const_cast<const volatile decltype(+*(from))*>(from))
#define __stwb(to, value) __kw_store(to, value)
#define __stcg(to, value) __kw_store(to, value)
#define __stcs(to, value) __kw_store(to, value)
#define __stwt(to, value) __kw_store(to, value)

// By another way than the one through a hostcall, which inspection refuses.
#undef assert
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
