// kernelwright import FILE.py: makes a problem of a file of PyTorch.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "agent/cli/commands/commands.h"
#include "agent/cli/output.h"
#include "agent/torch/importing.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
namespace fs = std::filesystem;
using torch::Imported;
using torch::ImportOrder;
using torch::ImportRefused;
constexpr const char* kFolderFormat = "kernelbench";

struct ImportOptions {
  std::vector<std::string> what;
  std::string name, out = ".";
  uint64_t fit = uint64_t{4} << 30;
  int seconds = 120;
};

// Every .py file below the folder, in order; names begin with the folder that they stand in.
std::vector<ImportOrder> orders_of_folder(const fs::path& folder) {
  std::vector<ImportOrder> orders;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    const fs::path& file = entry.path();
    if (file.extension() != ".py" || !entry.is_regular_file() || file.filename().string()[0] == '_') continue;
    const std::string above = fs::equivalent(file.parent_path(), folder) ? "" : file.parent_path().filename().string();
    orders.push_back({file, torch::problem_name(above + "_" + file.stem().string())});
  }
  if (error) throw core::InputError(folder.string(), "cannot be read: " + error.message());
  if (orders.empty()) throw core::InputError(folder.string(), "holds no .py file");
  std::sort(orders.begin(), orders.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
  return orders;
}

std::vector<ImportOrder> orders_of(const ImportOptions& options) {
  if (options.what.size() == 2 && options.what[0] == kFolderFormat) return orders_of_folder(options.what[1]);
  if (options.what.size() != 1) {
    throw core::InputError("import " + options.what[0], "takes one file",
                           "kernelwright import FILE.py, or kernelwright import kernelbench FOLDER");
  }
  const fs::path file = options.what[0];
  if (!fs::is_regular_file(file)) throw core::InputError(file.string(), "is no file");
  if (options.name.empty()) return {{file, torch::problem_name(file.stem().string())}};
  return {{file, options.name, false}};
}

void show(const ImportOrder& order, const std::variant<Imported, ImportRefused>& result, bool json, bool one) {
  const std::string file = core::clean_line(order.file.filename().string());
  if (const auto* refused = std::get_if<ImportRefused>(&result)) {
    if (json) return print_json({{"file", order.file.string()}, {"refused", refused->why}});
    return print("refused: {}: {}\n", file, refused->why);
  }
  const Imported& imported = std::get<Imported>(result);
  if (json) {
    return print_json({{"file", order.file.string()},
                       {"problem", imported.name},
                       {"folder", imported.folder.string()},
                       {"remarks", imported.remarks}});
  }
  const std::string remarks = core::join(imported.remarks, "; ");
  if (!one) return print("imported: {}{}{}\n", imported.name, remarks.empty() ? "" : ": ", remarks);
  print("imported: {}\n", core::clean_line(imported.folder.string()));
  for (const std::string& remark : imported.remarks) print("  {}\n", remark);
  print("\nkernelwright audit {} verifies that wrong results are refused.\n",
        core::clean_line(imported.folder.string()));
}

void import_files(const ImportOptions& options, Invocation& invocation) {
  core::Paths paths = core::installed_paths();
  paths.sandbox_level = invocation.sandbox_level;
  std::vector<ImportOrder> orders = orders_of(options);
  const auto python = torch::find_torch_python();
  if (const auto* why = std::get_if<std::string>(&python)) {
    throw core::InputError("import", "needs PyTorch: " + *why, torch::torch_remedy());
  }
  size_t refused = 0;
  for (ImportOrder& order : orders) {
    order.into = options.out;
    order.fit_bytes = options.fit;
    order.seconds = options.seconds;
    const auto result = torch::import_file(paths, std::get<torch::TorchPython>(python), order);
    refused += std::holds_alternative<ImportRefused>(result);
    show(order, result, invocation.json, orders.size() == 1);
    std::fflush(stdout);
  }
  if (refused > 0) invocation.exit_code = kRefused;
  if (!invocation.json && orders.size() > 1) {
    print("{} of {} files were imported.\n", orders.size() - refused, orders.size());
  }
}
}  // namespace

void add_import_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand("import", "Turn a PyTorch file into a problem");
  command
      ->add_option("FILE", options->what,
                   "A file with class Model(nn.Module) or one function, and get_inputs(); or kernelbench and a "
                   "folder of such files")
      ->required()
      ->expected(1, 2);
  command->add_option("--name", options->name, "The problem's name (default: the file's, with its dtype)");
  command->add_option("--out", options->out, "Where the problem's folder is made");
  command
      ->add_option("--fit", options->fit,
                   "Most bytes of all tensors when timed on a GPU; sizes are halved to fit (default: 4G)")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--seconds", options->seconds, "Longest time for one file")->check(CLI::Range(1, 3600));
  command->footer(
      "The file runs in a jail, without network, other processes, or files but Python's. Parameters become inputs,\n"
      "and sizes become axes. Its folder gets problem.json, reference.py, original/ and import.json.\n\n"
      "    kernelwright import model.py --out problems\n"
      "    kernelwright import kernelbench KernelBench/level1 --out problems");
  command->callback([options, &invocation] { import_files(*options, invocation); });
}

}  // namespace agent::cli::commands
