// cooperative_groups::reduce over lanes of a warp: one exchange of them all, whose values are combined in a fixed tree (the
// first half with the second, until one is left), so that sums of floats are the same in every run.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define KW_OPERATION(name, expression)                              \
  template <typename T>                                             \
  struct name {                                                     \
    T operator()(const T& a, const T& b) const { return expression; } \
  };
KW_OPERATION(plus, a + b)
KW_OPERATION(less, b < a ? b : a)
KW_OPERATION(greater, a < b ? b : a)
KW_OPERATION(bit_and, a& b)
KW_OPERATION(bit_or, a | b)
KW_OPERATION(bit_xor, a ^ b)
#undef KW_OPERATION

// The values of all active lanes, in order, for each of them: it combines them itself, where a function that was passed
// is called by its name.
template <typename T>
struct __kw_gathered {
  T mine, all[KW_WAVE];
  unsigned count;

  __attribute__((no_sanitize("thread"))) static void combine(void* const* lanes, unsigned long active) {
    auto& first = *static_cast<__kw_gathered*>(lanes[__builtin_ctzl(active)]);
    first.count = 0;
    for (unsigned long rest = active; rest != 0; rest &= rest - 1) {
      first.all[first.count++] = static_cast<__kw_gathered*>(lanes[__builtin_ctzl(rest)])->mine;
    }
    for (unsigned long rest = active & (active - 1); rest != 0; rest &= rest - 1) {
      auto& other = *static_cast<__kw_gathered*>(lanes[__builtin_ctzl(rest)]);
      other.count = first.count;
      for (unsigned i = 0; i < first.count; ++i) other.all[i] = first.all[i];
    }
  }
};

template <typename T, typename Operation>
KW_DEVICE T __kw_reduce(__kw_mask mask, T value, Operation& operation) {
  __kw_gathered<T> values;
  values.mine = value;
  __kw_warp_call("cooperative_groups::reduce", mask, &__kw_gathered<T>::combine, &values);
  unsigned width = 1;
  while (width < values.count) width *= 2;
  for (width /= 2; width > 0; width /= 2) {
    for (unsigned i = 0; i < width && i + width < values.count; ++i) {
      values.all[i] = operation(values.all[i], values.all[i + width]);
    }
  }
  return values.all[0];
}
template <unsigned Size, typename Parent, typename T, typename Operation>
KW_DEVICE T reduce(const thread_block_tile<Size, Parent>& tile, T value, Operation operation) {
  return __kw_reduce(tile.__kw_lanes(), value, operation);
}
template <typename T, typename Operation>
KW_DEVICE T reduce(const coalesced_group& group, T value, Operation operation) {
  return __kw_reduce(group.__kw_lanes(), value, operation);
}

}  // namespace cooperative_groups
