// kernelwright new NAME: makes the folder of a problem of one's own.
#include <CLI/CLI.hpp>
#include <memory>

#include "agent/actions/kernel_skeleton.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/output.h"
#include "agent/torch/importing.h"
#include "benchsuite/skeleton.h"
#include "core/error.h"
#include "core/new_folder.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
namespace fs = std::filesystem;
constexpr const char* kThere = "remove it, or choose another name";

struct NewOptions {
  std::string name;
  fs::path out = ".", pytorch;
};

void make_folder(const core::Paths& paths, const NewOptions& options, const fs::path& place) {
  const benchsuite::SourceFiles files = benchsuite::problem_skeleton(paths.skeleton(), options.name);
  benchsuite::parse_problem(files.at("problem.json"), place.string());  // refuses a name that no problem may have
  core::NewFolder folder(place, kThere);
  for (const auto& [file, text] : files) folder.write(file, text);
  folder.move_to_place();
}

void import_into(const core::Paths& paths, const NewOptions& options, const fs::path& place) {
  if (fs::exists(place)) throw core::InputError(place.string(), "already exists", kThere);
  const auto python = torch::find_torch_python();
  if (const auto* why = std::get_if<std::string>(&python)) {
    throw core::InputError("--from-pytorch", "needs PyTorch: " + *why, torch::torch_remedy());
  }
  torch::ImportOrder order{options.pytorch, options.name, false, options.out};
  order.more_files = actions::with_first_kernel;
  const auto result = torch::import_file(paths, std::get<torch::TorchPython>(python), order);
  if (const auto* refused = std::get_if<torch::ImportRefused>(&result)) {
    throw core::InputError(options.pytorch.string(), "cannot be imported: " + refused->why,
                           "kernelwright import --help says what a file must hold");
  }
}

void make_problem(const NewOptions& options, Invocation& invocation) {
  core::Paths paths = core::installed_paths();
  paths.sandbox_level = invocation.sandbox_level;
  const fs::path place = options.out / options.name;
  const bool pytorch = !options.pytorch.empty();
  if (pytorch) {
    import_into(paths, options, place);
  } else {
    make_folder(paths, options, place);
  }
  if (invocation.json) return print_json({{"problem", options.name}, {"folder", place.string()}});
  const std::string folder = core::clean_line(place.string());
  print("made: {}\n  problem.json   axes, tensors, contract, cost and workloads\n", folder);
  if (pytorch) {
    print(
        "  reference.py   the right results; original/ and import.json say where it comes from\n"
        "  kernel.cu      a first kernel: its plan and signature stand, its body is yours to write\n");
  } else {
    print(
        "  reference.cu   the right results, in double\n  naive.cu       the plain kernel that others must beat\n"
        "  kernel.cu      a first kernel to improve\n\nIt computes y = x w; change it into your problem.\n");
  }
  print("{}", actions::next_steps(place));
}
}  // namespace

void add_new_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<NewOptions>();
  CLI::App* command = app.add_subcommand("new", "Make the folder of a problem of your own, ready to change");
  command->add_option("NAME", options->name, "Its name, which ends in a dtype: my_norm_f32")->required();
  command
      ->add_option("--from-pytorch", options->pytorch,
                   "A file of PyTorch that computes the right results, as kernelwright import takes it")
      ->check(CLI::ExistingFile);
  command->add_option("--out", options->out, "Where the folder is made");
  command->footer(
      "Its files pass the audit as they stand, and their comments say what each is for.\n\n"
      "    kernelwright new my_norm_f32\n"
      "    kernelwright new my_norm_f32 --from-pytorch model.py");
  command->callback([options, &invocation] { make_problem(*options, invocation); });
}

}  // namespace agent::cli::commands
