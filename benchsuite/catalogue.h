// Problems by name, from several folders, and suites of them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/error.h"

namespace benchsuite {

// The problems that can be named. A broken folder, or a name that stands for several folders, keeps only its own name
// from being used.
struct Catalogue {
  std::map<std::string, Problem> problems;
  std::map<std::string, core::InputError> unusable;  // by name

  // Throws core::InputError: what is wrong with that problem, or at `where`, with the nearest name.
  const Problem& find(const std::string& name, const std::string& where) const;
  // The same for the name of a problem or the path of its folder. A folder named here takes its name from every other
  // problem.
  const Problem& find_or_load(const std::string& name_or_folder, const std::string& where);
};

// Does the word stand for a folder? It holds a slash, or a folder of that name here holds a problem's files.
bool names_a_folder(const std::string& word);

// Every problem directly below one of the folders; a folder that is a problem itself counts as that problem. Ignores
// folders without a problem's files. Throws core::InputError if a folder cannot be listed.
Catalogue load_catalogue(const std::vector<std::filesystem::path>& folders);
// The problems below one folder. Throws core::InputError if any is broken.
std::map<std::string, Problem> load_problems(const std::filesystem::path& folder);

struct Suite {
  std::string name = {}, description = {};
  std::vector<std::string> problems = {};
  // Problems whose speed-ups say little, by name, with their flaw (such as an output that does not depend on an
  // input). The clean subset leaves them out.
  std::map<std::string, std::string> unclean = {};
};
// Reads <suites_folder>/<name>.json; the catalogue must have every problem named. Throws core::InputError with the
// known suites.
Suite load_suite(const std::filesystem::path& suites_folder, const std::string& name, const Catalogue& catalogue);
// Every suite of the folder, in order of name, except those that load_suite refuses.
std::vector<Suite> usable_suites(const std::filesystem::path& suites_folder, const Catalogue& catalogue);

}  // namespace benchsuite
