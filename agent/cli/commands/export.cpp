// kernelwright export WHAT...: writes the archive's kernels as self-contained projects.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <memory>

#include "agent/actions/resolve.h"
#include "agent/campaign/campaign.h"
#include "agent/campaign/export_binaries.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "core/error.h"
#include "core/text.h"
#include "results/exporting/choosing.h"
#include "results/exporting/folder.h"
#include "results/exporting/projects.h"

namespace agent::cli::commands {
namespace {
struct ExportOptions {
  results::exporting::ExportChoice choice;
  std::string format;
  std::filesystem::path folder;
  std::vector<std::string> fatbin;  // architectures
  bool force = false;
};

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

results::exporting::Files project_of(const ExportOptions& options, const core::Paths& paths,
                                     const results::exporting::Package& package) {
  const results::exporting::ExportData data{paths.exports(), paths.licence(), paths.device_headers() / "kw_prelude.h"};
  if (options.format == "cuda") return results::exporting::cuda_project(package, data, now_utc());
  if (options.format == "hip") return results::exporting::hip_project(package, data, now_utc());
  if (options.format == "header") {
    return results::exporting::header_project(package, data, now_utc(),
                                              campaign::compile_exported(paths, package, options.fatbin));
  }
  if (options.format == "pytorch") return results::exporting::torch_project(package, data, now_utc());
  if (options.format == "flashinfer-bench") return results::exporting::flashinfer_project(package, data, now_utc());
  throw core::InputError("--to", "there is no format " + options.format);
}

void check_sources(const core::Paths& paths, const results::exporting::Package& package) {
  try {
    campaign::check_exported(paths, package);
  } catch (const core::SystemError& error) {
    print_error(
        fmt::format("not compiled here: {}\nRead other people's kernels before you build them: the build runs their "
                    "code on your host.\n",
                    error.what()));
  }
}

// The fastest kernel of the cpu device, often one thread per row, is seldom a good one on a GPU.
void require_gpu_results(const ExportOptions& options, const results::exporting::Package& package,
                         const campaign::LoadedData& data) {
  const auto& what = options.choice.what;
  const std::string& problem = package.problem->name;
  const bool by_problem = std::find(what.begin(), what.end(), problem) != what.end();
  if (!by_problem || options.choice.device.starts_with("cpu")) return;
  for (const results::exporting::ExportedKernel& kernel : package.kernels) {
    if (kernel.measured_on_gpu()) return;
  }
  std::string shipped;
  if (const auto here = data.catalogue.problems.find(problem); here != data.catalogue.problems.end()) {
    for (const auto& named : campaign::shipped_solutions(data.paths, here->second, "cuda")) {
      shipped += (shipped.empty() ? "" : ", ") + named.name;
    }
  }
  throw core::InputError(problem, "was measured on the cpu device only, which does not rank kernels of a GPU",
                         "search with kernelwright run " + problem +
                             " --device cuda; or accept the cpu device's winner "
                             "with --device cpu; or name a solution" +
                             (shipped.empty() ? "" : " (" + shipped + " ship)"));
}

void run_export(ExportOptions& options, const Invocation& invocation) {
  if (options.format.empty())
    throw core::UsageError("--to", "is missing", "name a format: cuda, hip, header, pytorch or flashinfer-bench");
  if (!options.fatbin.empty() && options.format != "header") {
    throw core::UsageError("--fatbin", "is for --to header", "leave it out, or export a header");
  }
  campaign::LoadedData data = load_data(invocation);
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  options.choice.device = actions::resolve_device(archive, options.choice.device);
  options.choice.backend = options.format == "hip" ? "hip" : "cuda";
  for (std::string& what : options.choice.what) {
    if (benchsuite::names_a_folder(what)) what = data.catalogue.find_or_load(what, "export").name;
  }
  results::exporting::Package package =
      results::exporting::choose_kernels(archive, data.catalogue.problems, options.choice);
  require_gpu_results(options, package, data);
  package.archive = invocation.archive.filename().string();
  if (options.fatbin.empty()) check_sources(data.paths, package);
  const results::exporting::Files files = project_of(options, data.paths, package);
  results::exporting::write_folder(options.folder, files, options.force);
  if (invocation.json) {
    core::Json kernels = core::Json::array();
    for (const results::exporting::ExportedKernel& kernel : package.kernels) {
      kernels.push_back({{"name", kernel.id}, {"attempt", kernel.attempt.id}, {"confirmed", kernel.confirmed()}});
    }
    print_json({{"folder", options.folder.string()},
                {"format", options.format},
                {"files", files.size()},
                {"kernels", kernels}});
    return;
  }
  for (const results::exporting::ExportedKernel& kernel : package.kernels) {
    print("attempt {}: {}{}{}\n", kernel.attempt.id, kernel.id, kernel.confirmed() ? "" : ", NOT CONFIRMED",
          kernel.measured_on_gpu() ? "" : ", measured on the cpu device only");
  }
  print("{} files in {}; how to build and test it: {}\n", files.size(), core::clean_line(options.folder.string()),
        core::clean_line((options.folder / "README.md").string()));
}
}  // namespace

void add_export_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ExportOptions>();
  const auto is_architecture = [](const std::string& name) {
    return results::exporting::capability_of(name) > 0 && name.rfind("sm_", 0) == 0 ? "" : "must be sm_NN, not " + name;
  };
  CLI::App* command =
      app.add_subcommand("export", "Write kernels of the archive as a project that builds and tests itself");
  command
      ->add_option("WHAT", options->choice.what,
                   "A problem by name or folder (its fastest confirmed kernels, by device and shape), or attempts by "
                   "number and solutions by "
                   "name or hash")
      ->required();
  command
      ->add_option("--to", options->format,
                   "cuda or hip: a library; header: one file; pytorch: an extension, the only one for a problem with "
                   "reference.py; flashinfer-bench: its files")
      ->check(CLI::IsMember({"cuda", "header", "hip", "pytorch", "flashinfer-bench"}));
  command->add_option("-o,--output", options->folder, "The folder to write: absent, or empty")->required();
  command->add_option("--device", options->choice.device,
                      "Only results of this device: cpu, cuda, or a part of its name such as H200");
  command
      ->add_option("--arch", options->choice.architectures, "Also use the kernels on these architectures: sm_80,sm_100")
      ->delimiter(',')
      ->check(is_architecture);
  command
      ->add_option(
          "--fatbin", options->fatbin,
          "With --to header: include binaries for these architectures instead of source, so that NVRTC is not needed")
      ->delimiter(',')
      ->check(is_architecture);
  command->add_option("--name", options->choice.name, "Name of the project and its namespace (default: the problem's)");
  command->add_flag("--unconfirmed", options->choice.unconfirmed,
                    "Include correct but unconfirmed kernels, marked as such");
  command->add_flag("--force", options->force, "Replace an earlier export in that folder");
  command->footer(
      "docs/exports.md describes each format.\n\n"
      "    kernelwright export softmax_f32 --to cuda -o softmax\n"
      "    kernelwright export ./model_f32 --to pytorch -o fast   # of an imported module, to call in its place");
  command->callback([options, &invocation] { run_export(*options, invocation); });
}

}  // namespace agent::cli::commands
