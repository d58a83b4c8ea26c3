// Inputs of 64 rows of 1000.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "verifier/draws/elements.h"
#include "verifier/draws/inputs.h"

namespace verifier::draws {
using benchsuite::Init;
using benchsuite::Tensor;
using core::DType;
using core::Expr;

inline constexpr DType kFloats[] = {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::f32, DType::f64};
inline const core::Bindings kAxes{{"M", 64}, {"N", 1000}};

inline Tensor tensor(DType dtype, Init kind = Init::normal) {
  Tensor made{"x", dtype, {Expr::parse("M"), Expr::parse("N")}, {}};
  made.init.kind = kind;
  return made;
}
inline Tensor integers(DType dtype, int64_t least, int64_t most) {
  Tensor made = tensor(dtype, Init::integers);
  made.init.least = Expr::constant(least);
  made.init.most = Expr::constant(most);
  return made;
}

inline std::vector<double> drawn(const Tensor& tensor, Distribution distribution, uint64_t key = 1) {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes(kAxes)));
  fill_input(bytes, tensor, kAxes, distribution, key);
  return load_elements(tensor.dtype, bytes);
}

inline double rms(const std::vector<double>& values, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += values[i] * values[i];
  return std::sqrt(sum / static_cast<double>(end - begin));
}

}  // namespace verifier::draws
