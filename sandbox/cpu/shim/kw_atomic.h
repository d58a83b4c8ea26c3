// Atomic functions. Every scope (_block, _system) is the same here, but for the checking build: an update in the scope of
// a block has an order of its own, by which that build knows it.
#pragma once

#include "kw_language.h"

#define KW_SCOPES(define, order, name, ...)                                    \
  define(name, order, __VA_ARGS__)                                             \
  define(name##_system, order, __VA_ARGS__)                                    \
  define(name##_block, __ATOMIC_ACQUIRE, __VA_ARGS__)

#define KW_FETCH_IN(name, order, builtin, T)                                   \
  KW_DEVICE T name(T* address, T value) { return builtin(address, value, order); }
#define KW_FETCH(name, builtin, T) KW_SCOPES(KW_FETCH_IN, __ATOMIC_RELAXED, name, builtin, T)

// new value from the old one, here `old`, and `value`
#define KW_UPDATE_IN(name, order, T, bits, expression)                         \
  KW_DEVICE T name(T* address, T value) {                                      \
    bits* place = reinterpret_cast<bits*>(address);                            \
    bits seen = __atomic_load_n(place, __ATOMIC_RELAXED), next;                \
    T old;                                                                     \
    do {                                                                       \
      old = __kw_bits<T>(seen);                                                \
      next = __kw_bits<bits>(static_cast<T>(expression));                      \
    } while (!__atomic_compare_exchange_n(place, &seen, next, true, order, __ATOMIC_RELAXED)); \
    return old;                                                                \
  }
#define KW_UPDATE(name, T, bits, expression)                                   \
  KW_SCOPES(KW_UPDATE_IN, __ATOMIC_RELAXED, name, T, bits, expression)

#define KW_INTEGER_ATOMICS(T)                                                  \
  KW_FETCH(atomicAdd, __atomic_fetch_add, T)                                   \
  KW_FETCH(atomicExch, __atomic_exchange_n, T)                                 \
  KW_FETCH(atomicAnd, __atomic_fetch_and, T)                                   \
  KW_FETCH(atomicOr, __atomic_fetch_or, T)                                     \
  KW_FETCH(atomicXor, __atomic_fetch_xor, T)                                   \
  KW_UPDATE(atomicMin, T, T, value < old ? value : old)                        \
  KW_UPDATE(atomicMax, T, T, value > old ? value : old)

// A failed exchange lets the other threads run: the one that holds a lock among them.
#define KW_COMPARE_AND_SWAP_IN(name, order, T)                                 \
  KW_DEVICE T name(T* address, T expected, T desired) {                        \
    const T wanted = expected;                                                 \
    __atomic_compare_exchange_n(address, &expected, desired, false, order, __ATOMIC_RELAXED); \
    if (expected != wanted) __kw_yield();                                      \
    return expected;                                                           \
  }
#define KW_COMPARE_AND_SWAP(T) KW_SCOPES(KW_COMPARE_AND_SWAP_IN, __ATOMIC_SEQ_CST, atomicCAS, T)

KW_INTEGER_ATOMICS(int)
KW_INTEGER_ATOMICS(unsigned)
KW_INTEGER_ATOMICS(unsigned long long)
KW_UPDATE(atomicMin, long long, long long, value < old ? value : old)
KW_UPDATE(atomicMax, long long, long long, value > old ? value : old)
KW_FETCH(atomicSub, __atomic_fetch_sub, int)
KW_FETCH(atomicSub, __atomic_fetch_sub, unsigned)
KW_UPDATE(atomicInc, unsigned, unsigned, old >= value ? 0 : old + 1)
KW_UPDATE(atomicDec, unsigned, unsigned, old == 0 || old > value ? value : old - 1)
KW_UPDATE(atomicAdd, float, unsigned, old + value)
KW_UPDATE(atomicAdd, double, unsigned long long, old + value)
KW_UPDATE(atomicExch, float, unsigned, value)
KW_COMPARE_AND_SWAP(int)
KW_COMPARE_AND_SWAP(unsigned)
KW_COMPARE_AND_SWAP(unsigned long long)
KW_COMPARE_AND_SWAP(unsigned short)

// Each component by itself is atomic, as on sm_90.
KW_DEVICE float2 atomicAdd(float2* address, float2 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
KW_DEVICE float4 atomicAdd(float4* address, float4 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y), atomicAdd(&address->z, value.z),
          atomicAdd(&address->w, value.w)};
}
