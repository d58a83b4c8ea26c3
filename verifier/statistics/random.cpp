#include "verifier/statistics/random.h"

#include <algorithm>
#include <cmath>

namespace verifier::statistics {

const std::array<float, NormalQuantile::kCells + 1>& NormalQuantile::knots() {
  static const auto all = [] {
    std::array<float, kCells + 1> made{};
    for (size_t i = 0; i <= kCells; ++i) {
      const double p = std::clamp(static_cast<double>(i) / kCells, 0x1p-20, 1 - 0x1p-20);
      double low = -6, high = 6;
      for (int step = 0; step < 50; ++step) {
        const double middle = (low + high) / 2;
        (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
      }
      made[i] = static_cast<float>(low);
    }
    return made;
  }();
  return all;
}

}  // namespace verifier::statistics
