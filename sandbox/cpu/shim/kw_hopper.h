// PTX of compute capability 9.0: mbarriers, copies by TMA, products of warpgroups; and the asynchronous copies and named
// barriers of older ones. The runtime carries them out (sandbox/cpu/runtime/asynchronous.h, products.h).
#pragma once

#include "kw_narrow_bits.h"
#include "kw_ptx.h"

extern "C" {
void __kw_named_barrier(unsigned id, unsigned threads, bool waits);
void __kw_mbarrier_init(unsigned barrier, unsigned arrivals);
void __kw_mbarrier_invalidate(unsigned barrier);
unsigned long __kw_mbarrier_arrive(unsigned barrier, unsigned arrivals, unsigned bytes, bool leaves);
void __kw_mbarrier_expect(unsigned barrier, unsigned bytes);
bool __kw_mbarrier_wait(unsigned barrier, unsigned long phase, bool is_parity, bool blocks);
void __kw_mbarrier_after_copies(unsigned barrier, bool counts);
void __kw_load_bytes(unsigned to, const void* from, unsigned bytes, unsigned barrier);
void __kw_load_box(unsigned to, const void* map, const int* at, int rank, unsigned barrier);
void __kw_load_small(unsigned to, const void* from, unsigned bytes, unsigned source_bytes);
void __kw_store_bytes(void* to, unsigned from, unsigned bytes);
void __kw_reduce_bytes(void* to, unsigned from, unsigned bytes,
                       void (*update)(void* to, const void* from, unsigned bytes));
void __kw_store_box(const void* map, const int* at, int rank, unsigned from);
void __kw_commit_copies(int kind);  // 0: cp.async, 1: cp.async.bulk
void __kw_wait_copies(int kind, unsigned most, bool all);
void __kw_fence_proxy(void);
void __kw_fence_barriers(void);
void __kw_cluster_fence(void);
void __kw_cluster_arrive_relaxed(void);
void __kw_wait_for_previous_launch(void);
void __kw_begin_next_launch(void);
void __kw_load_bytes_multicast(unsigned to, const void* from, unsigned bytes, unsigned barrier, unsigned ranks);
void __kw_load_box_multicast(unsigned to, const void* map, const int* at, int rank, unsigned barrier, unsigned ranks);
}

// Launches do not overlap here, but what they must wait for is known.
KW_DEVICE void __kw_ptx_griddepcontrol_wait() { __kw_wait_for_previous_launch(); }
KW_DEVICE void __kw_ptx_griddepcontrol_launch_dependents() { __kw_begin_next_launch(); }

// ---- Barriers of some warps
template <typename A, typename B>
KW_DEVICE void __kw_ptx_bar_sync(A barrier, B threads) {
  if (barrier == 0 && threads == blockDim.x * blockDim.y * blockDim.z) {
    __syncthreads();
  } else {
    __kw_named_barrier(barrier, threads, true);
  }
}
template <typename A>
KW_DEVICE void __kw_ptx_bar_sync(A barrier) {
  __kw_ptx_bar_sync(barrier, blockDim.x * blockDim.y * blockDim.z);
}
template <typename A, typename B>
KW_DEVICE void __kw_ptx_bar_arrive(A barrier, B threads) {
  __kw_named_barrier(barrier, threads, false);
}

// ---- mbarriers
template <typename A, typename B>
KW_DEVICE void __kw_ptx_mbarrier_init_shared_b64(A barrier, B arrivals) {
  __kw_mbarrier_init(barrier, arrivals);
}
template <typename A>
KW_DEVICE void __kw_ptx_mbarrier_inval_shared_b64(A barrier) {
  __kw_mbarrier_invalidate(barrier);
}
template <typename D, typename A>
KW_DEVICE void __kw_ptx_mbarrier_arrive_shared_b64(D&& state, A barrier) {
  __kw_ptx_out<unsigned long>(state, __kw_mbarrier_arrive(barrier, 1, 0, false));
}
template <typename D, typename A, typename B>
KW_DEVICE void __kw_ptx_mbarrier_arrive_shared_b64(D&& state, A barrier, B arrivals) {
  __kw_ptx_out<unsigned long>(state, __kw_mbarrier_arrive(barrier, arrivals, 0, false));
}
template <typename D, typename A>
KW_DEVICE void __kw_ptx_mbarrier_arrive_drop_shared_b64(D&& state, A barrier) {
  __kw_ptx_out<unsigned long>(state, __kw_mbarrier_arrive(barrier, 1, 0, true));
}
template <typename D, typename A, typename B>
KW_DEVICE void __kw_ptx_mbarrier_arrive_expect_tx_shared_b64(D&& state, A barrier, B bytes) {
  __kw_ptx_out<unsigned long>(state, __kw_mbarrier_arrive(barrier, 1, bytes, false));
}
template <typename A, typename B>
KW_DEVICE void __kw_ptx_mbarrier_expect_tx_shared_b64(A barrier, B bytes) {
  __kw_mbarrier_expect(barrier, bytes);
}
#define KW_PTX_WAIT(name, parity, blocks)                                          \
  template <typename P, typename A, typename B, typename... Hint>                  \
  KW_DEVICE void __kw_ptx_mbarrier_##name(P&& done, A barrier, B phase, Hint...) { \
    done = __kw_mbarrier_wait(barrier, phase, parity, blocks);                     \
  }
KW_PTX_WAIT(try_wait_parity_shared_b64, true, true)
KW_PTX_WAIT(test_wait_parity_shared_b64, true, false)
KW_PTX_WAIT(try_wait_shared_b64, false, true)
KW_PTX_WAIT(test_wait_shared_b64, false, false)

// ---- cp.async
template <typename A, typename B, typename C>
KW_DEVICE void __kw_ptx_cp_async_ca_shared_global(A to, B from, C bytes) {
  __kw_load_small(to, (const void*)(size_t)from, bytes, bytes);
}
template <typename A, typename B, typename C, typename D>
KW_DEVICE void __kw_ptx_cp_async_ca_shared_global(A to, B from, C bytes, D source_bytes) {
  __kw_load_small(to, (const void*)(size_t)from, bytes, source_bytes);
}
#define __kw_ptx_cp_async_cg_shared_global __kw_ptx_cp_async_ca_shared_global
KW_DEVICE void __kw_ptx_cp_async_commit_group() { __kw_commit_copies(0); }
template <typename A>
KW_DEVICE void __kw_ptx_cp_async_wait_group(A most) {
  __kw_wait_copies(0, most, false);
}
KW_DEVICE void __kw_ptx_cp_async_wait_all() { __kw_wait_copies(0, 0, true); }
template <typename A>
KW_DEVICE void __kw_ptx_cp_async_mbarrier_arrive_noinc_shared_b64(A barrier) {
  __kw_mbarrier_after_copies(barrier, true);
}
template <typename A>
KW_DEVICE void __kw_ptx_cp_async_mbarrier_arrive_shared_b64(A barrier) {
  __kw_mbarrier_after_copies(barrier, false);
}

// ---- Bulk copies and TMA
template <typename A, typename B, typename C, typename D>
KW_DEVICE void __kw_ptx_cp_async_bulk_shared__cluster_global_mbarrier__complete_tx__bytes(A to, B from, C bytes,
                                                                                         D barrier) {
  __kw_load_bytes(to, (const void*)(size_t)from, bytes, barrier);
}
template <typename A, typename B, typename C>
KW_DEVICE void __kw_ptx_cp_async_bulk_global_shared_bulk_group(A to, B from, C bytes) {
  __kw_store_bytes((void*)(size_t)to, from, bytes);
}
template <typename A, typename B, typename C, typename D, typename E>
KW_DEVICE void __kw_ptx_cp_async_bulk_shared__cluster_global_mbarrier__complete_tx__bytes_multicast__cluster(
    A to, B from, C bytes, D barrier, E ranks) {
  __kw_load_bytes_multicast(to, (const void*)(size_t)from, bytes, barrier, ranks);
}
// [to], [map, {x, y, ...}], [barrier]; and [map, {x, y, ...}], [from]
#define KW_PTX_BOX(rank, types, coordinates, ...)                                                                  \
  template <typename A, typename M, types, typename B>                                                             \
  KW_DEVICE void __kw_ptx_cp_async_bulk_tensor_##rank##d_shared__cluster_global_mbarrier__complete_tx__bytes(      \
      A to, M map, coordinates, B barrier) {                                                                       \
    const int at[] = {__VA_ARGS__};                                                                                \
    __kw_load_box(to, (const void*)(size_t)map, at, rank, barrier);                                                \
  }                                                                                                                \
  template <typename A, typename M, types, typename B, typename R>                                                 \
  KW_DEVICE void                                                                                                   \
      __kw_ptx_cp_async_bulk_tensor_##rank##d_shared__cluster_global_mbarrier__complete_tx__bytes_multicast__cluster( \
          A to, M map, coordinates, B barrier, R ranks) {                                                          \
    const int at[] = {__VA_ARGS__};                                                                                \
    __kw_load_box_multicast(to, (const void*)(size_t)map, at, rank, barrier, ranks);                               \
  }                                                                                                                \
  template <typename M, types, typename A>                                                                         \
  KW_DEVICE void __kw_ptx_cp_async_bulk_tensor_##rank##d_global_shared_bulk_group(M map, coordinates, A from) {    \
    const int at[] = {__VA_ARGS__};                                                                                \
    __kw_store_box((const void*)(size_t)map, at, rank, from);                                                      \
  }                                                                                                                \
  template <typename M, typename... At>                                                                            \
  KW_DEVICE void __kw_ptx_cp_async_bulk_prefetch_tensor_##rank##d_L2_global(M, At...) {                            \
    static_assert(sizeof...(At) == rank, "coordinates of a prefetch");                                             \
  }
#define KW_COMMA ,
KW_PTX_BOX(1, typename X, X x, (int)x)
KW_PTX_BOX(2, typename X KW_COMMA typename Y, X x KW_COMMA Y y, (int)x, (int)y)
KW_PTX_BOX(3, typename X KW_COMMA typename Y KW_COMMA typename Z, X x KW_COMMA Y y KW_COMMA Z z, (int)x, (int)y, (int)z)
KW_PTX_BOX(4, typename X KW_COMMA typename Y KW_COMMA typename Z KW_COMMA typename V,
           X x KW_COMMA Y y KW_COMMA Z z KW_COMMA V v, (int)x, (int)y, (int)z, (int)v)
KW_PTX_BOX(5, typename X KW_COMMA typename Y KW_COMMA typename Z KW_COMMA typename V KW_COMMA typename W,
           X x KW_COMMA Y y KW_COMMA Z z KW_COMMA V v KW_COMMA W w, (int)x, (int)y, (int)z, (int)v, (int)w)
KW_DEVICE void __kw_ptx_cp_async_bulk_commit_group() { __kw_commit_copies(1); }
template <typename A>
KW_DEVICE void __kw_ptx_cp_async_bulk_wait_group(A most) {
  __kw_wait_copies(1, most, false);
}
template <typename A, typename B>
KW_DEVICE void __kw_ptx_cp_async_bulk_prefetch_L2_global(A from, B bytes) {
  if ((size_t)from % 16 != 0 || bytes % 16 != 0) {
    __kw_trap("cp.async.bulk.prefetch: address and bytes are multiples of 16");
  }
}
template <typename A>
KW_DEVICE void __kw_ptx_prefetch_tensormap(A) {}

// Bulk updates of global memory: in the expression, a is what it has and b what comes from shared memory.
#define KW_PTX_BULK_UPDATE(name, expression)                                                                    \
  template <typename T>                                                                                         \
  struct __kw_bulk_##name {                                                                                     \
    static void update(void* to, const void* from, unsigned bytes) {                                            \
      for (unsigned i = 0; i < bytes / sizeof(T); ++i) {                                                        \
        const T a = static_cast<T*>(to)[i], b = static_cast<const T*>(from)[i];                                 \
        static_cast<T*>(to)[i] = expression;                                                                    \
      }                                                                                                         \
    }                                                                                                           \
  };                                                                                                            \
  template <typename T, typename A, typename B, typename C>                                                     \
  KW_DEVICE void __kw_ptx_cp_reduce_async_bulk_global_shared_bulk_group_##name(A to, B from, C bytes) {         \
    __kw_reduce_bytes((void*)(size_t)to, from, bytes, &__kw_bulk_##name<T>::update);                            \
  }
KW_PTX_BULK_UPDATE(add, a + b)
KW_PTX_BULK_UPDATE(min, b < a ? b : a)
KW_PTX_BULK_UPDATE(max, b > a ? b : a)
KW_PTX_BULK_UPDATE(add_f16, __kw_half_bits(__kw_half_value(a) + __kw_half_value(b)))
KW_PTX_BULK_UPDATE(add_bf16, __kw_bfloat16_bits(__kw_bfloat16_value(a) + __kw_bfloat16_value(b)))
#define __kw_ptx_cp_reduce_async_bulk_global_shared_bulk_group_add_noftz_f16 \
  __kw_ptx_cp_reduce_async_bulk_global_shared_bulk_group_add_f16<unsigned short>
#define __kw_ptx_cp_reduce_async_bulk_global_shared_bulk_group_add_noftz_bf16 \
  __kw_ptx_cp_reduce_async_bulk_global_shared_bulk_group_add_bf16<unsigned short>

// ---- Clusters
KW_DEVICE void __kw_ptx_barrier_cluster_arrive() { __kw_cluster_arrive(); }
KW_DEVICE void __kw_ptx_barrier_cluster_arrive_relaxed() { __kw_cluster_arrive_relaxed(); }
KW_DEVICE void __kw_ptx_barrier_cluster_wait() { __kw_cluster_wait(); }
template <typename D, typename A, typename R>
KW_DEVICE void __kw_ptx_mapa_shared__cluster_u32(D&& d, A address, R rank) {
  __kw_ptx_out<unsigned>(d, __kw_map_shared(address, rank));
}
template <typename A, typename R>
KW_DEVICE void __kw_ptx_mbarrier_arrive_shared__cluster_b64(A&&, R barrier) {
  __kw_mbarrier_arrive(barrier, 1, 0, false);
}
template <typename A, typename R, typename N>
KW_DEVICE void __kw_ptx_mbarrier_arrive_shared__cluster_b64(A&&, R barrier, N arrivals) {
  __kw_mbarrier_arrive(barrier, arrivals, 0, false);
}
template <typename A, typename R, typename N>
KW_DEVICE void __kw_ptx_mbarrier_arrive_expect_tx_shared__cluster_b64(A&&, R barrier, N bytes) {
  __kw_mbarrier_arrive(barrier, 1, bytes, false);
}
KW_PTX_REGISTER(cluster_ctarank, unsigned, __kw_cluster_rank())
KW_PTX_REGISTER(cluster_nctarank, unsigned, __kw_cluster_dim.x * __kw_cluster_dim.y * __kw_cluster_dim.z)
KW_PTX_REGISTER3(cluster_nctaid, __kw_cluster_dim)
#define KW_PTX_CLUSTER(axis)                                                                            \
  KW_PTX_REGISTER(cluster_ctaid_##axis, unsigned, blockIdx.axis % __kw_cluster_dim.axis)                \
  KW_PTX_REGISTER(clusterid_##axis, unsigned, blockIdx.axis / __kw_cluster_dim.axis)                    \
  KW_PTX_REGISTER(nclusterid_##axis, unsigned, gridDim.axis / __kw_cluster_dim.axis)
KW_PTX_CLUSTER(x)
KW_PTX_CLUSTER(y)
KW_PTX_CLUSTER(z)

// ---- Fences
KW_DEVICE void __kw_ptx_fence_proxy_async() { __kw_fence_proxy(); }
KW_DEVICE void __kw_ptx_fence_mbarrier_init_release_cluster() { __kw_fence_barriers(), __kw_cluster_fence(); }
KW_DEVICE void __kw_ptx_fence_acq_rel_cluster() { __kw_cluster_fence(); }

// ---- Warps
template <typename D, typename P, typename A>
KW_DEVICE void __kw_ptx_elect_sync(D&& leader, P&& elected, A mask) {
  const unsigned first = __builtin_ctz(mask);
  __kw_ptx_out<unsigned>(leader, first);
  elected = __kw_lane() == first;
}
template <typename A>
KW_DEVICE void __kw_ptx_setmaxnreg_inc_sync_aligned_u32(A) {}
#define __kw_ptx_setmaxnreg_dec_sync_aligned_u32 __kw_ptx_setmaxnreg_inc_sync_aligned_u32

// ---- Products of warpgroups
extern "C" {
// As sandbox/cpu/runtime/products.h has it.
struct __kw_warpgroup_product {
  void* const* sums;
  unsigned long a, b;
  const unsigned* a_registers;
  unsigned short columns;
  unsigned char type_a, type_b;
  bool adds, negates_a, negates_b, a_along_m, b_along_n;
  unsigned* in_progress;
};
void __kw_product(__kw_warpgroup_product* mine);
void __kw_commit_products(void);
void __kw_wait_products(unsigned most);
}

template <typename T>
KW_DEVICE unsigned long __kw_ptx_number(T value) {
  if constexpr (__kw_kind<T>::value != 0) return static_cast<unsigned long>(value);
  return 0;
}

KW_DEVICE void __kw_ptx_wgmma_fence_sync_aligned() {}
KW_DEVICE void __kw_ptx_wgmma_commit_group_sync_aligned() { __kw_commit_products(); }
template <typename A>
KW_DEVICE void __kw_ptx_wgmma_wait_group_sync_aligned(A most) {
  __kw_wait_products(most);
}
// Of the operands, which the translator gives in a row: sums, a as a descriptor or four words, b, whether to add, and
// what the instruction has besides: signs of a and b, how a in shared memory and b lie.
template <int columns, __kw_number type_a, __kw_number type_b, typename... Operands>
KW_DEVICE void __kw_ptx_wgmma(Operands&&... operands) {
  constexpr int count = columns / 2, rest = sizeof...(Operands) - count, bytes = type_a <= __kw_bf16 ? 2 : 1;
  constexpr bool is_integer = type_a >= __kw_s8, has_signs = !is_integer;
  constexpr int most = 3 + 2 * has_signs + 2 * (bytes == 2);  // with descriptors alone
  constexpr bool registers = rest > most;
  static_assert(rest == most || rest == most + 3 - (bytes == 2), "operands of wgmma");
  void* const at[] = {(void*)&operands...};
  const unsigned long values[] = {__kw_ptx_number(operands)...};
  const unsigned words[4] = {(unsigned)values[count], (unsigned)values[count + 1], (unsigned)values[count + 2],
                             (unsigned)values[count + 3 < sizeof...(Operands) ? count + 3 : count]};
  constexpr int b = count + (registers ? 4 : 1), signs = b + 2, layout = signs + 2 * has_signs;
  __kw_warpgroup_product mine{};
  mine.sums = at;
  mine.a = registers ? 0 : values[count];
  mine.b = values[b];
  mine.a_registers = registers ? words : nullptr;
  mine.columns = columns;
  mine.type_a = type_a;
  mine.type_b = type_b;
  mine.adds = values[b + 1] != 0;
  if constexpr (has_signs) {
    mine.negates_a = (int)values[signs] < 0;
    mine.negates_b = (int)values[signs + 1] < 0;
  }
  if constexpr (bytes == 2 && registers) mine.b_along_n = values[layout] != 0;
  if constexpr (bytes == 2 && !registers) {
    mine.a_along_m = values[layout] != 0;
    mine.b_along_n = values[layout + 1] != 0;
  }
  __kw_product(&mine);
}
