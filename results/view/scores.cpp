#include "results/view/scores.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/archive/leaderboard.h"
#include "results/archive/problems.h"

namespace results::view {
namespace {
constexpr const char* kNaive = "naive";
constexpr const char* kEager = "PyTorch eager";
constexpr const char* kCompile = "PyTorch compile";
constexpr const char *kCublas = "cuBLAS", *kRocblas = "rocBLAS";

// Library names without versions and modes, which differ between problems and dates: "PyTorch 2.11 compile" belongs to
// "PyTorch compile", "cuBLASLt 13.0" to "cuBLAS". Empty for other libraries.
std::string baseline_of(const std::string& library) {
  const std::vector<std::string> words = core::split(library, ' ');
  for (const char* vendor : {kCublas, kRocblas}) {
    if (words[0].rfind(vendor, 0) == 0) return vendor;
  }
  if (words[0] != "PyTorch" || words.size() < 3) return "";
  return words[2] == "eager" ? kEager : words[2] == "compile" ? kCompile : "";
}

// Results for one problem on one device.
struct Known {
  bool correct = false, confirmed = false;
  double over_naive = 1;
  // Speed-up over each timed baseline but naive; nullopt without a solution.
  std::map<std::string, std::optional<double>> over = {};
};

// `board`: rows of one problem and device, confirmed ones first, by speed-up. `naive_is_eager`: the problem's naive
// solution is its reference.py in eager PyTorch.
Known known_of(const std::vector<archive::LeaderboardRow>& board, bool naive_is_eager) {
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
  if (naive_is_eager) known.over[kEager] = known.correct ? std::optional(known.over_naive) : std::nullopt;
  for (const archive::LeaderboardRow& library : board) {
    const std::string baseline = library.library && library.timed() ? baseline_of(library.solution) : "";
    if (baseline.empty()) continue;
    std::optional<double>& least = known.over[baseline];  // of several, people would use the fastest
    if (!known.correct) continue;
    for (const archive::OverLibrary& over : best->over_libraries) {
      if (over.library != library.solution) continue;
      const double ratio = over.ratio.value * scale;
      least = least ? std::min(*least, ratio) : ratio;
    }
  }
  return known;
}

void count(OverBaseline& of, double speed_up, double& logs) {
  ++of.compared;
  logs += std::log(speed_up);
  for (size_t i = 0; i < kThresholds.size(); ++i) of.fast[i] += speed_up > kThresholds[i] ? 1 : 0;
}

OverBaseline over_baseline(const std::string& baseline, size_t problems, const std::map<std::string, Known>& all) {
  OverBaseline of{baseline, baseline == kNaive ? problems : 0, 0, {}};
  double logs = 0;
  for (const auto& [problem, known] : all) {
    if (baseline == kNaive) {
      if (known.correct) count(of, known.over_naive, logs);
    } else if (const auto found = known.over.find(baseline); found != known.over.end()) {
      ++of.problems;
      if (found->second) count(of, *found->second, logs);
    }
  }
  if (of.compared > 0) of.geometric_mean = std::exp(logs / static_cast<double>(of.compared));
  return of;
}

// `problems`: also those that were never judged.
Scores score(size_t problems, const std::map<std::string, Known>& all) {
  Scores scores;
  scores.problems = problems;
  double logs = 0;
  for (const auto& [problem, known] : all) {
    scores.verified += known.correct ? 1 : 0;
    if (!known.confirmed) continue;
    ++scores.solved;
    logs += std::log(known.over_naive);
  }
  if (problems > 0) scores.geometric_mean = std::exp(logs / static_cast<double>(problems));
  if (scores.solved > 0) scores.geometric_mean_of_solved = std::exp(logs / static_cast<double>(scores.solved));
  for (const char* const baseline : {kNaive, kEager, kCompile, kCublas}) {
    OverBaseline of = over_baseline(baseline, problems, all);
    if (of.problems > 0 || of.baseline != kCublas) scores.over.push_back(std::move(of));
  }
  return scores;
}

bool naive_is_eager(const archive::Reader& archive, const std::string& problem) {
  const auto version = archive::last_judged_problem(archive, problem);
  return version && version->files.find(benchsuite::kPytorchFile) != version->files.end();
}
}  // namespace

std::vector<SuiteScores> suite_scores(const archive::Reader& archive, const benchsuite::Suite& suite,
                                      const std::string& device, const std::map<std::string, std::string>& here) {
  std::map<std::string, std::map<std::string, Known>> devices;
  std::map<std::string, std::vector<std::string>> older_files;
  for (const std::string& problem : suite.problems) {
    archive::LeaderboardFilter filter{problem, device};
    filter.limit = 1;
    filter.unconfirmed = true;
    filter.here = here;
    std::map<std::string, std::vector<archive::LeaderboardRow>> boards;
    for (archive::LeaderboardRow& row : archive::leaderboard(archive, filter))
      boards[row.device].push_back(std::move(row));
    const bool eager = !boards.empty() && naive_is_eager(archive, problem);
    for (const auto& [of_device, board] : boards) {
      devices[of_device].emplace(problem, known_of(board, eager));
      if (board.front().older_files) older_files[of_device].push_back(problem);
    }
  }
  std::vector<SuiteScores> all;
  for (auto& [of_device, known] : devices) {
    all.push_back(
        {suite.name, of_device, score(suite.problems.size(), known), {}, suite.unclean, older_files[of_device]});
    if (suite.unclean.empty()) continue;
    std::erase_if(known, [&](const auto& of) { return suite.unclean.count(of.first) > 0; });
    all.back().clean = score(suite.problems.size() - suite.unclean.size(), known);
  }
  return all;
}

const std::vector<std::string>& score_definitions() {
  static const std::vector<std::string> sentences{
      "fast_p: the share of all problems whose best verified kernel is more than p times as fast as the baseline.",
      "This is fast_p of KernelBench (Ouyang et al. 2025, arXiv:2502.10517).",
      "A problem without a verified kernel, or without the baseline, counts as not fast.",
      "A verified kernel without a confirmed win over naive counts as no faster than naive.",
      "Geometric mean: of the speed-ups at the problems that have a verified kernel and the baseline; of how many.",
      "naive: the problem's own plainest kernel. In a problem whose reference is in PyTorch, naive is PyTorch eager.",
      "PyTorch compile: the fastest correct mode of torch.compile that was timed.",
      "Clean subset: the suite's problems without those that its file marks as unclean."};
  return sentences;
}

}  // namespace results::view
