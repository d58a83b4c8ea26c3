#include "verifier/comparison/difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "verifier/draws/elements.h"

namespace verifier::comparison {

double relative_difference(const Difference& difference, int64_t elements) {
  if (difference.largest == 0 || std::isinf(difference.largest)) return difference.largest;
  return difference.largest / std::sqrt(difference.squares / static_cast<double>(elements));
}

double largest_difference(core::DType dtype, std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0) return 0;
  if (!core::is_floating(dtype) || a.size() != b.size()) return INFINITY;
  Difference found;
  const size_t elements = a.size() / core::size_bytes(dtype);
  for (size_t i = 0; i < elements; ++i) {
    const double x = draws::load_element(dtype, a, i), y = draws::load_element(dtype, b, i);
    if (std::isfinite(y)) found.squares += y * y;
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double difference = std::fabs(x - y);
    found.largest = std::isnan(difference) ? INFINITY : std::max(found.largest, difference);
  }
  return relative_difference(found, static_cast<int64_t>(elements));
}

}  // namespace verifier::comparison
