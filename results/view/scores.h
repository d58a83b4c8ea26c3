// The score of a suite on a device: how many problems are solved, and how much faster than the libraries people use.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/archive/recorder.h"

namespace results::view {

// fast_p of KernelBench (Ouyang et al. 2025, arXiv:2502.10517): the share of problems whose solution is correct and
// more than p times as fast as the baseline, sum over i of [correct_i and speedup_i > p], divided by their number. Here
// a problem's solution is its best correct one; without a confirmed win it counts as correct and as fast as naive.
struct FastP {
  std::string baseline;  // "naive", "cuBLAS", "PyTorch eager", "PyTorch compile"
  double p = 1;
  size_t fast = 0;      // problems
  size_t problems = 0;  // of the suite, timed with this baseline (naive: all), solved or not

  double share() const { return problems == 0 ? 0 : static_cast<double>(fast) / static_cast<double>(problems); }
};

struct SuiteScores {
  std::string device;
  size_t problems = 0;  // of the suite
  size_t solved = 0;    // with a confirmed win over naive
  // Mean of the best confirmed speed-ups over naive; a problem without one counts as 1, since naive is always
  // available.
  double geometric_mean = 1;
  std::optional<double> geometric_mean_of_solved;  // absent if none is solved
  std::vector<FastP> fast_p;                       // in order of baseline, naive first, and p
  std::vector<std::string> older_files;            // judged problems whose files have changed since

  double share_solved() const {
    return problems == 0 ? 0 : static_cast<double>(solved) / static_cast<double>(problems);
  }
};

// The scores of every device that has judged one of these problems and matches `device` (as LeaderboardFilter::device;
// empty: all), in order of name. `here`: as LeaderboardFilter::here.
std::vector<SuiteScores> suite_scores(const archive::Reader& archive, const std::vector<std::string>& problems,
                                      const std::string& device = "",
                                      const std::map<std::string, std::string>& here = {});

}  // namespace results::view
