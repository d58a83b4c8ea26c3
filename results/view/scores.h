// The scores of a suite on a device: how many problems are solved, and how much faster than the baselines people use.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchsuite/catalogue.h"
#include "results/archive/recorder.h"

namespace results::view {

inline constexpr std::array kThresholds{0.0, 1.0, 1.5, 2.0};  // the p of fast_p

// Speed-ups over one baseline. fast_p is KernelBench's (Ouyang et al. 2025, arXiv:2502.10517): the share of problems
// whose solution is correct and more than p times as fast as the baseline, sum over i of [correct_i and speedup_i > p],
// divided by the number of all problems. Here a problem's solution is its best correct one; without a confirmed win it
// counts as correct and at most as fast as naive. A problem without the baseline has no speed-up and is not fast.
struct OverBaseline {
  std::string baseline;                           // "naive", "PyTorch eager", "PyTorch compile", "cuBLAS"
  size_t problems = 0;                            // that have this baseline, solved or not (naive: all)
  size_t compared = 0;                            // those of them with a correct solution
  std::optional<double> geometric_mean;           // of the speed-ups at those; absent if there are none
  std::array<size_t, kThresholds.size()> fast{};  // problems, by threshold
};

// The scores of some problems on a device.
struct Scores {
  size_t problems = 0;
  size_t verified = 0;  // with a correct solution
  size_t solved = 0;    // with a confirmed win over naive
  // Mean of the best confirmed speed-ups over naive; a problem without one counts as 1, since naive is always
  // available.
  double geometric_mean = 1;
  std::optional<double> geometric_mean_of_solved;  // absent if none is solved
  std::vector<OverBaseline> over;                  // naive and PyTorch always, cuBLAS where it was timed

  double share(size_t count) const {
    return problems == 0 ? 0 : static_cast<double>(count) / static_cast<double>(problems);
  }
};

struct SuiteScores {
  std::string suite, device;                   // suite: empty for problems that form none
  Scores all;                                  // of all problems of the suite
  std::optional<Scores> clean;                 // without `unclean`; absent if the suite marks no problem
  std::map<std::string, std::string> unclean;  // as benchsuite::Suite::unclean
  std::vector<std::string> older_files;        // judged problems whose files have changed since
};

// The scores of every device that has judged a problem of the suite and matches `device` (as LeaderboardFilter::device;
// empty: all), in order of name. `here`: as LeaderboardFilter::here.
std::vector<SuiteScores> suite_scores(const archive::Reader& archive, const benchsuite::Suite& suite,
                                      const std::string& device = "",
                                      const std::map<std::string, std::string>& here = {});

// Sentences that define the figures, for everyone who shows them.
const std::vector<std::string>& score_definitions();

}  // namespace results::view
