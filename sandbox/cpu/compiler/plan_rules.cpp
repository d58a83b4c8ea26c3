#include "sandbox/cpu/compiler/plan_rules.h"

#include <algorithm>

namespace sandbox::cpu::compiler {
namespace {
// An extent that depends on the shape may be more than 1.
bool is_one(const core::Expr& extent, const TunableBinding& binding) {
  try {
    return extent.eval(binding) == 1;
  } catch (const core::ExprError&) {
    return false;
  }
}
}  // namespace

std::optional<std::string> why_not(const Solution& solution, const TunableBinding& binding) {
  const auto unsupported = [](const Launch& launch, const std::string& what) {
    return what + " (kernel " + launch.kernel + ") is unsupported on the cpu device";
  };
  for (const Launch& launch : solution.launches) {
    const bool clustered = !std::all_of(launch.cluster.begin(), launch.cluster.end(),
                                        [&](const core::Expr& extent) { return is_one(extent, binding); });
    if (clustered) return unsupported(launch, "a cluster of blocks");
    if (launch.cooperative) return unsupported(launch, "a cooperative launch");
    if (launch.overlaps_previous) return unsupported(launch, "a launch that overlaps the one before it");
  }
  if (!solution.tensor_maps.empty()) {
    return "the tensor map \"" + solution.tensor_maps[0].name + "\" is unsupported on the cpu device";
  }
  return std::nullopt;
}

}  // namespace sandbox::cpu::compiler
