#include "core/suggest.h"

#include <algorithm>
#include <cctype>

namespace core {
namespace {
// Optimal string alignment: insertions, deletions, substitutions and transpositions of neighbours count 1 each.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t substituted = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

// The candidate equal to `name` but for case, or the only one that begins with it.
std::string obvious(std::string_view name, const std::vector<std::string>& candidates) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  std::string beginning;
  int beginnings = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() < name.size() || !std::equal(name.begin(), name.end(), candidate.begin(), same)) continue;
    if (candidate.size() == name.size()) return candidate;
    beginning = candidate;
    ++beginnings;
  }
  return name.size() >= 3 && beginnings == 1 ? beginning : "";
}
}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  if (std::string found = obvious(name, candidates); !found.empty()) return found;
  const size_t limit = std::max<size_t>(1, name.size() / 3);
  std::string best;
  size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates, std::string_view kind) {
  if (const std::string near = nearest(name, candidates); !near.empty()) return "did you mean \"" + near + "\"?";
  std::string text = "known " + std::string(kind) + ": ";
  for (size_t i = 0; i < candidates.size(); ++i) text += (i ? ", " : "") + candidates[i];
  return candidates.empty() ? "there are no known " + std::string(kind) : text;
}

}  // namespace core
