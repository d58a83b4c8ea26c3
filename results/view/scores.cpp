#include "results/view/scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "results/archive/leaderboard.h"

namespace results::view {
namespace {
constexpr std::array kThresholds{0.5, 0.8, 1.0, 1.5, 2.0};  // as in KernelBench's figures

// Library names without versions, which differ between problems and dates.
const std::vector<std::string>& kinds_of_library() {
  static const std::vector<std::string> kinds{"cuBLAS", "PyTorch eager", "PyTorch compile"};
  return kinds;
}

// "PyTorch 2.11 compile" belongs to "PyTorch compile", "cuBLASLt 13.0" to "cuBLAS".
bool is_of_kind(const std::string& library, const std::string& kind) {
  const std::string name = kind.substr(0, kind.find(' '));
  const std::string mode = kind.size() > name.size() ? kind.substr(name.size()) : "";
  return library.rfind(name, 0) == 0 && library.size() >= mode.size() &&
         library.compare(library.size() - mode.size(), mode.size(), mode) == 0;
}

// Results for one problem on one device.
struct Known {
  bool correct = false, confirmed = false;
  double over_naive = 1;
  std::map<std::string, std::optional<double>>
      over;  // speed-up over each timed kind of library; nullopt without a solution
};

// `board`: rows of one problem and device, confirmed ones first, by speed-up.
Known known_of(const std::vector<archive::LeaderboardRow>& board) {
  Known known;
  const auto best = std::find_if(board.begin(), board.end(), [](const auto& row) { return !row.library; });
  // The row's own figure, or its value at naive's speed.
  double scale = 1;
  if (best != board.end()) {
    known.correct = true;
    known.confirmed = best->confirmed;
    known.over_naive = best->confirmed ? best->speed_up.value : std::min(1.0, best->speed_up.value);
    scale = known.over_naive / best->speed_up.value;
  }
  for (const archive::LeaderboardRow& library : board) {
    if (!library.library || !library.timed()) continue;
    for (const std::string& kind : kinds_of_library()) {
      if (!is_of_kind(library.solution, kind)) continue;
      std::optional<double>& least = known.over[kind];  // of several of a kind, people would use the fastest
      if (!known.correct) continue;
      for (const archive::OverLibrary& over : best->over_libraries) {
        if (over.library != library.solution) continue;
        const double ratio = over.ratio.value * scale;
        least = least ? std::min(*least, ratio) : ratio;
      }
    }
  }
  return known;
}

SuiteScores score(const std::string& device, size_t problems, const std::vector<Known>& all) {
  SuiteScores scores;
  scores.device = device;
  scores.problems = problems;
  double logs = 0;
  for (const Known& known : all) {
    if (!known.confirmed) continue;
    ++scores.solved;
    logs += std::log(known.over_naive);
  }
  if (problems > 0) scores.geometric_mean = std::exp(logs / static_cast<double>(problems));
  if (scores.solved > 0) scores.geometric_mean_of_solved = std::exp(logs / static_cast<double>(scores.solved));
  for (const double p : kThresholds) {
    const auto fast =
        std::count_if(all.begin(), all.end(), [&](const Known& k) { return k.correct && k.over_naive > p; });
    scores.fast_p.push_back({"naive", p, static_cast<size_t>(fast), problems});
  }
  for (const std::string& kind : kinds_of_library()) {
    for (const double p : kThresholds) {
      FastP of{kind, p, 0, 0};
      for (const Known& known : all) {
        const auto at = known.over.find(kind);
        if (at == known.over.end()) continue;
        ++of.problems;
        if (at->second && *at->second > p) ++of.fast;
      }
      if (of.problems > 0) scores.fast_p.push_back(of);
    }
  }
  return scores;
}
}  // namespace

std::vector<SuiteScores> suite_scores(const archive::Reader& archive, const std::vector<std::string>& problems,
                                      const std::string& device, const std::map<std::string, std::string>& here) {
  std::map<std::string, std::vector<Known>> devices;
  std::map<std::string, std::vector<std::string>> older_files;
  for (const std::string& problem : problems) {
    archive::LeaderboardFilter filter{problem, device};
    filter.limit = 1;
    filter.unconfirmed = true;
    filter.here = here;
    std::map<std::string, std::vector<archive::LeaderboardRow>> boards;
    for (archive::LeaderboardRow& row : archive::leaderboard(archive, filter))
      boards[row.device].push_back(std::move(row));
    for (const auto& [of_device, board] : boards) {
      devices[of_device].push_back(known_of(board));
      if (board.front().older_files) older_files[of_device].push_back(problem);
    }
  }
  std::vector<SuiteScores> all;
  for (const auto& [of_device, known] : devices) {
    all.push_back(score(of_device, problems.size(), known));
    all.back().older_files = older_files[of_device];
  }
  return all;
}

}  // namespace results::view
