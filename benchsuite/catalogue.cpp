#include "benchsuite/catalogue.h"

#include <algorithm>
#include <set>

#include "core/strict_json.h"
#include "core/suggest.h"
#include "core/text.h"

namespace benchsuite {
namespace {
namespace fs = std::filesystem;

constexpr size_t kMaxSuiteBytes = size_t{1} << 20;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) entries.push_back(entry.path());
  if (error) throw core::InputError(folder.string(), "cannot be listed: " + error.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<std::string> names_of(const std::map<std::string, Problem>& problems) {
  std::vector<std::string> names;
  for (const auto& [name, problem] : problems) names.push_back(name);
  return names;
}

// Without a slash at the end, so that the last part is the problem's name.
fs::path folder_of(const std::string& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

// The folders of each problem name. A folder that is reached twice, also through a link, counts once.
std::map<std::string, std::vector<fs::path>> places_by_name(const std::vector<fs::path>& folders) {
  std::map<std::string, std::vector<fs::path>> places;
  std::set<fs::path> known;
  const auto add = [&](const fs::path& folder) {
    if (fs::is_directory(folder) && looks_like_problem(folder) && known.insert(fs::canonical(folder)).second) {
      places[folder.filename().string()].push_back(folder);
    }
  };
  for (const fs::path& given : folders) {
    const fs::path folder = folder_of(given.string());
    if (looks_like_problem(folder)) {
      add(folder);
    } else {
      for (const fs::path& entry : sorted_entries(folder)) add(entry);
    }
  }
  return places;
}

core::InputError in_several_places(const std::string& name, const std::vector<fs::path>& folders) {
  std::vector<std::string> texts;
  for (const fs::path& folder : folders) texts.push_back(folder.string());
  return {"", "the problem \"" + name + "\" is in several places: " + core::join(texts, ", "),
          "rename one, leave out its folder, or give the path of the one you mean"};
}

std::vector<std::string> suite_names(const fs::path& suites_folder) {
  std::vector<std::string> names;
  for (const fs::path& entry : sorted_entries(suites_folder)) {
    if (entry.extension() == ".json") names.push_back(entry.stem().string());
  }
  return names;
}
}  // namespace

bool names_a_folder(const std::string& word) {
  return word.find('/') != std::string::npos || word == "." || (!word.empty() && looks_like_problem(word));
}

const Problem& Catalogue::find(const std::string& name, const std::string& where) const {
  if (const auto found = problems.find(name); found != problems.end()) return found->second;
  if (const auto found = unusable.find(name); found != unusable.end()) throw core::InputError(found->second);
  throw core::InputError(where, "there is no problem \"" + name + "\"",
                         core::did_you_mean(name, names_of(problems), "problems") +
                             "\nor name the folder that holds it: --problems FOLDER");
}

const Problem& Catalogue::find_or_load(const std::string& name_or_folder, const std::string& where) {
  if (!names_a_folder(name_or_folder)) return find(name_or_folder, where);
  Problem problem = load_problem(folder_of(name_or_folder));
  const std::string name = problem.name;
  unusable.erase(name);
  return problems.insert_or_assign(name, std::move(problem)).first->second;
}

Catalogue load_catalogue(const std::vector<fs::path>& folders) {
  Catalogue catalogue;
  for (const auto& [name, places] : places_by_name(folders)) {
    if (places.size() > 1) {
      catalogue.unusable.emplace(name, in_several_places(name, places));
      continue;
    }
    try {
      catalogue.problems.emplace(name, load_problem(places.front()));
    } catch (const core::InputError& error) {
      catalogue.unusable.emplace(name, error);
    }
  }
  return catalogue;
}

std::map<std::string, Problem> load_problems(const fs::path& folder) {
  Catalogue catalogue = load_catalogue({folder});
  if (!catalogue.unusable.empty()) throw core::InputError(catalogue.unusable.begin()->second);
  return std::move(catalogue.problems);
}

Suite load_suite(const fs::path& suites_folder, const std::string& name, const Catalogue& catalogue) {
  const std::vector<std::string> known = suite_names(suites_folder);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw core::InputError("", "there is no suite \"" + name + "\"", core::did_you_mean(name, known, "suites"));
  }
  const fs::path file = suites_folder / (name + ".json");
  const core::Json json = core::parse_json(core::read_file(file, kMaxSuiteBytes), file.string());
  const core::JsonView view(json, file.string());
  view.expect_object({"name", "description", "problems"}, {"unclean"});
  Suite suite{view.at("name").string(), view.at("description").string()};
  if (suite.name != name)
    view.at("name").fail("is \"" + suite.name + "\" in " + name + ".json", "give it the name of its file");
  for (const core::JsonView& item : view.at("problems").items()) {
    if (catalogue.unusable.count(item.string()) > 0) catalogue.find(item.string(), "");  // throws its reason
    const std::string problem = item.one_of(names_of(catalogue.problems), "problems");
    if (std::count(suite.problems.begin(), suite.problems.end(), problem) != 0) {
      item.fail("\"" + problem + "\" occurs twice", "keep one of them");
    }
    suite.problems.push_back(problem);
  }
  if (suite.problems.empty()) view.at("problems").fail("is empty", "name at least one problem");
  if (!view.has("unclean")) return suite;
  for (const auto& [problem, flaw] : view.at("unclean").members()) {
    if (std::count(suite.problems.begin(), suite.problems.end(), problem) == 0) {
      flaw.fail("\"" + problem + "\" is no problem of the suite", core::did_you_mean(problem, suite.problems));
    }
    if (flaw.string().empty()) flaw.fail("is empty", "say which flaw the problem has");
    suite.unclean[problem] = flaw.string();
  }
  return suite;
}

std::vector<Suite> usable_suites(const fs::path& suites_folder, const Catalogue& catalogue) {
  std::vector<Suite> suites;
  for (const std::string& name : suite_names(suites_folder)) {
    try {
      suites.push_back(load_suite(suites_folder, name, catalogue));
    } catch (const core::InputError&) {  // a problem of it is broken or missing; load_suite says so to who names it
    }
  }
  return suites;
}

}  // namespace benchsuite
