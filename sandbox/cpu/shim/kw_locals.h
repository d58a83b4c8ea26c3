// The content of a local variable that nobody set: drawn for each launch (sandbox/cpu/runtime/local_fill.h). The lexer adds the
// calls.
#pragma once

#include "kw_language.h"

template <typename T> struct __kw_kind { static constexpr int value = 0; };
template <typename T> struct __kw_kind<volatile T> : __kw_kind<T> {};
template <> struct __kw_kind<bool> { static constexpr int value = 1; };
#define KW_INTEGER(T) template <> struct __kw_kind<T> { static constexpr int value = 2; };
KW_INTEGER(signed char) KW_INTEGER(unsigned char) KW_INTEGER(char)
KW_INTEGER(short) KW_INTEGER(unsigned short) KW_INTEGER(int) KW_INTEGER(unsigned)
KW_INTEGER(long) KW_INTEGER(unsigned long) KW_INTEGER(long long) KW_INTEGER(unsigned long long)
#undef KW_INTEGER

template <typename T>
KW_DEVICE void __kw_fill(T& variable) {
  if constexpr (__kw_kind<T>::value == 1) {
    variable = __kw_local_bytes & 1;
  } else if constexpr (__kw_kind<T>::value == 2) {
    variable = static_cast<T>(__kw_local_integer);
  } else if constexpr (__is_trivially_constructible(T)) {
    auto* place = const_cast<void*>(static_cast<const volatile void*>(&variable));
    if constexpr (sizeof(T) <= 2 * sizeof(long)) {
      const unsigned long content[2] = {__kw_local_bytes, __kw_local_bytes};
      __builtin_memcpy(place, content, sizeof(T));
    } else {
      __builtin_memset(place, static_cast<int>(__kw_local_bytes & 255), sizeof(T));
    }
#if __has_builtin(__builtin_clear_padding)
    if constexpr (__is_class(T) && __is_trivially_copyable(T)) __builtin_clear_padding(&variable);
#endif
  }
}
template <typename T, size_t n>
KW_DEVICE void __kw_fill(T (&variables)[n]) {
  if constexpr (sizeof variables <= 256) {
    for (size_t i = 0; i < n; ++i) __kw_fill(variables[i]);
  } else if constexpr (__is_trivially_constructible(T)) {
    __builtin_memset(const_cast<void*>(static_cast<const volatile void*>(variables)),
                     static_cast<int>(__kw_local_bytes & 255), sizeof variables);
  }
}
