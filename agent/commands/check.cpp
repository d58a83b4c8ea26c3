// kernelwright check FILE: what is wrong with a solution file, without running it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "agent/cli.h"
#include "agent/devices.h"
#include "core/error.h"
#include "core/paths.h"
#include "core/suggest.h"
#include "verifier/builds.h"

namespace agent {
namespace {

// What only the compiled kernel tells.
void require_fitting_arguments(const sandbox::Solution& solution, const sandbox::Built& built,
                               const std::string& file) {
  for (size_t i = 0; i < solution.launches.size(); ++i) {
    const sandbox::Launch& launch = solution.launches[i];
    const std::string where = file + "#/launches/" + std::to_string(i);
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

void check(const std::string& file, const Shell& shell) {
  const core::Paths paths = core::installed_paths();
  const sandbox::Solution solution = sandbox::load_solution(file);
  const auto problems = benchsuite::load_problems(paths.problems());
  const benchsuite::Problem& problem = find_problem(problems, solution.problem, file + "#/problem");
  sandbox::validate_solution(solution, problem);

  sandbox::CompilePool pool(cpu_worker(paths), 2);
  const sandbox::TunableBinding binding = sandbox::default_binding(solution);
  verifier::Builds builds(solution, binding);
  if (const sandbox::Rejected* rejected = builds.wait(pool, verifier::Effort::full)) {
    const std::string where = rejected->line ? file + ":" + std::to_string(*rejected->line) : file;
    throw core::InputError(where, fmt::format("{}: {}", sandbox::name_of(rejected->reason), rejected->message),
                           rejected->log);
  }
  require_fitting_arguments(solution, builds.fast(), file);
  if (shell.json) {
    fmt::print("{}\n", core::Json{{"file", file},
                                  {"problem", solution.problem},
                                  {"ok", true},
                                  {"compile_ms", builds.fast().compile_ms},
                                  {"binary_hash", builds.fast().binary_hash}}
                           .dump());
    return;
  }
  fmt::print("{}: fine. {} for {}, {} launch{}, {} tunable{}{}; compiles for the cpu device in {:.0f} ms.\n", file,
             problem.title, solution.problem, solution.launches.size(), solution.launches.size() == 1 ? "" : "es",
             solution.tunables.size(), solution.tunables.size() == 1 ? "" : "s",
             binding.empty() ? "" : " (default " + sandbox::describe(binding) + ")", builds.fast().compile_ms);
  fmt::print("Judge it with: kernelwright judge {}\n", file);
}
}  // namespace

void add_check_command(CLI::App& app, Shell& shell) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("check", "Explain what is wrong with a solution file, without running it");
  command->add_option("FILE", *file, "A solution: one .cu file with its launch plan in the header comment")->required();
  command->callback([file, &shell] { check(*file, shell); });
}

}  // namespace agent
