// kernelwright problems [NAME]: lists the problems that can be optimised.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/cli/table.h"
#include "agent/prompting/facts.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
std::string describe(const benchsuite::Tensor& tensor) {
  std::vector<std::string> shape;
  for (const core::Expr& extent : tensor.shape) shape.push_back(extent.text());
  return fmt::format("{} {} [{}]", tensor.name, core::name_of(tensor.dtype), core::join(shape, ", "));
}

std::string describe(const std::vector<benchsuite::Tensor>& tensors) {
  std::vector<std::string> parts;
  for (const auto& tensor : tensors) parts.push_back(describe(tensor));
  return core::join(parts, ", ");
}

std::string describe_axes(const core::Bindings& axes) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : axes) parts.push_back(name + "=" + std::to_string(value));
  return core::join(parts, " ");
}

void list(const std::map<std::string, benchsuite::Problem>& problems, bool json) {
  if (json) {
    core::Json all = core::Json::array();
    for (const auto& [name, problem] : problems) {
      all.push_back({{"name", name}, {"title", problem.title}, {"folder", problem.folder.string()}});
    }
    print_json(all);
    return;
  }
  Table table({{"PROBLEM"}, {"WHAT"}, {"IN"}, {"OUT"}});
  for (const auto& [name, problem] : problems) {
    table.add_row({name, problem.title, describe(problem.inputs), describe(problem.outputs)});
  }
  print("{}", table.text());
}

void show(const benchsuite::Problem& problem, bool json) {
  if (json) {
    print_json(core::Json::parse(problem.json_text));
    return;
  }
  print("{}: {}\n\n{}\n\n", problem.name, core::clean_line(problem.title), problem.description);
  print("in   {}\nout  {}\n", describe(problem.inputs), describe(problem.outputs));
  for (const benchsuite::Tensor& output : problem.outputs) {
    const std::string words = prompting::comparison_words(output.comparison);
    if (!words.empty()) print("     {}: {}\n", output.name, words);
  }
  for (const benchsuite::NamedScalar& scalar : problem.scalars) {
    print("     {}: {} = {}\n", scalar.name, core::name_of(core::dtype_of(scalar.value)), core::text_of(scalar.value));
  }
  print("\n");
  print("sums are kept in {} or better; TF32 is {}allowed\n", core::name_of(problem.contract.accumulate),
        problem.contract.tf32 ? "" : "not ");
  print("flops {}; bytes read {}, written {}\n\n", problem.cost.flops.text(), problem.cost.bytes_read.text(),
        problem.cost.bytes_written.text());
  Table table({{"WORKLOAD"}, {"ROLE"}, {"SHAPE"}, {"DEVICES"}, {"WEIGHT", Table::Align::right}});
  for (const auto& workload : problem.workloads) {
    const bool timed = workload.role == benchsuite::Role::bench;
    table.add_row({workload.name, std::string(benchsuite::name_of(workload.role)), describe_axes(workload.axes),
                   workload.devices.empty() ? "all" : core::join(workload.devices, ", "),
                   timed ? fmt::format("{}", workload.weight) : ""});
  }
  print("{}", table.text());
}
}  // namespace

void add_problems_command(CLI::App& app, Invocation& invocation) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("problems", "List the problems that can be optimised, or show one");
  command->add_option("NAME", *name, "The problem to show, by name or folder");
  command->footer(
      "Problems come from the folders of --problems, from those in the environment variable KERNELWRIGHT_PROBLEMS\n"
      "(separated by colons), from kernelwright/problems in $XDG_DATA_HOME or ~/.local/share, and from the\n"
      "installation. If two places hold the same name, rename one or leave it out. Every command also takes a\n"
      "problem's folder.\n\n"
      "    kernelwright problems my_problem/\n"
      "    kernelwright --problems my_problems problems");
  command->callback([name, &invocation] {
    campaign::LoadedData data = load_data(invocation);
    if (name->empty()) {
      list(data.catalogue.problems, invocation.json);
    } else {
      show(data.catalogue.find_or_load(*name, "problems"), invocation.json);
    }
  });
}

}  // namespace agent::cli::commands
