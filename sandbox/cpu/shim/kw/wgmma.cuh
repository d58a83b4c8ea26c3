// <kw/wgmma.cuh> on the cpu device, where its assembly, made by macros, cannot be read.
// stands for 6a7c16fe6c9f427889941c4e0900ea3fa2db4c079a2c858301b96a3b5bad8945
#pragma once

#include "../kw_hopper.h"

namespace kw {
namespace wgmma {

enum Type { bf16, f16, e4m3 };
enum Major { k_major = 0, mn_major = 1 };

KW_DEVICE unsigned long long descriptor(unsigned address, int leading_bytes, int stride_bytes) {
  return (unsigned long long)((address & 0x3FFFF) >> 4) | (unsigned long long)(leading_bytes >> 4) << 16 |
         (unsigned long long)(stride_bytes >> 4) << 32 | 1ull << 62;
}
KW_DEVICE unsigned long long k_major_tile(unsigned address) { return descriptor(address, 16, 1024); }
KW_DEVICE unsigned long long mn_major_tile(unsigned address, int box_bytes) {
  return descriptor(address, box_bytes, 1024);
}

KW_DEVICE void fence() {}
KW_DEVICE void commit() { __kw_commit_products(); }
template <int N>
KW_DEVICE void wait() {
  __kw_wait_products(N);
}
template <typename T, int N>
KW_DEVICE void settle(T (&)[N]) {}

KW_DEVICE unsigned char type_of(Type type) { return type == bf16 ? __kw_bf16 : type == f16 ? __kw_f16 : __kw_e4m3; }

template <Type type, Major of_b = k_major, Major of_a = k_major, int count>
KW_DEVICE void multiply(float (&d)[count], unsigned long long a, unsigned long long b, int add) {
  static_assert(type != e4m3 || (of_a == k_major && of_b == k_major), "k must be contiguous");
  __kw_warpgroup_product mine{d,     a,     b,     nullptr,         2 * count,       type_of(type), type_of(type), add != 0,
                              false, false, of_a == mn_major, of_b == mn_major};
  __kw_product(&mine);
}
template <Type type, Major of_b = k_major, int count>
KW_DEVICE void multiply(float (&d)[count], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned long long b,
                        int add) {
  static_assert(type != e4m3 || of_b == k_major, "k must be contiguous");
  const unsigned words[4] = {a0, a1, a2, a3};
  __kw_warpgroup_product mine{d,     0,     b,     words, 2 * count, type_of(type), type_of(type), add != 0,
                              false, false, false, of_b == mn_major};
  __kw_product(&mine);
}

}  // namespace wgmma
}  // namespace kw
