#include "agent/actions/resolve.h"

#include <algorithm>
#include <cctype>

#include "benchsuite/backend.h"
#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"
#include "results/archive/leaderboard.h"
#include "results/archive/lineage.h"

namespace agent::actions {
namespace {
bool contains(const std::string& text, const std::string& part) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}
}  // namespace

std::string resolve_device(const results::archive::Reader& archive, const std::string& word) {
  const std::string before = word.substr(0, word.find(':'));
  if (word.empty() || core::enum_from_name<benchsuite::Backend>(before)) return before;
  std::vector<std::string> devices = results::archive::known_devices(archive), fitting;
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(fitting),
               [&](const std::string& device) { return contains(device, word); });
  if (std::find(devices.begin(), devices.end(), word) != devices.end()) return word;
  if (fitting.size() == 1) return fitting.front();
  if (fitting.size() > 1) {
    throw core::InputError("--device", "\"" + word + "\" matches several devices: " + core::join(fitting, ", "),
                           "give more of its name");
  }
  for (const std::string& kind : benchsuite::backend_names()) {
    if (std::find(devices.begin(), devices.end(), kind) == devices.end()) devices.push_back(kind);
  }
  throw core::InputError("--device", "the archive has no device \"" + core::clean_line(word) + "\"",
                         core::did_you_mean(word, devices, "devices"));
}

std::optional<int64_t> attempt_number(const std::string& word) {
  const bool digits = !word.empty() && word.size() < 12 &&
                      std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits ? std::optional(std::stoll(word)) : std::nullopt;
}

ResolvedSolution resolve_solution(const results::archive::Reader& archive, const std::string& word,
                                  const std::string& where) {
  if (const auto number = attempt_number(word))
    return {results::archive::solution_of_attempt(archive, *number), number};
  std::vector<results::archive::SolutionRecord> found = archive.find_solutions(word);
  if (found.empty()) {
    throw core::InputError(where, "there is no attempt or solution \"" + core::clean_line(word) + "\"",
                           "give the number of an attempt (kernelwright leaderboard shows them), a solution's name, or "
                           "six digits of its hash");
  }
  if (found.size() > 1) {
    std::vector<std::string> all;
    for (size_t i = 0; i < std::min<size_t>(found.size(), 6); ++i) {
      all.push_back(found[i].hash.substr(0, 12) + " (" + core::clean_line(found[i].problem) + ")");
    }
    throw core::InputError(where,
                           "\"" + core::clean_line(word) + "\" names " + std::to_string(found.size()) +
                               " solutions: " + core::join(all, ", ") + (found.size() > 6 ? ", ..." : ""),
                           "give the beginning of a hash, or NAME@PROBLEM");
  }
  const int64_t id = found.front().id;
  return {std::move(found.front()), results::archive::best_attempt(archive, id)};
}

}  // namespace agent::actions
