#include "agent/actions/checking.h"

#include <fmt/format.h>

#include "benchsuite/shared_headers.h"
#include "core/error.h"
#include "verifier/judging/builds.h"

namespace agent::actions {
namespace {
// Compares the plan's arguments with the compiled kernel's parameters.
void require_fitting_arguments(const sandbox::Solution& solution, const sandbox::Built& built) {
  for (size_t i = 0; i < solution.launches.size(); ++i) {
    const sandbox::Launch& launch = solution.launches[i];
    const std::string where = solution.file + "#/launches/" + std::to_string(i);
    const auto kernel = built.kernels.find(launch.kernel);
    if (kernel == built.kernels.end()) {
      throw core::InputError(where + "/kernel", launch.kernel + " is not compiled as extern \"C\" __global__");
    }
    const auto given = static_cast<int64_t>(launch.args.size());
    if (given != kernel->second) {
      throw core::InputError(where + "/args",
                             fmt::format("gives {} arguments, {} takes {}", given, launch.kernel, kernel->second));
    }
  }
}
}  // namespace

Checked check_builds(sandbox::CompilePool& pool, const sandbox::Solution& solution,
                     const sandbox::TunableBinding& binding, verifier::verdicts::Effort effort,
                     const std::string& target) {
  verifier::judging::Builds builds(solution, binding);
  if (const sandbox::Rejected* rejected = builds.wait(pool, effort)) {
    std::string where = solution.file;
    if (rejected->line) {
      const std::string line = benchsuite::author_line(solution.source, *rejected->line);
      where += line.empty() ? ":" + std::to_string(*rejected->line) : ", " + line;
    }
    throw core::InputError(where,
                           fmt::format("{} on {}: {}", sandbox::name_of(rejected->reason), target, rejected->message),
                           rejected->log);
  }
  const sandbox::Built& built = builds.fast();
  require_fitting_arguments(solution, built);
  core::Json facts{{"target", target}, {"compile_ms", built.compile_ms}, {"binary_hash", built.binary_hash}};
  for (const auto& [name, value] :
       {std::pair("registers", built.registers), std::pair("shared_bytes", built.shared_bytes),
        std::pair("local_bytes", built.local_bytes), std::pair("spill_bytes", built.spill_bytes),
        std::pair("scalar_registers", built.scalar_registers), std::pair("wave", built.wave)}) {
    if (value) facts[name] = *value;
  }
  return {target, built.compile_ms, std::move(facts)};
}

std::string checked_words(const Checked& checked) {
  std::string text = fmt::format("compiles for {} in {:.0f} ms", checked.target, checked.compile_ms);
  if (checked.facts.contains("registers")) {
    text +=
        fmt::format(": {} registers, {} bytes of shared memory, {} bytes spilled", checked.facts["registers"].dump(),
                    checked.facts["shared_bytes"].dump(), checked.facts.value("spill_bytes", 0));
  }
  if (checked.facts.contains("wave")) {
    text += fmt::format("; {} scalar registers, {} bytes of scratch, wavefronts of {}",
                        checked.facts["scalar_registers"].dump(), checked.facts["local_bytes"].dump(),
                        checked.facts["wave"].dump());
  }
  return text;
}

}  // namespace agent::actions
