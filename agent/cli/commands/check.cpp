// kernelwright check FILE: finds faults in a solution file without timing it, and without a GPU.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "agent/actions/checking.h"
#include "agent/actions/executing.h"
#include "agent/campaign/devices.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/cli/running/run_options.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {

struct CheckOptions {
  std::string file, architecture, dialect;
  bool execute = false;
};

// Checks the default point with a compile worker of its own.
actions::Checked compile_for(const std::string& target, const sandbox::process::WorkerCommand& worker,
                             verifier::verdicts::Effort effort, const sandbox::Solution& solution) {
  sandbox::CompilePool pool(worker, effort == verifier::verdicts::Effort::full ? 2 : 1);
  return actions::check_builds(pool, solution, sandbox::default_binding(solution), effort, target);
}

// The cpu device in the dialect that the options name, else in the solution's own.
campaign::DeviceChoice chosen_cpu(const CheckOptions& options, const sandbox::Solution& solution) {
  campaign::DeviceChoice cpu = campaign::parse_device(campaign::device_in_dialect("cpu", options.dialect));
  if (options.dialect.empty()) cpu.dialect = campaign::own_dialect(solution);
  if (const auto why = campaign::why_not_on(cpu, solution)) throw core::InputError(options.file, *why);
  return cpu;
}

void check(const CheckOptions& options, const Invocation& invocation) {
  campaign::LoadedData data = load_data(invocation);
  const core::Paths& paths = data.paths;
  const sandbox::Solution solution = sandbox::load_solution(options.file);
  const benchsuite::Problem& problem = problem_of(data, solution, options.file);
  sandbox::validate_solution(solution, problem);

  std::vector<actions::Checked> all;
  if (std::count(solution.backends.begin(), solution.backends.end(), "cpu") > 0) {
    const campaign::DeviceChoice cpu = chosen_cpu(options, solution);
    const std::string target = cpu.dialect == sandbox::Dialect::cuda ? "the cpu device" : "the device " + cpu.kind();
    all.push_back(
        compile_for(target, campaign::cpu_worker(paths, cpu.dialect), verifier::verdicts::Effort::full, solution));
  }
  if (!options.architecture.empty()) {
    all.push_back(compile_for(options.architecture, campaign::gpu_compile_worker(paths, options.architecture),
                              verifier::verdicts::Effort::screen, solution));
  }
  std::optional<verifier::verdicts::HostCheck> execution;
  if (options.execute) {
    execution = actions::execute_on_cpu(paths, problem, solution, sandbox::default_binding(solution), options.file);
  }
  if (invocation.json) {
    core::Json line{
        {"file", options.file}, {"problem", solution.problem}, {"ok", true}, {"compiled", core::Json::array()}};
    for (actions::Checked& checked : all) line["compiled"].push_back(std::move(checked.facts));
    if (execution) {
      line["executed"] = execution->passed;
      if (!execution->why_not.empty()) line["why_not_executed"] = execution->why_not;
    }
    print_json(line);
    return;
  }
  const sandbox::TunableBinding binding = sandbox::default_binding(solution);
  print("{}: fine. A solution of {} ({}) with {} launch{} and {} tunable{}{}.\n", core::clean_line(options.file),
        problem.name, core::clean_line(problem.title), solution.launches.size(),
        solution.launches.size() == 1 ? "" : "es", solution.tunables.size(), solution.tunables.size() == 1 ? "" : "s",
        binding.empty() ? "" : ", by default " + sandbox::describe(binding));
  for (const actions::Checked& checked : all) print("It {}.\n", actions::checked_words(checked));
  if (execution) print("{}\n", actions::execution_words(*execution));
  if (all.empty() && !execution)
    print(
        "It was not compiled, since it is not for the cpu device; --arch sm_90 compiles it with NVRTC, --arch gfx90a "
        "with hiprtc, and --execute runs it on the cpu device all the same.\n");
  const auto reference = problem.files.find(benchsuite::kReferenceFile);
  if (reference != problem.files.end() && solution.source == reference->second) {
    print("It is the reference of {}, which is not judged; test both with: kernelwright audit {}\n", problem.name,
          problem.name);
    return;
  }
  print("Judge it with: {}\n", command_again(invocation, "judge", options.file));
}
}  // namespace

void add_check_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Explain what is wrong with a solution file, without timing it");
  command->add_option("FILE", options->file, "A solution: one .cu file with its launch plan in the header comment")
      ->required();
  command->add_option(
      "--arch", options->architecture,
      "Compile it for this architecture of a GPU, too: with NVRTC (sm_90, sm_100a) or with hiprtc (gfx90a, "
      "gfx1100)");
  command->add_flag(
      "--execute", options->execute,
      "Execute it on the cpu device, also if it is for NVIDIA's GPUs alone: at the problem's test shapes and at drawn "
      "ones, in a build that finds races, bounds, missing waits and wrong results");
  running::add_dialect_option(*command, options->dialect);
  command->footer(
      "    kernelwright check kernels/softmax_f32/row_in_registers.cu --arch sm_90\n"
      "    kernelwright check kernels/gemm_bf16/persistent_wgmma.cu --arch sm_90a --execute");
  command->callback([options, &invocation] { check(*options, invocation); });
}

}  // namespace agent::cli::commands
