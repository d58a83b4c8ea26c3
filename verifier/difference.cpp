#include "verifier/difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "verifier/elements.h"

namespace verifier {

double largest_difference(core::DType dtype, std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0) return 0;
  if (!core::is_floating(dtype) || a.size() != b.size()) return INFINITY;
  double largest = 0, squares = 0;
  const size_t elements = a.size() / core::size_bytes(dtype);
  for (size_t i = 0; i < elements; ++i) {
    const double x = load_element(dtype, a, i), y = load_element(dtype, b, i);
    if (std::isfinite(y)) squares += y * y;
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double difference = std::fabs(x - y);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest == 0 ? 0 : largest / std::sqrt(squares / static_cast<double>(elements));
}

}  // namespace verifier
