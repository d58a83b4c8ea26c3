// PTX: loads, stores, atomic updates and addresses. The state space in an instruction's name decides how the address is taken
// (__kw_ptx_shared, or as it is), so the functions take generic ones.
#pragma once

#include "kw_atomic.h"
#include "kw_memory.h"
#include "kw_ptx.h"

// ---- addresses
// In the shared memory of a block of the cluster.
template <typename A>
KW_DEVICE size_t __kw_ptx_cluster(A address) {
  return (size_t)__kw_cluster_place((unsigned)address, 1);
}
#define KW_PTX_CVTA(name, offset)                               \
  template <typename D, typename A>                             \
  KW_DEVICE void __kw_ptx_cvta_##name(D& d, A a) {              \
    __kw_ptx_out<size_t>(d, (size_t)a offset);                  \
  }
KW_PTX_CVTA(to_shared_u64, -__kw_shared_window)
KW_PTX_CVTA(shared_u64, +__kw_shared_window)
KW_PTX_CVTA(global_u64, )
#define __kw_ptx_cvta_to_global_u64 __kw_ptx_cvta_global_u64

// ---- policies of the L2 cache, which change nothing here
template <typename D, typename... Share>
KW_DEVICE void __kw_ptx_createpolicy_fractional_b64(D& d, Share...) {
  __kw_ptx_out<unsigned long long>(d, 0);
}

// ---- loads and stores. A register may be wider than what it gets from memory, or gives to it.
template <typename T, typename D>
KW_DEVICE void __kw_ptx_widen(D& d, T value) {
  if constexpr (sizeof(D) > sizeof(T)) {
    d = static_cast<D>(value);
  } else {
    __kw_ptx_out<T>(d, value);
  }
}
KW_DEVICE void __kw_read_as_usual(const void*, unsigned long) {}
#define KW_PTX_LOADS(order, qualifier, note)                                                                         \
  template <typename T, typename D, typename A>                                                                      \
  KW_DEVICE void __kw_ptx_ld##order(D& d, A p) {                                                                     \
    note((const void*)(size_t)p, sizeof(T));                                                                         \
    __kw_ptx_widen<T>(d, *(const qualifier T*)(size_t)p);                                                            \
  }                                                                                                                  \
  template <typename T, typename D, typename E, typename A>                                                          \
  KW_DEVICE void __kw_ptx_ld##order##_v2(D& d, E& e, A p) {                                                          \
    typedef T V __attribute__((vector_size(2 * sizeof(T))));                                                         \
    note((const void*)(size_t)p, sizeof(V));                                                                         \
    const V v = *(const qualifier V*)(size_t)p;                                                                      \
    __kw_ptx_widen<T>(d, v[0]), __kw_ptx_widen<T>(e, v[1]);                                                          \
  }                                                                                                                  \
  template <typename T, typename D, typename E, typename F, typename G, typename A>                                  \
  KW_DEVICE void __kw_ptx_ld##order##_v4(D& d, E& e, F& f, G& g, A p) {                                              \
    typedef T V __attribute__((vector_size(4 * sizeof(T))));                                                         \
    note((const void*)(size_t)p, sizeof(V));                                                                         \
    const V v = *(const qualifier V*)(size_t)p;                                                                      \
    __kw_ptx_widen<T>(d, v[0]), __kw_ptx_widen<T>(e, v[1]), __kw_ptx_widen<T>(f, v[2]), __kw_ptx_widen<T>(g, v[3]);  \
  }
#define KW_PTX_STORES(order, qualifier)                                                                              \
  template <typename T, typename A, typename S>                                                                      \
  KW_DEVICE void __kw_ptx_st##order(A p, S s) {                                                                      \
    *(qualifier T*)(size_t)p = __kw_ptx_in<T>(s);                                                                    \
  }                                                                                                                  \
  template <typename T, typename A, typename S, typename U>                                                          \
  KW_DEVICE void __kw_ptx_st##order##_v2(A p, S s, U u) {                                                            \
    typedef T V __attribute__((vector_size(2 * sizeof(T))));                                                         \
    *(qualifier V*)(size_t)p = V{__kw_ptx_in<T>(s), __kw_ptx_in<T>(u)};                                              \
  }                                                                                                                  \
  template <typename T, typename A, typename S, typename U, typename W, typename X>                                  \
  KW_DEVICE void __kw_ptx_st##order##_v4(A p, S s, U u, W w, X x) {                                                  \
    typedef T V __attribute__((vector_size(4 * sizeof(T))));                                                         \
    *(qualifier V*)(size_t)p = V{__kw_ptx_in<T>(s), __kw_ptx_in<T>(u), __kw_ptx_in<T>(w), __kw_ptx_in<T>(x)};        \
  }
KW_PTX_LOADS(, , __kw_read_as_usual)
KW_PTX_LOADS(_volatile, volatile, __kw_read_as_usual)
KW_PTX_LOADS(_nc, , __kw_read_only)
KW_PTX_STORES(, )
KW_PTX_STORES(_volatile, volatile)
template <typename T, typename D, typename A>
KW_DEVICE void __kw_ptx_ld_relaxed(D& d, A p) {
  T value;
  __atomic_load((T*)(size_t)p, &value, __ATOMIC_RELAXED);
  __kw_ptx_widen<T>(d, value);
}
template <typename T, typename A, typename S>
KW_DEVICE void __kw_ptx_st_relaxed(A p, S s) {
  T value = __kw_ptx_in<T>(s);
  __atomic_store((T*)(size_t)p, &value, __ATOMIC_RELAXED);
}

// ---- atomic updates, also in the scope of the block; red has nowhere as its destination
#define KW_PTX_ATOMIC_IN(name, scope, function)                                                  \
  template <typename T, typename D, typename A, typename B>                                      \
  KW_DEVICE void __kw_ptx_atom_##name##scope(D& d, A p, B b) {                                   \
    __kw_ptx_out<T>(d, function##scope((T*)(size_t)p, __kw_ptx_in<T>(b)));                       \
  }
#define KW_PTX_ATOMIC(name, function)        \
  KW_PTX_ATOMIC_IN(name, , function)         \
  KW_PTX_ATOMIC_IN(name, _block, function)
KW_FETCH(__kw_ptx_add_to, __atomic_fetch_add, long long)
template <typename T>
KW_DEVICE T __kw_ptx_add_to(T* p, T value) {
  return atomicAdd(p, value);
}
template <typename T>
KW_DEVICE T __kw_ptx_add_to_block(T* p, T value) {
  return atomicAdd_block(p, value);
}
KW_PTX_ATOMIC(add, __kw_ptx_add_to)
KW_PTX_ATOMIC(min, atomicMin)
KW_PTX_ATOMIC(max, atomicMax)
KW_PTX_ATOMIC(and, atomicAnd)
KW_PTX_ATOMIC(or, atomicOr)
KW_PTX_ATOMIC(xor, atomicXor)
KW_PTX_ATOMIC(exch, atomicExch)
KW_PTX_ATOMIC(inc, atomicInc)
KW_PTX_ATOMIC(dec, atomicDec)
#define KW_PTX_CAS(scope)                                                                                          \
  template <typename T, typename D, typename A, typename B, typename C>                                            \
  KW_DEVICE void __kw_ptx_atom_cas##scope(D& d, A p, B expected, C desired) {                                      \
    __kw_ptx_out<T>(d, atomicCAS##scope((T*)(size_t)p, __kw_ptx_in<T>(expected), __kw_ptx_in<T>(desired)));        \
  }
KW_PTX_CAS()
KW_PTX_CAS(_block)
// Vectors and pairs: each number by itself is updated atomically. `add` updates one word.
template <typename V>
KW_DEVICE size_t __kw_ptx_aligned(size_t p) {
  if (p % sizeof(V) != 0) __kw_trap("red or atom of a vector: the address is no multiple of the vector's size");
  return p;
}
#define KW_PTX_ATOMIC_ADDS(suffix, scope, add)                                                           \
  template <typename D, typename E, typename A, typename B, typename C>                                  \
  KW_DEVICE void __kw_ptx_atom_add_v2_##suffix##scope(D& d, E& e, A p, B b, C c) {                       \
    const size_t at = __kw_ptx_aligned<uint2>((size_t)p);                                                \
    add(d, at, b), add(e, at + 4, c);                                                                    \
  }                                                                                                      \
  template <typename D, typename E, typename F, typename G, typename A, typename B, typename C,          \
            typename H, typename I>                                                                      \
  KW_DEVICE void __kw_ptx_atom_add_v4_##suffix##scope(D& d, E& e, F& f, G& g, A p, B b, C c, H h, I i) { \
    const size_t at = __kw_ptx_aligned<uint4>((size_t)p);                                                \
    add(d, at, b), add(e, at + 4, c), add(f, at + 8, h), add(g, at + 12, i);                             \
  }
KW_PTX_ATOMIC_ADDS(f32, , __kw_ptx_atom_add<float>)
KW_PTX_ATOMIC_ADDS(f32, _block, __kw_ptx_atom_add_block<float>)
