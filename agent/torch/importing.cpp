#include "agent/torch/importing.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <optional>
#include <utility>

#include "benchsuite/problem.h"
#include "core/error.h"
#include "core/hash.h"
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
constexpr size_t kMemoryMib = 8 << 10;

// The worker's answer for a file. Its words are the file's, which nobody trusts: lines are cleaned where they leave.
struct Made {
  std::string name, problem_json, reference;
  std::vector<std::string> remarks;
  Json facts;
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
  const benchsuite::Problem problem = benchsuite::parse_problem(made.problem_json, order.file.string());
  const bool right = order.add_dtype ? problem.name.rfind(order.name, 0) == 0 : problem.name == order.name;
  if (!right) return ImportRefused{"answers with a problem of another name"};
  made.name = problem.name;
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

void write(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  if (!(out << text << std::flush)) throw core::InputError(file.string(), "cannot be written");
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

// A folder that removes itself unless it is moved to its place.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& place)
      : place_(place),
        now_(place.parent_path() / ("." + place.filename().string() + "." + std::to_string(::getpid()))) {
    std::error_code error;
    fs::create_directories(now_ / "original", error);
    if (error) throw core::InputError(now_.string(), "cannot be made: " + error.message());
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!now_.empty()) fs::remove_all(now_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const fs::path& path() const { return now_; }
  void move_to_place() {
    std::error_code error;
    fs::rename(now_, place_, error);
    if (error) throw core::InputError(place_.string(), "cannot be made: " + error.message());
    now_.clear();
  }

 private:
  fs::path place_, now_;
};

Imported write_problem(const Made& made, const ImportOrder& order, const std::string& source,
                       const std::string& sandbox) {
  const fs::path place = order.into / made.name;
  if (fs::exists(place)) {
    throw core::InputError(place.string(), "is there already", "remove it, or give another name with --name");
  }
  NewFolder folder(place);
  write(folder.path() / "problem.json", made.problem_json);
  write(folder.path() / "reference.py", made.reference);
  write(folder.path() / "original" / order.file.filename(), source);
  const Json report{{"file", order.file.filename().string()},
                    {"sha256", core::sha256_hex(source)},
                    {"remarks", made.remarks},
                    {"sandbox", sandbox},
                    {"facts", made.facts}};
  write(folder.path() / "import.json", report.dump(2, ' ', true, Json::error_handler_t::replace) + "\n");
  if (const auto licence = licence_of(order.file)) {
    write(folder.path() / "original" / licence->filename(), core::read_file(*licence, kMostLicence));
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
  const std::string source = core::read_file(order.file, kMostSource);
  std::string sandbox;
  std::variant<Made, ImportRefused> made;
  {
    const auto seconds = static_cast<unsigned>(order.seconds) + 10;  // of the processor: the deadline comes first
    Worker worker = Worker::start(
        python_worker(paths, python, paths.importing() / "import_model.py", {}, {kMemoryMib, seconds, false}));
    sandbox = worker.greeting().value("sandbox", "");
    made = ask_worker(worker, order, source);
  }
  if (auto* refused = std::get_if<ImportRefused>(&made)) return std::move(*refused);
  return write_problem(std::get<Made>(made), order, source, sandbox);
}

}  // namespace agent::torch
