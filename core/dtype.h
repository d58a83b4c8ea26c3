// Element types of tensors.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/enum_names.h"

namespace core {

// f8e4m3 and f8e5m2 are OCP's formats of 8 bits, CUDA's __nv_fp8_e4m3 and __nv_fp8_e5m2. f8e4m3 has no infinity: it
// ends at 448, f8e5m2 at 57344.
enum class DType { f16, bf16, f8e4m3, f8e5m2, f32, f64, i8, u8, i32, u32, i64, boolean };
constexpr auto enum_rows(DType) {
  using enum DType;
  constexpr DType values[] = {f16, bf16, f8e4m3, f8e5m2, f32, f64, i8, u8, i32, u32, i64, boolean};
  return enum_rows_of(values, "f16, bf16, f8e4m3, f8e5m2, f32, f64, i8, u8, i32, u32, i64, bool");
}
constexpr std::string_view name_of(DType value) { return enum_name(value); }

// A bool is a byte, 0 or 1.
constexpr size_t size_bytes(DType dtype) {
  constexpr size_t kBytes[] = {2, 2, 1, 1, 4, 8, 1, 1, 4, 4, 8, 1};
  return kBytes[static_cast<size_t>(dtype)];
}
constexpr bool is_floating(DType dtype) { return dtype <= DType::f64; }
constexpr bool is_f8(DType dtype) { return dtype == DType::f8e4m3 || dtype == DType::f8e5m2; }

}  // namespace core
