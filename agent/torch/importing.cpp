#include "agent/torch/importing.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "agent/torch/definition_problem.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/new_folder.h"
#include "core/text.h"
#include "sandbox/process/worker.h"

namespace agent::torch {
namespace {
namespace fs = std::filesystem;
using core::Json;
using core::JsonView;
using sandbox::process::Worker;
using sandbox::process::WorkerLost;
constexpr size_t kMostSource = size_t{1} << 20, kMostLicence = size_t{1} << 20, kMostRemarks = 64;
constexpr size_t kMostBeside = size_t{16} << 20;
const fs::path kOriginal = "original";
constexpr size_t kMemoryMib = 8 << 10;

// The worker's answer for a file. Its words are the file's, which nobody trusts: lines are cleaned where they leave.
struct Made {
  std::string name, problem_json, reference;
  benchsuite::Problem problem;
  std::vector<std::string> remarks;
  Json facts;
  benchsuite::SourceFiles data;  // bytes by file name
};

std::variant<Made, ImportRefused> made_from(const Json& answer, const ImportOrder& order) {
  const JsonView view(answer, "import worker's answer");
  if (view.has("refused")) return ImportRefused{core::clean_line(view.at("refused").string())};
  Made made;
  made.problem_json = view.at("problem").json().dump(2) + "\n";
  made.reference = view.at("reference").string();
  for (const JsonView& remark : view.at("remarks").items()) {
    if (made.remarks.size() < kMostRemarks) made.remarks.push_back(core::clean_line(remark.string()));
  }
  made.facts = view.at("facts").json();
  made.problem = benchsuite::parse_problem(made.problem_json, order.file.string());
  made.name = made.problem.name;
  const bool right = order.add_dtype ? made.name.rfind(order.name, 0) == 0 : made.name == order.name;
  if (!right) return ImportRefused{"answers with a problem of another name"};
  return made;
}

std::variant<Made, ImportRefused> ask_worker(Worker& worker, const ImportOrder& order, const std::string& source) {
  try {
    const Json answer = worker
                            .request({{"source", source},
                                      {"file", order.file.filename().string()},
                                      {"name", order.name},
                                      {"add_dtype", order.add_dtype},
                                      {"fit_bytes", order.fit_bytes}},
                                     {}, std::chrono::seconds(order.seconds))
                            .json;
    return made_from(answer, order);
  } catch (const WorkerLost& lost) {
    if (lost.cause() == WorkerLost::Cause::deadline) {
      return ImportRefused{"takes more than " + std::to_string(order.seconds) + " s"};
    }
    return ImportRefused{"ended its process: " + std::string(lost.what())};
  } catch (const core::InputError& error) {
    return ImportRefused{"gives a problem that cannot be used: " + core::clean_line(error.what())};
  } catch (const core::SystemError& error) {
    return ImportRefused{core::clean_line(error.what())};
  }
}

Made made_of_definition(const ImportOrder& order) {
  DefinitionProblem definition =
      problem_of_definition({order.file, order.beside, order.data_root}, order.name, order.add_dtype, order.fit_bytes);
  Made made{"", std::move(definition.json), std::move(definition.reference), {}, std::move(definition.remarks),
            {}, std::move(definition.data)};
  made.problem = benchsuite::parse_problem(made.problem_json, order.file.string());
  made.name = made.problem.name;
  return made;
}

// That of the file's folder or one of the two above it.
std::optional<fs::path> licence_of(const fs::path& file) {
  fs::path folder = fs::absolute(file).parent_path();
  for (int up = 0; up < 3; ++up, folder = folder.parent_path()) {
    for (const char* name : {"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING"}) {
      std::error_code none;
      const fs::path found = folder / name;
      if (fs::is_regular_file(found, none) && fs::file_size(found, none) <= kMostLicence) return found;
    }
  }
  return std::nullopt;
}

Imported write_problem(const Made& made, const ImportOrder& order, const std::string& source,
                       const std::string& sandbox) {
  const fs::path place = order.into / made.name;
  core::NewFolder folder(place, "remove it, or give another name with --name");
  folder.write("problem.json", made.problem_json);
  folder.write("reference.py", made.reference);
  folder.write(kOriginal / order.file.filename(), source);
  if (!order.beside.empty()) {
    folder.write(kOriginal / order.beside.filename(), core::read_file(order.beside, kMostBeside));
  }
  const Json report{{"file", order.file.filename().string()},
                    {"sha256", core::file_sha256_hex(source)},
                    {"remarks", made.remarks},
                    {"sandbox", sandbox},
                    {"facts", made.facts}};
  folder.write("import.json", report.dump(2, ' ', true, Json::error_handler_t::replace) + "\n");
  if (const auto licence = licence_of(order.file)) {
    folder.write(kOriginal / licence->filename(), core::read_file(*licence, kMostLicence));
  }
  for (const auto& [file, bytes] : made.data) folder.write(file, bytes);
  if (order.more_files) {
    for (const auto& [file, text] : order.more_files(made.problem)) folder.write(file, text);
  }
  folder.move_to_place();
  return {made.name, place, made.remarks};
}
}  // namespace

std::string problem_name(const std::string& stem) {
  std::string name;
  for (const unsigned char c : stem) {
    const char kept = std::isalnum(c) != 0 && c < 128 ? static_cast<char>(std::tolower(c)) : '_';
    if (kept != '_' || (!name.empty() && name.back() != '_')) name += kept;
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "p" + name;
  return name.substr(0, 48);
}

std::variant<Imported, ImportRefused> import_file(const core::Paths& paths, const TorchPython& python,
                                                  const ImportOrder& order) {
  const std::string text = core::read_file(order.file, kMostSource);
  std::string source = text, sandbox;
  std::variant<Made, ImportRefused> made;
  if (order.make_source) {
    try {
      const std::string beside = order.beside.empty() ? "" : core::read_file(order.beside, kMostBeside);
      if (!order.data_root.empty() && gives_data(text, beside, order.file.filename().string())) {
        return write_problem(made_of_definition(order), order, text, "");
      }
      source = order.make_source(text, beside, order.file.filename().string());
    } catch (const core::InputError& error) {
      return ImportRefused{core::clean_line(error.what())};
    }
  }
  try {
    const auto seconds = static_cast<unsigned>(order.seconds) + 10;  // of the processor: the deadline comes first
    Worker worker = Worker::start(
        python_worker(paths, python, paths.importing() / "import_model.py", {}, {kMemoryMib, seconds, false}));
    sandbox = worker.greeting().value("sandbox", "");
    made = ask_worker(worker, order, source);
  } catch (const sandbox::process::LevelNotReached&) {
    throw;
  } catch (const core::SystemError& error) {  // it did not start
    return ImportRefused{core::clean_line(error.what())};
  }
  if (auto* refused = std::get_if<ImportRefused>(&made)) return std::move(*refused);
  return write_problem(std::get<Made>(made), order, text, sandbox);
}

}  // namespace agent::torch
