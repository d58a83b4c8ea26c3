#include "verifier/statistics/random.h"

#include <algorithm>
#include <cmath>

namespace verifier::statistics {
namespace {

// The quantile function of N(0,1) at 8193 equidistant probabilities, with the ends at 2^-20. The tails matter: the
// outermost intervals reach from 3.7 to 4.8.
class NormalTable {
 public:
  NormalTable() {
    for (size_t i = 0; i <= kCells; ++i) {
      const double p = std::clamp(static_cast<double>(i) / kCells, 0x1p-20, 1 - 0x1p-20);
      double low = -6, high = 6;
      for (int step = 0; step < 50; ++step) {
        const double middle = (low + high) / 2;
        (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
      }
      knots_[i] = static_cast<float>(low);
    }
  }
  float at(uint32_t uniform) const {
    const size_t interval = uniform >> 19;
    const float fraction = static_cast<float>(uniform & 0x7FFFF) * 0x1p-19f;
    return knots_[interval] + fraction * (knots_[interval + 1] - knots_[interval]);
  }

 private:
  static constexpr size_t kCells = 8192;
  std::array<float, kCells + 1> knots_{};
};
}  // namespace

float normal_quantile(uint32_t drawn) {
  static const NormalTable table;
  return table.at(drawn);
}

}  // namespace verifier::statistics
