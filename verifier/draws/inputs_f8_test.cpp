// Draws of formats that end at 448 and 57344.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "verifier/draws/elements.h"
#include "verifier/draws/inputs.h"

namespace verifier::draws {
namespace {
using core::DType;
using core::Expr;

benchsuite::Tensor matrix_of(DType dtype, double scale = 1) {
  benchsuite::Tensor made{"x", dtype, {Expr::constant(64), Expr::constant(1000)}, {}};
  made.init.scale = scale;
  return made;
}
std::vector<double> content_of(const benchsuite::Tensor& tensor, Distribution distribution, uint64_t key = 1) {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes({})));
  fill_input(bytes, tensor, {}, distribution, key);
  return load_elements(tensor.dtype, bytes);
}

TEST(InputsOf8Bits, GoUpToTheLargestNumberAndDownToDenormals) {
  for (const DType dtype : {DType::f8e4m3, DType::f8e5m2}) {
    const benchsuite::Tensor x = matrix_of(dtype, dtype == DType::f8e4m3 ? 64 : 8192);  // as much as a problem may ask
    double largest = 0;
    for (const Distribution distribution : all_distributions()) {
      for (const double v : content_of(x, distribution, 3)) {
        if (distribution == Distribution::non_finite || distribution == Distribution::stray) continue;
        ASSERT_TRUE(std::isfinite(v)) << core::name_of(dtype) << " " << name_of(distribution);
        largest = std::max(largest, std::fabs(v));
      }
    }
    EXPECT_EQ(largest, largest_of(dtype));
    const std::vector<double> tiny = content_of(matrix_of(dtype), Distribution::denormals);
    EXPECT_GT(std::ranges::count_if(tiny, [&](double v) { return v != 0 && std::fabs(v) < least_normal(dtype); }),
              20000);
  }
}

}  // namespace
}  // namespace verifier::draws
