// __half and __half2 (IEEE 754 binary16) with the functions and operators of the toolkit's header of this name.
#pragma once

#include "kw_narrow_float.h"

#define __CUDA_FP16_TYPES_EXIST__
#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)

struct __nv_bfloat16;
KW_NARROW_RAW(__half)
struct __attribute__((aligned(2))) __half {
  KW_NARROW_MEMBERS(__half, half)
#ifndef __CUDA_NO_HALF_CONVERSIONS__
  explicit __half(__nv_bfloat16 value);  // cuda_bf16.h has it
  KW_NARROW_CONVERSIONS(__half, half)
#endif
};
KW_NARROW_PAIR(__half, float)
KW_NARROW_CONVERTERS(__half, half, 10)
#include "kw_narrow_functions.h"
#ifndef __CUDA_NO_HALF_OPERATORS__
KW_NARROW_SINGLE_OPERATORS(__half, half)
#endif
#ifndef __CUDA_NO_HALF2_OPERATORS__
KW_NARROW_PAIR_OPERATORS(__half, half)
#endif

typedef __half __nv_half, nv_half;
typedef __half2 __nv_half2, nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif
