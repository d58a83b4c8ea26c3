// nvcuda::wmma. A fragment's elements lie over the lanes in the order in which the matrix lies in memory: with E elements
// per lane, lane l has elements l*E to l*E+E-1. So each lane loads and stores a run of its own, which the checking build
// sees, and mma_sync is one exchange of the warp in which the last lane to arrive multiplies for all.
#pragma once

#ifdef __HIP__
#error "the header <mma.h> is CUDA's; HIP has none of its kind"
#endif

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "kw_threads.h"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

// The type that keeps an element, the type that sums products of such elements, and the shapes that there are.
enum __kw_shapes { __kw_k16, __kw_k8, __kw_k4 };
template <typename T>
struct __kw_element;
#define KW_ELEMENT(T, Kept, Sum, is_operand, is_result, shapes)                             \
  template <>                                                                              \
  struct __kw_element<T> {                                                                 \
    typedef Kept kept;                                                                     \
    typedef Sum sum;                                                                       \
    static constexpr bool operand = is_operand, result = is_result;                        \
    static constexpr bool fits(int m, int n, int k) { return shapes; }                     \
  };
#define KW_SHAPES_16 k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32))
KW_ELEMENT(__half, __half, float, true, true, KW_SHAPES_16)
KW_ELEMENT(__nv_bfloat16, __nv_bfloat16, float, true, false, KW_SHAPES_16)
KW_ELEMENT(signed char, signed char, int, true, false, KW_SHAPES_16)
KW_ELEMENT(unsigned char, unsigned char, int, true, false, KW_SHAPES_16)
KW_ELEMENT(precision::tf32, float, float, true, false, m == 16 && n == 16 && k == 8)
KW_ELEMENT(float, float, float, false, true, (m == 16 && n == 16 && k == 8) || (KW_SHAPES_16))
KW_ELEMENT(int, int, int, false, true, KW_SHAPES_16)
KW_ELEMENT(double, double, double, true, true, m == 8 && n == 8 && k == 4)
#undef KW_ELEMENT
#undef KW_SHAPES_16

// A lane's run of elements moves in pieces of up to 16 bytes.
template <typename T, int count>
struct __kw_run {
  static constexpr int bytes = count * sizeof(T) < 16 ? count * sizeof(T) : 16;
  typedef char piece __attribute__((vector_size(bytes), may_alias));
  KW_DEVICE void copy(T* to, const T* from) {
    for (int i = 0; i < int(count * sizeof(T)) / bytes; ++i) ((piece*)to)[i] = ((const piece*)from)[i];
  }
};
// `count` elements a lane, in runs of `minor` along the memory.
template <typename T, int count, int minor_extent>
struct __kw_fragment {
  typedef typename __kw_element<T>::kept element_type;
  typedef element_type storage_element_type;
  static constexpr int num_elements = count, num_storage_elements = count, __kw_minor = minor_extent;
  alignas(__kw_run<element_type, count>::bytes) element_type x[count];
};
template <typename Use, int M, int N, int K, typename T, typename Layout = void>
struct fragment;
#define KW_FRAGMENT(Use, Layout, role, count, minor)                                                         \
  template <int M, int N, int K, typename T>                                                                 \
  struct fragment<Use, M, N, K, T, Layout> : __kw_fragment<T, (count) / 32, minor> {                         \
    static_assert(__kw_element<T>::role && __kw_element<T>::fits(M, N, K), "wmma has no fragment of this shape and type"); \
  };
KW_FRAGMENT(matrix_a, row_major, operand, M* K, K)
KW_FRAGMENT(matrix_a, col_major, operand, M* K, M)
KW_FRAGMENT(matrix_b, row_major, operand, K* N, N)
KW_FRAGMENT(matrix_b, col_major, operand, K* N, K)
KW_FRAGMENT(accumulator, void, result, M* N, N)
#undef KW_FRAGMENT

// To the 10 bits of mantissa of tf32: to the nearest, halves away from zero.
KW_DEVICE float __float_to_tf32(float value) {
  const unsigned bits = __kw_bits<unsigned>(value);
  return __kw_bits<float>((bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u);
}

template <typename F>
KW_DEVICE void fill_fragment(F& fragment, const typename F::storage_element_type value) {
  for (int i = 0; i < F::num_elements; ++i) fragment.x[i] = value;
}

// ---- loads and stores

KW_DEVICE void __kw_check_matrix(const char* complaint, const void* matrix, size_t row_bytes) {
  if ((((size_t)matrix | row_bytes) & 15) != 0) __kw_trap(complaint);
}
#define KW_CHECK_MATRIX(function, matrix, stride)                                                                     \
  __kw_check_matrix(function ": the address and the distance of rows must be multiples of 16 bytes", matrix, \
                    (stride) * sizeof(*(matrix)))

template <typename Use, int M, int N, int K, typename T, typename Layout>
KW_DEVICE void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& to,
                                const typename __kw_element<T>::kept* matrix, unsigned stride) {
  typedef fragment<Use, M, N, K, T, Layout> F;
  KW_CHECK_MATRIX("load_matrix_sync", matrix, stride);
  const unsigned at = __kw_lane() * F::num_elements;
  __kw_run<typename F::element_type, F::num_elements>::copy(
      to.x, matrix + size_t(at / F::__kw_minor) * stride + at % F::__kw_minor);
}
template <int M, int N, int K, typename T>
KW_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, T>& to, const T* matrix, unsigned stride,
                                layout_t layout) {
  typedef fragment<accumulator, M, N, K, T> F;
  KW_CHECK_MATRIX("load_matrix_sync", matrix, stride);
  const unsigned at = __kw_lane() * F::num_elements, row = at / N, column = at % N;
  if (layout == mem_row_major) {
    __kw_run<T, F::num_elements>::copy(to.x, matrix + size_t(row) * stride + column);
  } else {
    for (unsigned i = 0; i < F::num_elements; ++i) to.x[i] = matrix[size_t(column + i) * stride + row];
  }
}
template <int M, int N, int K, typename T>
KW_DEVICE void store_matrix_sync(T* matrix, const fragment<accumulator, M, N, K, T>& from, unsigned stride,
                                 layout_t layout) {
  typedef fragment<accumulator, M, N, K, T> F;
  KW_CHECK_MATRIX("store_matrix_sync", matrix, stride);
  const unsigned at = __kw_lane() * F::num_elements, row = at / N, column = at % N;
  if (layout == mem_row_major) {
    __kw_run<T, F::num_elements>::copy(matrix + size_t(row) * stride + column, from.x);
  } else {
    for (unsigned i = 0; i < F::num_elements; ++i) matrix[size_t(column + i) * stride + row] = from.x[i];
  }
}
#undef KW_CHECK_MATRIX

// ---- the product

// Elements as numbers to compute with and back, `count` of them, a multiple of 8.
template <typename Sum, typename T>
KW_DEVICE void __kw_widen(const T* from, Sum* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = static_cast<Sum>(from[i]);
}
template <typename Sum, typename T>
KW_DEVICE void __kw_narrow(const Sum* from, T* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]);
}
#ifdef __F16C__
typedef short __kw_halves __attribute__((vector_size(16), may_alias));
typedef float __kw_floats __attribute__((vector_size(32), may_alias));
KW_DEVICE void __kw_widen(const __half* from, float* to, int count) {
  for (int i = 0; i < count; i += 8) *(__kw_floats*)(to + i) = __builtin_ia32_vcvtph2ps256(*(const __kw_halves*)(from + i));
}
KW_DEVICE void __kw_narrow(const float* from, __half* to, int count) {
  for (int i = 0; i < count; i += 8) *(__kw_halves*)(to + i) = __builtin_ia32_vcvtps2ph256(*(const __kw_floats*)(from + i), 0);
}
#else
KW_DEVICE void __kw_widen(const __half* from, float* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = __half2float(from[i]);
}
KW_DEVICE void __kw_narrow(const float* from, __half* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = __float2half(from[i]);
}
#endif
KW_DEVICE void __kw_widen(const __nv_bfloat16* from, float* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = __kw_bits<float>(static_cast<unsigned>(__kw_bits<unsigned short>(from[i])) << 16);
}

#if defined(__clang__)
#define KW_UNROLL _Pragma("unroll")
#else
#define KW_UNROLL _Pragma("GCC unroll 8")
#endif

// c += a * b of [M, K], [K, N] and [M, N], row-major, each row of b and c a multiple of 32 bytes.
template <int M, int N, int K, typename Sum>
KW_DEVICE void __kw_multiply(const Sum* a, const Sum* b, Sum* c) {
  typedef Sum V __attribute__((vector_size(32), may_alias));
  constexpr int kWidth = 32 / sizeof(Sum), kVectors = N / kWidth, kRows = 8 / kVectors < M ? 8 / kVectors : M;
  for (int row = 0; row < M; row += kRows) {
    V sum[kRows][kVectors];
    KW_UNROLL for (int r = 0; r < kRows; ++r) {
      KW_UNROLL for (int v = 0; v < kVectors; ++v) sum[r][v] = *(const V*)(c + (row + r) * N + v * kWidth);
    }
    for (int k = 0; k < K; ++k) {
      KW_UNROLL for (int r = 0; r < kRows; ++r) {
        KW_UNROLL for (int v = 0; v < kVectors; ++v) {
          sum[r][v] += a[(row + r) * K + k] * *(const V*)(b + k * N + v * kWidth);
        }
      }
    }
    KW_UNROLL for (int r = 0; r < kRows; ++r) {
      KW_UNROLL for (int v = 0; v < kVectors; ++v) *(V*)(c + (row + r) * N + v * kWidth) = sum[r][v];
    }
  }
}
#undef KW_UNROLL

// Where one lane's parts of the four matrices are.
template <int M, int N, int K, typename T, typename D, typename C, typename LayoutA, typename LayoutB, typename Sum>
struct __kw_mma {
  D* d;
  const typename __kw_element<T>::kept *a, *b;
  const C* c;
  bool complete = true;  // whether all lanes of the warp take part

  __attribute__((always_inline)) void run() {
    __kw_warp_call("mma_sync", 0xffffffffu, &combine, this);
    if (!complete) __kw_trap("mma_sync: some of the warp's 32 threads do not exist or have returned");
  }

  // All lanes' parts of a matrix of `size` elements, one after the other; `part` says where one is.
  template <int size, typename E, typename Part>
  KW_DEVICE void gather(void* const* lanes, Part __kw_mma::*part, Sum* to) {
    alignas(32) E all[size];
    for (int lane = 0; lane < 32; ++lane) {
      __builtin_memcpy(all + lane * (size / 32), static_cast<__kw_mma*>(lanes[lane])->*part, size / 32 * sizeof(E));
    }
    __kw_widen(all, to, size);
  }
  template <int rows, int columns>
  KW_DEVICE void transpose(const Sum* from, Sum* to) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
    }
  }
  // tf32 has no more bits than these.
  KW_DEVICE void truncate(Sum* values, int count) {
    for (int i = 0; i < count; ++i) values[i] = __kw_bits<Sum>(__kw_bits<unsigned>(values[i]) & 0xffffe000u);
  }

  __attribute__((no_sanitize("thread"))) static void combine(void* const* lanes, unsigned long active) {
    if (active != 0xffffffffu) {
      for (unsigned long rest = active; rest != 0; rest &= rest - 1) {
        static_cast<__kw_mma*>(lanes[__builtin_ctzl(rest)])->complete = false;
      }
      return;
    }
    typedef typename __kw_element<T>::kept Kept;
    alignas(32) Sum left[M * K], right[K * N], result[M * N], turned[(M > N ? M : N) * K];
    constexpr bool turn_left = __is_same(LayoutA, col_major), turn_right = __is_same(LayoutB, col_major);
    gather<M * K, Kept>(lanes, &__kw_mma::a, turn_left ? turned : left);
    if constexpr (turn_left) transpose<K, M>(turned, left);
    gather<K * N, Kept>(lanes, &__kw_mma::b, turn_right ? turned : right);
    if constexpr (turn_right) transpose<N, K>(turned, right);
    if constexpr (__is_same(T, precision::tf32)) truncate(left, M * K), truncate(right, K * N);
    gather<M * N, C>(lanes, &__kw_mma::c, result);
    __kw_multiply<M, N, K>(left, right, result);
    alignas(32) D all[M * N];
    if constexpr (sizeof(Sum) == sizeof(long long) && sizeof(D) == sizeof(int)) {
      for (Sum& value : result) value = value > 0x7fffffff ? 0x7fffffff : value < -0x7fffffff - 1 ? -0x7fffffff - 1 : value;
    }
    __kw_narrow(result, all, M * N);
    for (int lane = 0; lane < 32; ++lane) {
      __builtin_memcpy(static_cast<__kw_mma*>(lanes[lane])->d, all + lane * (M * N / 32), sizeof all / 32);
    }
  }
};

// Halves are summed as floats and rounded at the end. `saturate`: integers stop at their limits instead of wrapping.
template <int M, int N, int K, typename T, typename D, typename C, typename LayoutA, typename LayoutB>
KW_DEVICE void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                        const fragment<matrix_b, M, N, K, T, LayoutB>& b, const fragment<accumulator, M, N, K, C>& c,
                        bool saturate = false) {
  typedef typename __kw_element<T>::sum Sum;
  typedef typename __kw_element<D>::sum SumD;
  typedef typename __kw_element<C>::sum SumC;
  static_assert(__is_same(Sum, SumD) && __is_same(Sum, SumC) &&
                    (__is_same(T, __half) || (__is_same(D, Sum) && __is_same(C, Sum))),
                "wmma has no such product of these types");
  if constexpr (__is_same(Sum, int)) {
    if (saturate) return __kw_mma<M, N, K, T, D, C, LayoutA, LayoutB, long long>{d.x, a.x, b.x, c.x}.run();
  }
  __kw_mma<M, N, K, T, D, C, LayoutA, LayoutB, Sum>{d.x, a.x, b.x, c.x}.run();
}

}  // namespace wmma
}  // namespace nvcuda
