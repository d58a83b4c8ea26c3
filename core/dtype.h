// Element types of tensors.
#pragma once

#include <cstddef>

#include "core/enum_names.h"

namespace core {

enum class DType { f16, bf16, f32, f64, i8, u8, i32, u32, i64 };
KW_ENUM_NAMES(DType, f16, bf16, f32, f64, i8, u8, i32, u32, i64)

constexpr size_t size_bytes(DType dtype) {
  constexpr size_t kBytes[] = {2, 2, 4, 8, 1, 1, 4, 4, 8};
  return kBytes[static_cast<size_t>(dtype)];
}
constexpr bool is_floating(DType dtype) { return dtype <= DType::f64; }

}  // namespace core
