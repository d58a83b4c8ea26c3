// Loads and stores with cache hints, address spaces, memory functions.
#pragma once

#include "kw_language.h"

// The hints mean nothing here.
#define KW_LOAD(name) template <typename T> KW_DEVICE T name(const T* address) { return *address; }
#define KW_STORE(name) template <typename T> KW_DEVICE void name(T* address, T value) { *address = value; }
template <typename T>
KW_DEVICE T __ldg(const T* address) {
  __kw_read_only(address, sizeof(T));
  return *address;
}
KW_LOAD(__ldca)
KW_LOAD(__ldcg)
KW_LOAD(__ldcs)
KW_LOAD(__ldlu)
KW_LOAD(__ldcv)
KW_STORE(__stwb)
KW_STORE(__stcg)
KW_STORE(__stcs)
KW_STORE(__stwt)

KW_DEVICE size_t __cvta_generic_to_global(const void* address) { return reinterpret_cast<size_t>(address); }
// Shared memory has addresses of its own: 32 bits, as PTX takes them.
KW_DEVICE size_t __cvta_generic_to_shared(const void* address) {
  return reinterpret_cast<size_t>(address) - __kw_shared_window;
}
KW_DEVICE void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
KW_DEVICE void* __cvta_shared_to_generic(size_t address) {
  return reinterpret_cast<void*>(__kw_shared_window + address);
}

#if !defined(__clang__)  // which has it
KW_DEVICE void __builtin_assume(bool condition) {
  if (!condition) __builtin_unreachable();
}
#endif

extern "C" {
void* memcpy(void*, const void*, size_t) noexcept;
void* memmove(void*, const void*, size_t) noexcept;
void* memset(void*, int, size_t) noexcept;
int memcmp(const void*, const void*, size_t) noexcept;
// Declared as CUDA does; the inspection of the binary reports their use as unsupported.
void* malloc(size_t) noexcept;
void free(void*) noexcept;
int printf(const char*, ...);
}
inline void* operator new(size_t, void* place) noexcept { return place; }
inline void* operator new[](size_t, void* place) noexcept { return place; }
