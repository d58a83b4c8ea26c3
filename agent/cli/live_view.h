// The live view of a campaign: the problems that are searched, each with its best so far and its history, the remaining
// budget, the last verdicts, the models' replies and cost. Pure: reports go in, lines come out.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "agent/search/progress.h"

namespace agent::cli {

// One character per value, one to eight eighths high between 1 (naive) and the largest. With more values than `width`,
// each character shows the last of several.
std::string sparkline(const std::vector<double>& values, size_t width);

class LiveView {
 public:
  void problem_started(const std::string& problem, std::string where);  // "[1/3] softmax_f32"
  void problem_ended(const std::string& problem);
  void attempted(const search::AttemptReport& report);
  void answered(const search::ReplyReport& report);

  std::vector<std::string> lines() const;  // not cleaned

 private:
  struct Search {
    std::string where;
    std::vector<double> best;  // after each attempt
  };
  std::map<std::string, Search> searches_;  // by problem
  std::string left_;
  std::deque<std::string> attempts_;           // the latest last
  std::map<std::string, std::string> models_;  // the last action of each
  std::string spend_;
};

}  // namespace agent::cli
