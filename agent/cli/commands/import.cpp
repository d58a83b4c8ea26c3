// kernelwright import FILE.py: makes a problem of a file of PyTorch, or problems of a benchmark's files.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "agent/actions/kernel_skeleton.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/output.h"
#include "agent/torch/flashinfer_bench.h"
#include "agent/torch/importing.h"
#include "agent/torch/robust_kbench.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
namespace fs = std::filesystem;
using torch::Imported;
using torch::ImportOrder;
using torch::ImportRefused;
using Outcome = std::variant<Imported, ImportRefused>;
constexpr size_t kMostAtOnce = 8;  // each may take 8 GiB
constexpr const char *kKernelBench = "kernelbench", *kFlashInferBench = "flashinfer-bench",
                     *kMultiKernelBench = "multikernelbench", *kRobustKbench = "robust-kbench";

struct ImportOptions {
  std::vector<std::string> what, scalars;
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

// NAME=VALUE, where VALUE is a number, true or false.
torch::Scalars scalars_of(const ImportOptions& options) {
  torch::Scalars scalars;
  for (const std::string& text : options.scalars) {
    const size_t sign = text.find('=');
    const core::Json value = core::Json::parse(sign == text.npos ? "" : text.substr(sign + 1), nullptr, false);
    if (sign == 0 || !(value.is_number() || value.is_boolean())) {
      throw core::UsageError("--scalar", "\"" + core::clean_line(text) + "\" is not NAME=VALUE",
                             "a number, true or false: --scalar k=50");
    }
    scalars[text.substr(0, sign)] = value;
  }
  return scalars;
}

std::vector<ImportOrder> orders_of_definitions(const ImportOptions& options, const fs::path& path) {
  std::vector<ImportOrder> orders;
  const torch::Scalars scalars = scalars_of(options);
  for (const torch::DefinitionFile& one : torch::definitions_at(path)) {
    ImportOrder& order = orders.emplace_back();
    order.file = one.definition;
    order.beside = one.workloads;
    order.data_root = one.root;
    order.make_source = [scalars](const auto& definition, const auto& workloads, const auto& file) {
      return torch::source_of_definition(definition, workloads, file, scalars);
    };
    const fs::path& file = one.definition;
    const bool task = file.filename() == "definition.json";  // its folder has the name
    order.name = torch::problem_name((task ? fs::absolute(file).parent_path() : file).stem().string());
  }
  if (orders.size() == 1 && !options.name.empty()) {
    orders[0].name = options.name;
    orders[0].add_dtype = false;
  }
  return orders;
}

std::vector<ImportOrder> orders_of_tasks(const fs::path& path) {
  std::vector<ImportOrder> orders;
  for (const torch::TaskFile& task : torch::tasks_at(path)) {
    ImportOrder& order = orders.emplace_back();
    order.file = task.forward;
    order.beside = task.configuration;
    order.make_source = torch::source_of_task;
    order.name = torch::problem_name(task.name);
  }
  return orders;
}

std::vector<ImportOrder> orders_of(const ImportOptions& options) {
  const std::string& first = options.what[0];
  const bool benchmark =
      first == kKernelBench || first == kMultiKernelBench || first == kFlashInferBench || first == kRobustKbench;
  if (benchmark && options.what.size() == 1) {
    throw core::UsageError("import " + first, "needs the benchmark's folder",
                           "kernelwright import " + first + " FOLDER");
  }
  if (benchmark) {
    if (first == kFlashInferBench) return orders_of_definitions(options, options.what[1]);
    return first == kRobustKbench ? orders_of_tasks(options.what[1]) : orders_of_folder(options.what[1]);
  }
  if (options.what.size() != 1) {
    throw core::UsageError("import " + first, "is no benchmark that import knows",
                           "kernelwright import FILE.py, or kernelbench, multikernelbench, robust-kbench or "
                           "flashinfer-bench and a folder");
  }
  const fs::path file = first;
  if (!fs::is_regular_file(file)) {
    throw core::InputError(file.string(), fs::exists(file) ? "is not a file" : "there is no such file",
                           "give a file of PyTorch, or a benchmark and its folder: kernelwright import --help");
  }
  if (file.extension() == ".json") return orders_of_definitions(options, file);
  if (options.name.empty()) return {{file, torch::problem_name(file.stem().string())}};
  return {{file, options.name, false}};
}

void show(const ImportOrder& order, const Outcome& result, bool json, bool one) {
  const fs::path name = order.file.filename();  // with its folder where there are others: each task has the same one
  const std::string file = core::clean_line((one ? name : order.file.parent_path().filename() / name).string());
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
  const benchsuite::Problem problem = benchsuite::load_problem(imported.folder);
  print("\n  kernel.cu: a first kernel; its plan and signature stand, its body is yours to write\n");
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.role != benchsuite::Role::bench) continue;
    print("  timed {}: {}\n",
          workload.devices.empty() ? "on every device" : "on " + core::join(workload.devices, " and "),
          sandbox::describe(workload.axes));
  }
  print("{}", actions::next_steps(imported.folder));
}

// One of many files may fail, for example because its problem exists already; the others are still imported.
Outcome import_one(const core::Paths& paths, const torch::TorchPython& python, const ImportOrder& order, bool one) {
  try {
    return torch::import_file(paths, python, order);
  } catch (const core::InputError& error) {
    if (one) throw;
    return ImportRefused{core::clean_line(error.where() + " " + error.problem())};
  }
}

// Several files at once, each in a process of one thread; reports them in order.
void import_side_by_side(const core::Paths& paths, const torch::TorchPython& python,
                         const std::vector<ImportOrder>& orders, const std::function<void(const Outcome&)>& report) {
  const size_t at_once = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMostAtOnce);
  const bool one = orders.size() == 1;
  std::deque<std::future<Outcome>> running;
  for (size_t started = 0; started < orders.size() || !running.empty();) {
    if (started < orders.size() && running.size() < at_once) {
      const ImportOrder& order = orders[started++];
      running.push_back(std::async(std::launch::async, [&] { return import_one(paths, python, order, one); }));
      continue;
    }
    report(running.front().get());
    running.pop_front();
  }
}

void import_files(const ImportOptions& options, Invocation& invocation) {
  core::Paths paths = core::installed_paths();
  paths.sandbox_level = invocation.sandbox_level;
  std::vector<ImportOrder> orders = orders_of(options);
  if (orders.size() > 1 && !options.name.empty()) {
    throw core::UsageError("--name", "names one problem, and " + std::to_string(orders.size()) + " files are imported",
                           "leave it out, or import one file");
  }
  const auto python = torch::find_torch_python();
  if (const auto* why = std::get_if<std::string>(&python)) {
    throw core::InputError("import", "needs PyTorch: " + *why, torch::torch_remedy());
  }
  for (ImportOrder& order : orders) {
    order.into = options.out;
    order.fit_bytes = options.fit;
    order.more_files = actions::with_first_kernel;
    order.seconds = options.seconds;
  }
  size_t refused = 0, next = 0;
  import_side_by_side(paths, std::get<torch::TorchPython>(python), orders, [&](const Outcome& outcome) {
    refused += std::holds_alternative<ImportRefused>(outcome);
    show(orders[next++], outcome, invocation.json, orders.size() == 1);
    std::fflush(stdout);
  });
  if (refused > 0) invocation.exit_code = kRefused;
  if (!invocation.json && orders.size() > 1) {
    print("{} of {} files were imported.\n", orders.size() - refused, orders.size());
  }
}
}  // namespace

void add_import_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand("import", "Turn PyTorch files or a benchmark's into problems");
  command
      ->add_option("FILE", options->what,
                   "A file with class Model(nn.Module) or one function, and get_inputs(); or kernelbench or "
                   "multikernelbench and a folder of such files; or flashinfer-bench and a folder of Definitions, or "
                   "one of them; or robust-kbench and a folder of tasks")
      ->required()
      ->expected(1, 2);
  command->add_option("--name", options->name,
                      "The problem's name (default: the file's, with the dtype of its first output)");
  command->add_option("--out", options->out, "Where the problem's folder is made");
  command
      ->add_option("--fit", options->fit,
                   "Most bytes of all tensors when timed on a GPU; sizes are halved to fit (default: 4G)")
      ->transform(CLI::AsSizeValue(false));
  command
      ->add_option("--scalar", options->scalars,
                   "NAME=VALUE of a Definition's scalar that no Workload gives; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--seconds", options->seconds, "Longest time for one file")->check(CLI::Range(1, 3600));
  command->footer(
      "The file runs in a jail, without network, other processes, or files but Python's. Parameters become inputs,\n"
      "and sizes become axes. Its folder gets problem.json, reference.py, kernel.cu (a first kernel to fill in), "
      "original/ and\n"
      "import.json. Eager PyTorch is its naive solution, which yours is timed against.\n"
      "A Definition whose Workloads give data (safetensors, custom inputs) is not run; its folder gets the data.\n\n"
      "    kernelwright import model.py --out problems\n"
      "    kernelwright import kernelbench KernelBench/level1 --out problems\n"
      "    kernelwright import flashinfer-bench flashinfer-trace --out problems");
  command->callback([options, &invocation] { import_files(*options, invocation); });
}

}  // namespace agent::cli::commands
