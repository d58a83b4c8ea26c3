#include "core/suggest.h"

#include <algorithm>
#include <cctype>

namespace core {
namespace {
constexpr size_t kLeastBeginning = 3, kMostBeginnings = 5;

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

// The candidates that begin with `name`, whatever the case; only the one that is equal to it, if there is one.
std::vector<std::string> beginning_with(std::string_view name, const std::vector<std::string>& candidates) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  std::vector<std::string> found;
  for (const std::string& candidate : candidates) {
    if (candidate.size() < name.size() || !std::equal(name.begin(), name.end(), candidate.begin(), same)) continue;
    if (candidate.size() == name.size()) return {candidate};
    if (name.size() >= kLeastBeginning) found.push_back(candidate);
  }
  return found;
}
}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  if (const auto found = beginning_with(name, candidates); found.size() == 1) return found.front();
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
  const std::vector<std::string> beginnings = beginning_with(name, candidates);
  if (!beginnings.empty() && beginnings.size() <= kMostBeginnings) {
    std::string text = "did you mean ";
    for (size_t i = 0; i < beginnings.size(); ++i) {
      text += (i == 0 ? "\"" : i + 1 < beginnings.size() ? ", \"" : " or \"") + beginnings[i] + "\"";
    }
    return text + "?";
  }
  std::string text = "known " + std::string(kind) + ": ";
  for (size_t i = 0; i < candidates.size(); ++i) text += (i ? ", " : "") + candidates[i];
  return candidates.empty() ? "there are no known " + std::string(kind) : text;
}

}  // namespace core
