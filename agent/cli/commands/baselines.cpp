// kernelwright baselines [PROBLEM...]: times the libraries that people would otherwise use, by the same rules.
#include "agent/campaign/baselines.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "agent/campaign/startup.h"
#include "agent/cli/calibration_text.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"

namespace agent::cli::commands {
namespace {
struct BaselinesOptions {
  std::vector<std::string> problems, libraries;
  std::string suite, device = "cuda";
  bool missing = false;
};

void baselines(const BaselinesOptions& options, Invocation& invocation) {
  const campaign::DeviceChoice choice = campaign::parse_device(options.device);
  std::vector<campaign::OwnLibrary> own;
  for (const std::string& text : options.libraries) own.push_back(campaign::parse_own_library(text));
  campaign::LoadedData data = load_data(invocation);
  std::vector<const benchsuite::Problem*> problems;
  for (const std::string& name : options.problems) problems.push_back(&data.catalogue.find_or_load(name, "baselines"));
  if (!options.suite.empty()) {
    for (const std::string& name :
         benchsuite::load_suite(data.paths.suites(), options.suite, data.catalogue).problems) {
      problems.push_back(&data.catalogue.problems.at(name));
    }
  }
  if (problems.empty()) {
    for (const auto& [name, problem] : data.catalogue.problems) problems.push_back(&problem);
  }
  results::archive::Recorder archive = campaign::open_seeded_archive(invocation.archive, data);
  campaign::measure_baselines(archive, data.paths, choice, problems, own,
                              options.missing ? campaign::WhichBaselines::missing : campaign::WhichBaselines::all,
                              print_baselines(invocation.json));
}
}  // namespace

void add_baselines_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<BaselinesOptions>();
  CLI::App* command = app.add_subcommand(
      "baselines", "Time the libraries that people would otherwise use on a GPU, by the judge's own rules");
  command->add_option("PROBLEM", options->problems, "The problems, by name or folder (default: all)");
  command->add_option("--suite", options->suite, "A list of problems: core, quick, transformer, shipped");
  command->add_option("--device", options->device, "Which GPU: cuda, cuda:N");
  command->add_flag("--missing", options->missing,
                    "Only those that the archive does not have yet, and torch.compile in its default mode alone");
  command
      ->add_option(
          "--library", options->libraries,
          "NAME=FILE.py: what you run today, a Python file with one function equivalent(...), timed beside the "
          "libraries of one problem; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->footer(
      "The libraries are cuBLAS, cuBLASLt (AMD: rocBLAS), PyTorch eager and torch.compile, which counts in the fastest "
      "of its modes\n"
      "default, max-autotune-no-cudagraphs and reduce-overhead. PyTorch comes from the Python that KW_PYTHON names,\n"
      "else from python3. torch.compile also takes the reference.py of an imported problem, in a jail of its own;\n"
      "eager PyTorch is its naive solution. kernelwright run first times missing libraries, torch.compile in its\n"
      "default mode alone, unless --no-baselines is given.");
  command->callback([options, &invocation] { baselines(*options, invocation); });
}

}  // namespace agent::cli::commands
