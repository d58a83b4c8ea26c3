// Integer intrinsics.
#pragma once

#include "kw_language.h"

KW_DEVICE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
KW_DEVICE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
KW_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
KW_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
KW_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
KW_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KW_DEVICE unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
KW_DEVICE unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 | __brev(static_cast<unsigned>(x >> 32));
}
// Selector nibbles of 8 and more repeat the byte's sign.
KW_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned which = selector >> (4 * i) & 0xf;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (which & 7))) & 0xff;
    if (which & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
KW_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31) >> 32);
}
KW_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
KW_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
KW_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
KW_DEVICE int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
KW_DEVICE unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
KW_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  const unsigned long long low = static_cast<unsigned>(x), high = x >> 32;
  const unsigned long long other_low = static_cast<unsigned>(y), other_high = y >> 32;
  const unsigned long long middle = high * other_low + (low * other_low >> 32);
  const unsigned long long carry = low * other_high + static_cast<unsigned>(middle);
  return high * other_high + (middle >> 32) + (carry >> 32);
}
KW_DEVICE long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(__umul64hi(static_cast<unsigned long long>(x), static_cast<unsigned long long>(y))) -
         (x < 0 ? y : 0) - (y < 0 ? x : 0);
}
KW_DEVICE int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
KW_DEVICE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
KW_DEVICE int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
KW_DEVICE int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
KW_DEVICE unsigned __uhadd(unsigned x, unsigned y) { return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1); }
KW_DEVICE unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
KW_DEVICE unsigned __sad(int x, int y, unsigned z) {
  return z + (x > y ? static_cast<unsigned>(x) - static_cast<unsigned>(y) : static_cast<unsigned>(y) - static_cast<unsigned>(x));
}
KW_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
KW_DEVICE int __dp4a(int x, int y, int sum) {
  for (int i = 0; i < 32; i += 8) sum += static_cast<signed char>(x >> i) * static_cast<signed char>(y >> i);
  return sum;
}
KW_DEVICE unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
  for (int i = 0; i < 32; i += 8) sum += (x >> i & 0xff) * (y >> i & 0xff);
  return sum;
}
