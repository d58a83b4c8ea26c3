// PTX of compute capability 10.0: tensor memory and products into it (tcgen05). The runtime carries them out
// (sandbox/cpu/runtime/tensor_cores.h). It does not tell whether fences of tcgen05 are missing.
#pragma once

#include "kw_hopper.h"

extern "C" {
void __kw_tensor_allocate(unsigned to, unsigned columns);
void __kw_tensor_free(unsigned first, unsigned columns);
void __kw_tensor_relinquish(void);
void __kw_tensor_product(unsigned d, unsigned long a, unsigned long b, unsigned what, bool adds);
void __kw_tensor_commit(unsigned barrier);
void __kw_tensor_load(void* const* places, unsigned count, unsigned from);
void __kw_tensor_wait_loads(void);
}

// ---- Tensor memory
template <typename A, typename N>
KW_DEVICE void __kw_ptx_tcgen05_alloc_cta_group__1_sync_aligned_shared_b32(A to, N columns) {
  __kw_tensor_allocate(to, columns);
}
template <typename A, typename N>
KW_DEVICE void __kw_ptx_tcgen05_dealloc_cta_group__1_sync_aligned_b32(A first, N columns) {
  __kw_tensor_free(first, columns);
}
KW_DEVICE void __kw_ptx_tcgen05_relinquish_alloc_permit_cta_group__1_sync_aligned() { __kw_tensor_relinquish(); }

// Destinations, then the address.
template <unsigned count, typename... Operands>
KW_DEVICE void __kw_ptx_tcgen05_load(Operands&&... operands) {
  static_assert(sizeof...(Operands) == count + 1, "operands of tcgen05.ld");
  void* const places[] = {(void*)&operands...};
  const unsigned long values[] = {__kw_ptx_number(operands)...};
  __kw_tensor_load(places, count, (unsigned)values[count]);
}
#define KW_PTX_TENSOR_LOAD(count)                                                            \
  template <typename... Operands>                                                            \
  KW_DEVICE void __kw_ptx_tcgen05_ld_sync_aligned_32x32b_x##count##_b32(Operands&&... operands) { \
    __kw_ptx_tcgen05_load<count>(static_cast<Operands&&>(operands)...);                      \
  }
KW_PTX_TENSOR_LOAD(1)
KW_PTX_TENSOR_LOAD(2)
KW_PTX_TENSOR_LOAD(4)
KW_PTX_TENSOR_LOAD(8)
KW_PTX_TENSOR_LOAD(16)
KW_PTX_TENSOR_LOAD(32)
KW_PTX_TENSOR_LOAD(64)
KW_PTX_TENSOR_LOAD(128)
KW_DEVICE void __kw_ptx_tcgen05_wait__ld_sync_aligned() { __kw_tensor_wait_loads(); }

// ---- Products
template <typename D, typename A, typename B, typename I, typename P>
KW_DEVICE void __kw_ptx_tcgen05_mma_cta_group__1_kind__f16(D d, A a, B b, I what, P adds) {
  static_assert(sizeof(A) == 8 && sizeof(B) == 8, "descriptors of tcgen05.mma have 64 bits");
  __kw_tensor_product(d, a, b, what, adds != 0);
}
template <typename A>
KW_DEVICE void __kw_ptx_tcgen05_commit_cta_group__1_mbarrier__arrive__one_shared__cluster_b64(A barrier) {
  __kw_tensor_commit((unsigned)barrier);
}

// ---- Order
KW_DEVICE void __kw_ptx_tcgen05_fence__before_thread_sync() {}
KW_DEVICE void __kw_ptx_tcgen05_fence__after_thread_sync() {}
