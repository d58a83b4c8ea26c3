// __nv_bfloat16 and __nv_bfloat162 (float without its lower half) with the functions and operators of the toolkit's
// header of this name.
#pragma once

#include "cuda_fp16.h"
#include "kw_narrow_float.h"

#define __CUDA_BF16_TYPES_EXIST__
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)

KW_NARROW_RAW(__nv_bfloat16)
struct __attribute__((aligned(2))) __nv_bfloat16 {
  KW_NARROW_MEMBERS(__nv_bfloat16, bfloat16)
#ifndef __CUDA_NO_BFLOAT16_CONVERSIONS__
  explicit __nv_bfloat16(__half value) : __x(__kw_bfloat16_bits(__half2float(value))) {}
  KW_NARROW_CONVERSIONS(__nv_bfloat16, bfloat16)
#endif
};
KW_NARROW_PAIR(__nv_bfloat16, double)
KW_NARROW_CONVERTERS(__nv_bfloat16, bfloat16, 7)
#ifndef __CUDA_NO_BFLOAT16_OPERATORS__
KW_NARROW_SINGLE_OPERATORS(__nv_bfloat16, bfloat16)
#endif
#ifndef __CUDA_NO_BFLOAT162_OPERATORS__
KW_NARROW_PAIR_OPERATORS(__nv_bfloat16, bfloat16)
#endif
#ifndef __CUDA_NO_HALF_CONVERSIONS__
inline __half::__half(__nv_bfloat16 value) : __x(__kw_half_bits(__bfloat162float(value))) {}
#endif

#ifndef CUDA_NO_BFLOAT16
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
