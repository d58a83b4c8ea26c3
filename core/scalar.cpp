#include "core/scalar.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace core {

DType dtype_of(const Scalar& scalar) {
  constexpr DType kDTypes[] = {DType::i32, DType::i64, DType::f32, DType::f64};
  return kDTypes[scalar.index()];
}

std::string text_of(const Scalar& scalar) {
  const auto* narrow = std::get_if<float>(&scalar);
  if (narrow == nullptr) return json_of(scalar).dump();
  char text[32];
  for (int digits = 1; digits <= 9; ++digits) {  // 9 always suffice
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(*narrow));
    if (std::strtof(text, nullptr) == *narrow) break;
  }
  return text;
}

Json json_of(const Scalar& scalar) {
  return std::visit([](auto value) { return Json(value); }, scalar);
}

std::vector<std::byte> bytes_of(const Scalar& scalar) {
  return std::visit(
      [](const auto& value) {
        const auto* begin = reinterpret_cast<const std::byte*>(&value);
        return std::vector<std::byte>(begin, begin + sizeof value);
      },
      scalar);
}

Scalar scalar_at(const JsonView& view, DType dtype) {
  switch (dtype) {
    case DType::i32:
      return static_cast<int32_t>(view.integer(INT32_MIN, INT32_MAX));
    case DType::i64:
      return view.integer();
    case DType::f64:
      return view.number();
    case DType::f32: {
      const auto narrow = static_cast<float>(view.number());
      if (!std::isfinite(narrow))
        view.fail("is " + view.json().dump() + ", beyond f32", "take f64, or a number below 3.4e38");
      return narrow;
    }
    default:
      view.fail("cannot be " + std::string(name_of(dtype)), "a scalar is i32, i64, f32 or f64");
  }
}

}  // namespace core
