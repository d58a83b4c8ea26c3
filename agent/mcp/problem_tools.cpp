#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>

#include "agent/actions/kernel_skeleton.h"
#include "agent/mcp/schema.h"
#include "agent/mcp/tools.h"
#include "agent/torch/importing.h"
#include "agent/torch/torch_python.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::mcp {
namespace {
namespace fs = std::filesystem;
using core::Json;
constexpr size_t kMostPytorchBytes = size_t{256} << 10;
constexpr std::chrono::milliseconds kLook{50};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

ToolResult problems(Workspace& workspace, const Json& arguments) {
  const std::string word = lower(arguments.value("search", ""));
  Json all = Json::array();
  for (const auto& [name, problem] : workspace.catalogue().problems) {
    if (lower(name + " " + problem.title + " " + problem.description).find(word) == std::string::npos) continue;
    all.push_back({{"name", name}, {"title", problem.title}, {"kind", name_of(problem.kind)}});
  }
  return {{{"problems", std::move(all)}}};
}

Json json_of_files(const benchsuite::Problem& problem) {
  Json files = Json::object();
  for (const auto& [file, text] : problem.files) {
    if (file != benchsuite::kDataFile) files[file] = text;
  }
  return files;
}

ToolResult problem(Workspace& workspace, const Json& arguments) {
  const benchsuite::Problem& found = workspace.problem(arguments.at("name").get<std::string>(), "name");
  return {{{"name", found.name},
           {"title", found.title},
           {"description", found.description},
           {"definition", core::parse_json(found.json_text, found.name)},
           {"files", json_of_files(found)},
           {"first_kernel", actions::kernel_skeleton(found)}}};
}

// A folder that goes away with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "kernelwright_import_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw core::SystemError("no temporary folder", errno);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Charges the session's budget with the seconds that it lives.
class Charge {
 public:
  explicit Charge(Workspace& workspace) : workspace_(workspace) {}
  ~Charge() { workspace_.charge_seconds(seconds()); }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  Workspace& workspace_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

torch::TorchPython python_with_torch() {
  const auto python = torch::find_torch_python();
  if (const auto* why = std::get_if<std::string>(&python)) {
    throw core::InputError("import_problem", "needs PyTorch: " + *why, torch::torch_remedy());
  }
  return std::get<torch::TorchPython>(python);
}

// Runs the file in its jail on another thread, so that the client is heard meanwhile. The import ends even if the call
// is cancelled.
torch::Imported import_file(Workspace& workspace, const torch::ImportOrder& order, Call& call) {
  workspace.require_budget();
  const torch::TorchPython python = python_with_torch();
  const Charge charge(workspace);
  auto outcome = std::async(std::launch::async, [&] { return torch::import_file(workspace.paths(), python, order); });
  while (outcome.wait_for(kLook) != std::future_status::ready) {
    call.progress(std::min(charge.seconds(), order.seconds - 1.0), order.seconds, "running the file in its jail");
    call.poll();
  }
  const auto made = outcome.get();
  if (const auto* refused = std::get_if<torch::ImportRefused>(&made)) throw core::InputError("source", refused->why);
  return std::get<torch::Imported>(made);
}

ToolResult import_problem(Workspace& workspace, const Json& arguments, Call& call) {
  const std::string name = torch::problem_name(arguments.at("name").get<std::string>());
  const TemporaryFolder folder;
  torch::ImportOrder order{folder.path() / (name + ".py"), name};
  std::ofstream(order.file, std::ios::binary) << arguments.at("source").get<std::string>();
  std::error_code error;
  fs::create_directories(workspace.settings().imports, error);
  if (error) throw core::SystemError(workspace.settings().imports.string() + " cannot be made: " + error.message());
  order.into = workspace.settings().imports;
  order.more_files = actions::with_first_kernel;
  order.seconds = static_cast<int>(arguments.value("seconds", 120));
  const torch::Imported imported = import_file(workspace, order, call);
  const benchsuite::Problem& added = workspace.add_problem(imported.folder);
  return {{{"name", added.name},
           {"remarks", imported.remarks},
           {"definition", core::parse_json(added.json_text, added.name)},
           {"first_kernel", actions::kernel_skeleton(added)}}};
}

Json definition_schema() { return {{"type", "object"}, {"description", "problem.json"}}; }
}  // namespace

std::vector<Tool> problem_tools(Workspace& workspace) {
  const Json listed =
      result_schema({{"name", text_schema("the argument of problem")}, {"title", text_schema("what it computes")}},
                    {"name", "title"});
  const Json first_kernel = text_schema("a solution to start from: its plan and signature stand, its body is to write");
  return {
      {"problems", "List problems", "Lists the problems that kernels can be written for.",
       object_schema({{"search", text_schema("Only those whose name or description holds this text", 200)}}, {}),
       result_schema({{"problems", list_schema("in order of name", listed)}}, {"problems"}), true,
       [&workspace](const Json& arguments, Call&) { return problems(workspace, arguments); }},
      {"problem", "Show a problem",
       "Shows one problem: axes, tensors, tolerances, shapes that are timed, the reference and the naive solution, and "
       "a first kernel to change.",
       object_schema({{"name", text_schema("Of the problem", 200)}}, {"name"}),
       result_schema({{"name", text_schema("of the problem")},
                      {"definition", definition_schema()},
                      {"files", {{"type", "object"}, {"description", "its source files by name"}}},
                      {"first_kernel", first_kernel}},
                     {"name", "definition", "files", "first_kernel"}),
       true, [&workspace](const Json& arguments, Call&) { return problem(workspace, arguments); }},
      {"import_problem", "Import PyTorch code",
       "Makes a problem of a file of PyTorch: class Model(nn.Module) or one function, and get_inputs(). The file runs "
       "in a jail without network. Eager PyTorch becomes the naive solution, which kernels are timed against.",
       object_schema({{"source", text_schema("The text of the Python file", kMostPytorchBytes)},
                      {"name", text_schema("A name for the problem; the dtype of its output is appended", 100)},
                      {"seconds", integer_schema("Longest time for it (default: 120)", 1, 600)}},
                     {"source", "name"}),
       result_schema({{"name", text_schema("of the problem; it says the solution's header")},
                      {"definition", definition_schema()},
                      {"first_kernel", first_kernel}},
                     {"name", "definition", "first_kernel"}),
       false, [&workspace](const Json& arguments, Call& call) { return import_problem(workspace, arguments, call); }},
  };
}

}  // namespace agent::mcp
