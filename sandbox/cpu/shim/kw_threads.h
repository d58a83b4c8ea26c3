// Barriers, fences and the operations of a warp.
#pragma once

#include "kw_language.h"

KW_DEVICE void __syncthreads() { __kw_barrier(0, 0); }
KW_DEVICE int __syncthreads_count(int predicate) { return __kw_barrier(1, predicate); }
KW_DEVICE int __syncthreads_and(int predicate) { return __kw_barrier(2, predicate); }
KW_DEVICE int __syncthreads_or(int predicate) { return __kw_barrier(3, predicate); }
KW_DEVICE void __syncwarp(__kw_mask mask = ~__kw_mask(0)) { __kw_syncwarp(mask); }
KW_DEVICE void __threadfence() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }  // one thread of the host runs them all
KW_DEVICE void __threadfence_block() { asm volatile("" ::: "memory"); }  // it orders nothing between blocks
KW_DEVICE void __threadfence_system() { __threadfence(); }
KW_DEVICE void __nanosleep(unsigned) { __kw_yield(); }

typedef long clock_t;
KW_DEVICE clock_t clock() { return __kw_clock(); }
KW_DEVICE long long clock64() { return __kw_clock(); }

KW_DEVICE void __trap() { __kw_trap("__trap"); }
KW_DEVICE void __brkpt() { __kw_trap("__brkpt"); }
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(...) ((__VA_ARGS__) ? (void)0 : __kw_trap("assertion failed: " #__VA_ARGS__))
#endif

KW_DEVICE unsigned __kw_thread_rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
KW_DEVICE unsigned __kw_lane() { return __kw_thread_rank() % KW_WAVE; }
KW_DEVICE __kw_mask __activemask() { return __kw_active_mask(); }

// One lane's part in an exchange: what it gives, from which lane it takes, what it got.
template <typename T>
struct __kw_exchange {
  T given, taken;
  unsigned source;

  // From a lane that takes no part, whose value CUDA leaves undefined: none that a maximum or a sum overlooks.
  static T undefined(T value) {
    unsigned char bytes[sizeof(T)];
    __builtin_memcpy(bytes, &value, sizeof(T));
    for (unsigned char& byte : bytes) byte = ~byte;
    __builtin_memcpy(&value, bytes, sizeof(T));
    return value;
  }

  static void combine(void* const* lanes, unsigned long active) {
    for (unsigned long rest = active; rest != 0; rest &= rest - 1) {
      auto* mine = static_cast<__kw_exchange*>(lanes[__builtin_ctzl(rest)]);
      auto* from = static_cast<__kw_exchange*>(lanes[mine->source % KW_WAVE]);
      mine->taken = from != nullptr ? from->given : undefined(mine->given);
    }
  }
};
template <typename T>
KW_DEVICE T __kw_shuffle(const char* name, __kw_mask mask, T value, unsigned source) {
  __kw_exchange<T> mine{value, value, source};
  __kw_warp_call(name, mask, &__kw_exchange<T>::combine, &mine);
  return mine.taken;
}

KW_DEVICE unsigned __kw_source_lane(int lane, int width) {
  return (__kw_lane() & ~(width - 1u)) | (static_cast<unsigned>(lane) & (width - 1u));
}
KW_DEVICE unsigned __kw_source_up(unsigned delta, int width) {
  const unsigned lane = __kw_lane();
  return (lane & (width - 1u)) >= delta ? lane - delta : lane;
}
KW_DEVICE unsigned __kw_source_down(unsigned delta, int width) {
  const unsigned lane = __kw_lane();
  return (lane & (width - 1u)) + delta < static_cast<unsigned>(width) ? lane + delta : lane;
}
KW_DEVICE unsigned __kw_source_xor(int lane_mask, int width) {
  const unsigned lane = __kw_lane(), source = lane ^ static_cast<unsigned>(lane_mask);
  return source <= (lane | (width - 1u)) ? source : lane;
}

#define KW_SHUFFLES(T)                                                                             \
  KW_DEVICE T __shfl_sync(__kw_mask mask, T value, int lane, int width = KW_WAVE) {                      \
    return __kw_shuffle("__shfl_sync", mask, value, __kw_source_lane(lane, width));                \
  }                                                                                                \
  KW_DEVICE T __shfl_up_sync(__kw_mask mask, T value, unsigned delta, int width = KW_WAVE) {             \
    return __kw_shuffle("__shfl_up_sync", mask, value, __kw_source_up(delta, width));              \
  }                                                                                                \
  KW_DEVICE T __shfl_down_sync(__kw_mask mask, T value, unsigned delta, int width = KW_WAVE) {           \
    return __kw_shuffle("__shfl_down_sync", mask, value, __kw_source_down(delta, width));          \
  }                                                                                                \
  KW_DEVICE T __shfl_xor_sync(__kw_mask mask, T value, int lane_mask, int width = KW_WAVE) {             \
    return __kw_shuffle("__shfl_xor_sync", mask, value, __kw_source_xor(lane_mask, width));        \
  }
KW_SHUFFLES(int)
KW_SHUFFLES(unsigned)
KW_SHUFFLES(long)
KW_SHUFFLES(unsigned long)
KW_SHUFFLES(long long)
KW_SHUFFLES(unsigned long long)
KW_SHUFFLES(float)
KW_SHUFFLES(double)

struct __kw_ballot {
  bool predicate;
  __kw_mask set, asked;

  static void combine(void* const* lanes, unsigned long active) {
    __kw_mask set = 0;
    for (unsigned long rest = active; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctzl(rest);
      set |= static_cast<__kw_mask>(static_cast<__kw_ballot*>(lanes[lane])->predicate) << lane;
    }
    for (unsigned long rest = active; rest != 0; rest &= rest - 1) {
      auto* mine = static_cast<__kw_ballot*>(lanes[__builtin_ctzl(rest)]);
      mine->set = set;
      mine->asked = active;
    }
  }
};
KW_DEVICE __kw_ballot __kw_vote(const char* name, __kw_mask mask, bool predicate) {
  __kw_ballot mine{predicate, 0, 0};
  __kw_warp_call(name, mask, &__kw_ballot::combine, &mine);
  return mine;
}
KW_DEVICE __kw_mask __ballot_sync(__kw_mask mask, int predicate) { return __kw_vote("__ballot_sync", mask, predicate != 0).set; }
KW_DEVICE int __any_sync(__kw_mask mask, int predicate) { return __kw_vote("__any_sync", mask, predicate != 0).set != 0; }
KW_DEVICE int __all_sync(__kw_mask mask, int predicate) {
  const __kw_ballot vote = __kw_vote("__all_sync", mask, predicate != 0);
  return vote.set == vote.asked;
}

template <typename T>
struct __kw_match {
  T value;
  __kw_mask same, asked;

  static void combine(void* const* lanes, unsigned long active) {
    for (unsigned long rest = active; rest != 0; rest &= rest - 1) {
      auto* mine = static_cast<__kw_match*>(lanes[__builtin_ctzl(rest)]);
      mine->same = 0;
      mine->asked = active;
      for (unsigned long others = active; others != 0; others &= others - 1) {
        const int lane = __builtin_ctzl(others);
        mine->same |= static_cast<__kw_mask>(static_cast<__kw_match*>(lanes[lane])->value == mine->value) << lane;
      }
    }
  }
};
template <typename T>
KW_DEVICE __kw_match<T> __kw_find_matches(const char* name, __kw_mask mask, T value) {
  __kw_match<T> mine{value, 0, 0};
  __kw_warp_call(name, mask, &__kw_match<T>::combine, &mine);
  return mine;
}
#define KW_MATCHES(T, bits)                                                                        \
  KW_DEVICE __kw_mask __match_any_sync(__kw_mask mask, T value) {                                    \
    return __kw_find_matches("__match_any_sync", mask, __kw_bits<bits>(value)).same;               \
  }                                                                                                \
  KW_DEVICE __kw_mask __match_all_sync(__kw_mask mask, T value, int* predicate) {                    \
    const auto found = __kw_find_matches("__match_all_sync", mask, __kw_bits<bits>(value));        \
    *predicate = found.same == found.asked;                                                        \
    return *predicate ? found.asked : 0;                                                           \
  }
KW_MATCHES(int, unsigned)
KW_MATCHES(unsigned, unsigned)
KW_MATCHES(long, unsigned long)
KW_MATCHES(unsigned long, unsigned long)
KW_MATCHES(long long, unsigned long long)
KW_MATCHES(unsigned long long, unsigned long long)
KW_MATCHES(float, unsigned)
KW_MATCHES(double, unsigned long)

#define KW_REDUCTION(name, T, expression)                                                          \
  struct __kw_##name##_##T {                                                                       \
    T value;                                                                                       \
    static void combine(void* const* lanes, unsigned long active) {                                  \
      T a = static_cast<__kw_##name##_##T*>(lanes[__builtin_ctzl(active)])->value;                  \
      for (unsigned long rest = active & (active - 1); rest != 0; rest &= rest - 1) {                   \
        const T b = static_cast<__kw_##name##_##T*>(lanes[__builtin_ctzl(rest)])->value;            \
        a = expression;                                                                            \
      }                                                                                            \
      for (unsigned long rest = active; rest != 0; rest &= rest - 1)                                    \
        static_cast<__kw_##name##_##T*>(lanes[__builtin_ctzl(rest)])->value = a;                    \
    }                                                                                              \
  };                                                                                               \
  KW_DEVICE T __reduce_##name##_sync(__kw_mask mask, T value) {                                     \
    __kw_##name##_##T mine{value};                                                                 \
    __kw_warp_call("__reduce_" #name "_sync", mask, &__kw_##name##_##T::combine, &mine);           \
    return mine.value;                                                                             \
  }
KW_REDUCTION(add, unsigned, a + b)
KW_REDUCTION(min, unsigned, b < a ? b : a)
KW_REDUCTION(max, unsigned, b > a ? b : a)
KW_REDUCTION(and, unsigned, a & b)
KW_REDUCTION(or, unsigned, a | b)
KW_REDUCTION(xor, unsigned, a ^ b)
KW_REDUCTION(add, int, a + b)
KW_REDUCTION(min, int, b < a ? b : a)
KW_REDUCTION(max, int, b > a ? b : a)
