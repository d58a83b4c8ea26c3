#include "agent/cli/loading.h"

#include "agent/cli/output.h"
#include "core/text.h"

namespace agent::cli {

campaign::LoadedData load_data(const Invocation& invocation) {
  return campaign::load_data(invocation.sandbox_level, invocation.problem_folders,
                             [](const std::string& why) { print_error("kernelwright: " + why + "\n"); });
}

const benchsuite::Problem& problem_of(campaign::LoadedData& data, const sandbox::Solution& solution,
                                      const std::filesystem::path& file) {
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  const auto& known = data.catalogue;
  const bool unknown = known.problems.count(solution.problem) == 0 && known.unusable.count(solution.problem) == 0;
  const bool beside = unknown && folder.filename() == solution.problem && benchsuite::names_a_folder(folder.string()) &&
                      std::filesystem::exists(folder / "problem.json");
  if (beside) return data.catalogue.find_or_load(folder.string(), file.string());
  return data.catalogue.find(solution.problem, file.string() + "#/problem");
}

std::string command_again(const Invocation& invocation, const std::string& command, const std::string& arguments) {
  std::string text = "kernelwright ";
  for (const std::filesystem::path& folder : invocation.problem_folders) text += "--problems " + folder.string() + " ";
  return core::clean_line(text + command + " " + arguments);
}

}  // namespace agent::cli
