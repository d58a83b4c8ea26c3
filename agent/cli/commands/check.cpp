// kernelwright check FILE: finds faults in a solution file without running it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "agent/campaign/devices.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "core/error.h"
#include "core/text.h"
#include "verifier/judging/builds.h"

namespace agent::cli::commands {
namespace {

// Compares the plan's arguments with the compiled kernel's parameters.
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

struct CheckOptions {
  std::string file, architecture, dialect;
};

struct Checked {
  std::string target;  // "the cpu device", "sm_90"
  double compile_ms = 0;
  core::Json facts;
};

// Compiles the default point and checks the plan against the result. Throws core::InputError with the place.
Checked compile_for(const std::string& target, const sandbox::process::WorkerCommand& worker,
                    verifier::verdicts::Effort effort, const sandbox::Solution& solution) {
  sandbox::CompilePool pool(worker, effort == verifier::verdicts::Effort::full ? 2 : 1);
  verifier::judging::Builds builds(solution, sandbox::default_binding(solution));
  if (const sandbox::Rejected* rejected = builds.wait(pool, effort)) {
    const std::string where = rejected->line ? solution.file + ":" + std::to_string(*rejected->line) : solution.file;
    throw core::InputError(where,
                           fmt::format("{} on {}: {}", sandbox::name_of(rejected->reason), target, rejected->message),
                           rejected->log);
  }
  const sandbox::Built& built = builds.fast();
  require_fitting_arguments(solution, built, solution.file);
  core::Json facts{{"target", target}, {"compile_ms", built.compile_ms}, {"binary_hash", built.binary_hash}};
  for (const auto& [name, value] :
       {std::pair("registers", built.registers), std::pair("shared_bytes", built.shared_bytes),
        std::pair("local_bytes", built.local_bytes), std::pair("spill_bytes", built.spill_bytes),
        std::pair("scalar_registers", built.scalar_registers), std::pair("wave", built.wave)}) {
    if (value) facts[name] = *value;
  }
  return {target, built.compile_ms, std::move(facts)};
}

std::string describe(const Checked& checked) {
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

  std::vector<Checked> all;
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
  if (invocation.json) {
    core::Json line{
        {"file", options.file}, {"problem", solution.problem}, {"ok", true}, {"compiled", core::Json::array()}};
    for (Checked& checked : all) line["compiled"].push_back(std::move(checked.facts));
    print_json(line);
    return;
  }
  const sandbox::TunableBinding binding = sandbox::default_binding(solution);
  print("{}: fine. A solution of {} ({}) with {} launch{} and {} tunable{}{}.\n", core::clean_line(options.file),
        problem.name, core::clean_line(problem.title), solution.launches.size(),
        solution.launches.size() == 1 ? "" : "es", solution.tunables.size(), solution.tunables.size() == 1 ? "" : "s",
        binding.empty() ? "" : ", by default " + sandbox::describe(binding));
  for (const Checked& checked : all) print("It {}.\n", describe(checked));
  if (all.empty())
    print(
        "It was not compiled, since it is not for the cpu device; --arch sm_90 compiles it with NVRTC, --arch gfx90a "
        "with hiprtc.\n");
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
  CLI::App* command = app.add_subcommand("check", "Explain what is wrong with a solution file, without running it");
  command->add_option("FILE", options->file, "A solution: one .cu file with its launch plan in the header comment")
      ->required();
  command->add_option(
      "--arch", options->architecture,
      "Compile it for this architecture of a GPU, too: with NVRTC (sm_90, sm_100a) or with hiprtc (gfx90a, "
      "gfx1100)");
  add_dialect_option(*command, options->dialect);
  command->footer("    kernelwright check kernels/softmax_f32/row_in_registers.cu --arch sm_90");
  command->callback([options, &invocation] { check(*options, invocation); });
}

}  // namespace agent::cli::commands
