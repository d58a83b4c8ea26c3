// A number with its dtype, as a kernel takes it by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/dtype.h"
#include "core/strict_json.h"

namespace core {

// An i32, i64, f32 or f64.
using Scalar = std::variant<int32_t, int64_t, float, double>;

DType dtype_of(const Scalar& scalar);
// The shortest text that gives the same number: "7", "1e-05".
std::string text_of(const Scalar& scalar);
// The number; of an f32 the double that is equal to it.
Json json_of(const Scalar& scalar);
// The bytes of the parameter.
std::vector<std::byte> bytes_of(const Scalar& scalar);

// The number at `view`, rounded to the dtype. Throws InputError for another dtype than the four, a fraction that is to
// be an integer, and a number beyond the dtype's range.
Scalar scalar_at(const JsonView& view, DType dtype);

}  // namespace core
