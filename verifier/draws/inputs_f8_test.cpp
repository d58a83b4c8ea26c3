// Draws of formats that end at 448 and 57344.
#include <algorithm>
#include <cmath>

#include "verifier/draws/inputs_fixture.h"

namespace verifier::draws {
namespace {
TEST(InputsOf8Bits, GoUpToTheLargestNumberAndDownToDenormals) {
  for (const DType dtype : {DType::f8e4m3, DType::f8e5m2}) {
    Tensor x = tensor(dtype);
    x.init.scale = dtype == DType::f8e4m3 ? 64 : 8192;  // as much as a problem may ask
    double largest = 0;
    for (const Distribution distribution : all_distributions()) {
      for (const double v : drawn(x, distribution, 3)) {
        if (distribution == Distribution::non_finite || distribution == Distribution::stray) continue;
        ASSERT_TRUE(std::isfinite(v)) << core::name_of(dtype) << " " << name_of(distribution);
        largest = std::max(largest, std::fabs(v));
      }
    }
    EXPECT_EQ(largest, largest_of(dtype));
    const std::vector<double> tiny = drawn(tensor(dtype), Distribution::denormals);
    EXPECT_GT(std::ranges::count_if(tiny, [&](double v) { return v != 0 && std::fabs(v) < least_normal(dtype); }),
              20000);
  }
}

}  // namespace
}  // namespace verifier::draws
