// A CUtensorMap as the cpu device makes it: what a kernel gets in its 128 opaque bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sandbox::cpu::runtime {

struct alignas(64) TensorMapBits {
  static constexpr uint32_t kMagic = 0x70616d54;

  std::byte* base = nullptr;
  uint32_t magic = kMagic;
  uint8_t element_bytes = 0, rank = 0;
  uint8_t swizzle = 0;                              // bytes: 0, 32, 64 or 128
  uint8_t nan_fill = 0;                             // elements outside read as NaN
  std::array<int64_t, 5> shape{}, strides_bytes{};  // innermost first; strides_bytes[0] is an element's
  std::array<uint16_t, 5> box{};
};
static_assert(sizeof(TensorMapBits) == 128);

}  // namespace sandbox::cpu::runtime
