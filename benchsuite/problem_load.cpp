// Problems and suites on disk.
#include <algorithm>

#include "benchsuite/problem.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/strict_json.h"
#include "core/suggest.h"
#include "core/text.h"

namespace benchsuite {
namespace {
namespace fs = std::filesystem;

constexpr size_t kMaxJsonBytes = size_t{1} << 20;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) entries.push_back(entry.path());
  if (error) throw core::InputError(folder.string(), "cannot be listed: " + error.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}
}  // namespace

Problem load_problem(const fs::path& folder) {
  const fs::path file = folder / "problem.json";
  Problem problem = parse_problem(core::read_file(file, kMaxJsonBytes), file.string());
  problem.folder = folder;
  if (problem.name != folder.filename()) {
    throw core::InputError(file.string() + "#/name",
                           "is \"" + problem.name + "\" in a folder called \"" + folder.filename().string() + "\"",
                           "give both the same name");
  }
  for (const fs::path& needed : {problem.reference_file(), problem.naive_file()}) {
    if (!fs::is_regular_file(needed)) {
      throw core::InputError(needed.string(), "is missing",
                             "a problem needs problem.json, reference.cu and naive.cu; CONTRIBUTING.md describes each");
    }
  }
  return problem;
}

namespace {
// Removes the member `key` (a string without escapes) from the text of a JSON object, with the white space before it
// and the comma after it.
std::string without_member(const std::string& text, const std::string& key) {
  int depth = 0;
  size_t after = 0;  // the last comma or brace at the top level
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth == 1 && (c == '{' || c == ',')) after = i + 1;
    if (c != '"') continue;
    const size_t begin = i + 1;
    for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
    if (depth != 1 || text.substr(begin, i - begin) != key || text.find_first_not_of(" \t\r\n", after) != begin - 1) {
      continue;
    }
    const size_t value_end = text.find('"', text.find('"', i + 1) + 1) + 1;
    const size_t next = text.find_first_not_of(" \t\r\n", value_end);
    if (text[next] == ',') return text.substr(0, after) + text.substr(next + 1);
    return text.substr(0, after - (text[after - 1] == ',')) + text.substr(value_end);  // the last member
  }
  return text;
}
}  // namespace

std::string content_hash(const Problem& problem) {
  return core::Hasher()
      .field("problem", without_member(problem.json_text, "kind"))
      .field("reference", core::read_file(problem.reference_file()))
      .field("naive", core::read_file(problem.naive_file()))
      .hex();
}

std::map<std::string, Problem> load_problems(const fs::path& problems_folder) {
  std::map<std::string, Problem> problems;
  for (const fs::path& entry : sorted_entries(problems_folder)) {
    if (!fs::is_directory(entry)) continue;
    Problem problem = load_problem(entry);
    problems.emplace(problem.name, std::move(problem));
  }
  return problems;
}

Suite load_suite(const fs::path& suites_folder, const std::string& name,
                 const std::map<std::string, Problem>& problems) {
  std::vector<std::string> known;
  for (const fs::path& entry : sorted_entries(suites_folder)) {
    if (entry.extension() == ".json") known.push_back(entry.stem().string());
  }
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw core::InputError("", "there is no suite \"" + name + "\"", core::did_you_mean(name, known, "suites"));
  }
  const fs::path file = suites_folder / (name + ".json");
  const core::Json json = core::parse_json(core::read_file(file, kMaxJsonBytes), file.string());
  const core::JsonView view(json, file.string());
  view.expect_object({"name", "description", "problems"});
  Suite suite{view.at("name").string(), view.at("description").string(), {}};
  if (suite.name != name)
    view.at("name").fail("is \"" + suite.name + "\" in " + name + ".json", "give it the name of its file");
  std::vector<std::string> problem_names;
  for (const auto& [problem_name, problem] : problems) problem_names.push_back(problem_name);
  for (const core::JsonView& item : view.at("problems").items()) {
    const std::string problem = item.one_of(problem_names, "problems");
    if (std::count(suite.problems.begin(), suite.problems.end(), problem) != 0) {
      item.fail("\"" + problem + "\" occurs twice", "keep one of them");
    }
    suite.problems.push_back(problem);
  }
  if (suite.problems.empty()) view.at("problems").fail("is empty", "name at least one problem");
  return suite;
}

}  // namespace benchsuite
