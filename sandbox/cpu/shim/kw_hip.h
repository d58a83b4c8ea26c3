// What HIP's device language has beside CUDA's: operations without masks, of the lanes that come together, and the
// processor's builtin functions that kernels use most.
#pragma once

#include "kw_atomic.h"
#include "kw_threads.h"

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

KW_DEVICE unsigned __lane_id() { return __kw_lane(); }
KW_DEVICE long long wall_clock64() { return __kw_clock(); }
KW_DEVICE float unsafeAtomicAdd(float* address, float value) { return atomicAdd(address, value); }
KW_DEVICE double unsafeAtomicAdd(double* address, double value) { return atomicAdd(address, value); }

// ---- exchanges and votes

template <typename T>
KW_DEVICE T __kw_converged_shuffle(const char* name, T value, unsigned source) {
  __kw_exchange<T> mine{value, value, source};
  __kw_converged_call(name, &__kw_exchange<T>::combine, &mine);
  return mine.taken;
}
template <typename T>
KW_DEVICE T __shfl(T value, int lane, int width = KW_WAVE) {
  return __kw_converged_shuffle("__shfl", value, __kw_source_lane(lane, width));
}
template <typename T>
KW_DEVICE T __shfl_up(T value, unsigned delta, int width = KW_WAVE) {
  return __kw_converged_shuffle("__shfl_up", value, __kw_source_up(delta, width));
}
template <typename T>
KW_DEVICE T __shfl_down(T value, unsigned delta, int width = KW_WAVE) {
  return __kw_converged_shuffle("__shfl_down", value, __kw_source_down(delta, width));
}
template <typename T>
KW_DEVICE T __shfl_xor(T value, int lane_mask, int width = KW_WAVE) {
  return __kw_converged_shuffle("__shfl_xor", value, __kw_source_xor(lane_mask, width));
}

KW_DEVICE __kw_ballot __kw_converged_vote(const char* name, bool predicate) {
  __kw_ballot mine{predicate, 0, 0};
  __kw_converged_call(name, &__kw_ballot::combine, &mine);
  return mine;
}
KW_DEVICE unsigned long long __ballot(int predicate) { return __kw_converged_vote("__ballot", predicate != 0).set; }
KW_DEVICE unsigned long long __ballot64(int predicate) { return __ballot(predicate); }
KW_DEVICE int __any(int predicate) { return __kw_converged_vote("__any", predicate != 0).set != 0; }
KW_DEVICE int __all(int predicate) {
  const __kw_ballot vote = __kw_converged_vote("__all", predicate != 0);
  return vote.set == vote.asked;
}

// ---- builtin functions

#define __builtin_amdgcn_workitem_id_x() threadIdx.x
#define __builtin_amdgcn_workitem_id_y() threadIdx.y
#define __builtin_amdgcn_workitem_id_z() threadIdx.z
#define __builtin_amdgcn_workgroup_id_x() blockIdx.x
#define __builtin_amdgcn_workgroup_id_y() blockIdx.y
#define __builtin_amdgcn_workgroup_id_z() blockIdx.z
#define __builtin_amdgcn_fence(order, scope) __threadfence()
#define __builtin_amdgcn_s_waitcnt(counters) ((void)0)
#define __builtin_amdgcn_sched_barrier(mask) ((void)0)
#define __builtin_amdgcn_s_sleep(time) __kw_yield()
#define __builtin_amdgcn_wavefrontsize() KW_WAVE

KW_DEVICE void __builtin_amdgcn_s_barrier() { __kw_barrier(0, 0); }
KW_DEVICE void __builtin_amdgcn_wave_barrier() { __kw_converged_call("__builtin_amdgcn_wave_barrier", nullptr, nullptr); }
KW_DEVICE unsigned long long __builtin_amdgcn_read_exec() { return __ballot(1); }
KW_DEVICE float __builtin_amdgcn_rcpf(float x) { return 1.0f / x; }
KW_DEVICE float __builtin_amdgcn_rsqf(float x) { return 1.0f / __builtin_sqrtf(x); }

// The lanes of a mask below this one.
KW_DEVICE unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned base) {
  const unsigned lane = __kw_lane();
  return base + static_cast<unsigned>(__builtin_popcount(lane < 32 ? mask & ((1u << lane) - 1) : mask));
}
KW_DEVICE unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned base) {
  const unsigned lane = __kw_lane();
  return lane < 32 ? base : base + static_cast<unsigned>(__builtin_popcount(mask & ((1u << (lane - 32)) - 1)));
}

KW_DEVICE int __builtin_amdgcn_readlane(int value, int lane) {
  return __kw_converged_shuffle("__builtin_amdgcn_readlane", value, static_cast<unsigned>(lane));
}
KW_DEVICE int __builtin_amdgcn_readfirstlane(int value) {
  const unsigned long long active = __ballot(1);
  return __builtin_amdgcn_readlane(value, __builtin_ctzll(active));
}
// Lanes that take no part give 0. `bytes`: four times the lane.
KW_DEVICE int __builtin_amdgcn_ds_bpermute(int bytes, int value) {
  const unsigned source = static_cast<unsigned>(bytes) / 4 % KW_WAVE;
  const unsigned long long active = __ballot(1);
  const int taken = __kw_converged_shuffle("__builtin_amdgcn_ds_bpermute", value, source);
  return (active >> source & 1) != 0 ? taken : 0;
}

// ---- products of matrices by a whole wavefront of 64 (CDNA's matrix cores)

#if KW_WAVE == 64 && defined(__FLT16_MAX__)
typedef float __kw_floats4 __attribute__((vector_size(16)));
typedef float __kw_floats16 __attribute__((vector_size(64)));
typedef _Float16 __kw_halves4 __attribute__((vector_size(8)));

KW_DEVICE float __kw_mfma_part(float value, int) { return value; }
KW_DEVICE float __kw_mfma_part(const __kw_halves4& values, int i) { return static_cast<float>(values[i]); }

// d = a * b + c. A lane holds `each` neighbouring k of row lane % N of a and of column lane % N of b, and the rows
// row_of(lane, ...) of that column of c and d.
template <int N, int each, typename Part, typename Sums>
struct __kw_mfma {
  Part a, b;
  Sums sums;
  bool complete;

  static constexpr int row_of(int lane, int i) { return i / 4 * (256 / N) + lane / N * 4 + i % 4; }

  __attribute__((no_sanitize("thread"))) static void combine(void* const* lanes, unsigned long active) {
    if (active != ~0ul) {
      for (unsigned long rest = active; rest != 0; rest &= rest - 1) {
        static_cast<__kw_mfma*>(lanes[__builtin_ctzl(rest)])->complete = false;
      }
      return;
    }
    constexpr int kDepth = 64 / N * each;
    float left[N][kDepth], right[kDepth][N], all[N][N] = {};
    for (int lane = 0; lane < 64; ++lane) {
      const auto& from = *static_cast<const __kw_mfma*>(lanes[lane]);
      for (int i = 0; i < each; ++i) {
        left[lane % N][lane / N * each + i] = __kw_mfma_part(from.a, i);
        right[lane / N * each + i][lane % N] = __kw_mfma_part(from.b, i);
      }
    }
    for (int m = 0; m < N; ++m) {
      for (int k = 0; k < kDepth; ++k) {
        for (int n = 0; n < N; ++n) all[m][n] += left[m][k] * right[k][n];
      }
    }
    for (int lane = 0; lane < 64; ++lane) {
      auto& to = *static_cast<__kw_mfma*>(lanes[lane]);
      for (int i = 0; i < N * N / 64; ++i) to.sums[i] += all[row_of(lane, i)][lane % N];
    }
  }
};
#define KW_MFMA(name, N, each, Part, Sums)                                                                          \
  KW_DEVICE Sums __builtin_amdgcn_mfma_f32_##name(const Part& a, const Part& b, const Sums& c, int, int, int) {     \
    __kw_mfma<N, each, Part, Sums> mine{a, b, c, true};                                                             \
    __kw_converged_call("mfma", &__kw_mfma<N, each, Part, Sums>::combine, &mine);                                   \
    if (!mine.complete) __kw_trap("mfma: some of the 64 lanes do not exist, have returned or have gone another way"); \
    return mine.sums;                                                                                               \
  }
KW_MFMA(16x16x16f16, 16, 4, __kw_halves4, __kw_floats4)
KW_MFMA(32x32x8f16, 32, 4, __kw_halves4, __kw_floats16)
KW_MFMA(16x16x4f32, 16, 1, float, __kw_floats4)
KW_MFMA(32x32x2f32, 32, 1, float, __kw_floats16)
#undef KW_MFMA
#endif
