// Element types of tensors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace core {

enum class DType { f16, bf16, f32, f64, i8, u8, i32, u32, i64 };

size_t size_bytes(DType dtype);
bool is_floating(DType dtype);
// One spelling everywhere: "f16", "bf16", ...
std::string_view name_of(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
std::vector<std::string> dtype_names();

}  // namespace core
