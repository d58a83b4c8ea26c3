#include "agent/mcp/figures.h"

#include <cmath>
#include <utility>

namespace agent::mcp {
namespace {
using core::Json;

double rounded(double value) {
  const double size = std::abs(value);
  if (!(size > 1e-300 && size < 1e300)) return value;
  const double scale = std::pow(10, 4 - std::floor(std::log10(size)));
  return std::round(value * scale) / scale;
}
}  // namespace

Json with_short_figures(Json json) {
  if (json.is_number_float()) return rounded(json.get<double>());
  if (json.is_structured()) {
    for (Json& member : json) member = with_short_figures(std::move(member));
  }
  return json;
}

}  // namespace agent::mcp
