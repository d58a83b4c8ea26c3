#include "sandbox/compilation.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace sandbox {

std::optional<Solution> solution_of(const CompileRequest& request) {
  try {
    return parse_solution(request.source, request.file);
  } catch (const core::InputError&) {
    return std::nullopt;
  }
}

std::optional<Rejected> refuse_stray_kernel(const Solution& solution, const std::map<std::string, int64_t>& kernels) {
  for (const auto& [name, parameters] : kernels) {
    const bool launched =
        std::ranges::any_of(solution.launches, [&name = name](const Launch& launch) { return launch.kernel == name; });
    if (launched) continue;
    return Rejected{Rejection::forbidden,
                    "the kernel " + core::clean_line(name, 100) +
                        " is not launched by the plan: remove it, or make it a __device__ function",
                    std::nullopt, ""};
  }
  return std::nullopt;
}

}  // namespace sandbox
