// The score of a suite on a device: how many problems are solved, and how much faster than the libraries people use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/archive/recorder.h"

namespace results::view {

// fast_p of KernelBench (Ouyang et al. 2025, arXiv:2502.10517): the share of problems whose solution is correct and
// more than p times as fast as the baseline, sum over i of [correct_i and speedup_i > p], divided by their number. Here
// a problem's solution is its best one that was judged right; what has not won a confirmation over naive counts as no
// faster than naive, and not as wrong.
struct FastP {
  std::string baseline;  // "naive", "cuBLAS", "PyTorch eager", "PyTorch compile"
  double p = 1;
  size_t fast = 0;      // problems
  size_t problems = 0;  // of the suite that this baseline was timed at, solved or not; of naive, all of them

  double share() const { return problems == 0 ? 0 : static_cast<double>(fast) / static_cast<double>(problems); }
};

struct SuiteScores {
  std::string device;
  size_t problems = 0;  // of the suite
  size_t solved = 0;    // with a confirmed win over naive
  // Over the best confirmed speed-ups over naive; a problem without one counts as 1, since naive always works.
  double geometric_mean = 1;
  std::optional<double> geometric_mean_of_solved;  // none is solved: absent
  std::vector<FastP> fast_p;                       // in order of baseline, naive first, and p

  double share_solved() const {
    return problems == 0 ? 0 : static_cast<double>(solved) / static_cast<double>(problems);
  }
};

// The scores of every device that has judged one of these problems and fits (as LeaderboardFilter::device; empty: all),
// in order of its name.
std::vector<SuiteScores> suite_scores(const archive::Reader& archive, const std::vector<std::string>& problems,
                                      const std::string& device = "");

}  // namespace results::view
