// A campaign at a glance, for a terminal: the problem, its best so far and how it came, what is left, the last
// verdicts, what the models said and cost. Pure: reports go in, lines come out.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "agent/search/progress.h"

namespace agent::cli {

// A character per value, one to eight eighths high over 1 (naive) and the largest; of more values than `width` each
// character shows the last of a few.
std::string sparkline(const std::vector<double>& values, size_t width);

class LiveView {
 public:
  void problem_started(std::string where);  // "[1/3] softmax_f32"
  void attempted(const search::AttemptReport& report);
  void answered(const search::ExchangeReport& report);

  std::vector<std::string> lines() const;  // not cleaned

 private:
  std::string where_, left_;
  std::vector<double> best_;                   // after each attempt at this problem
  std::deque<std::string> attempts_;           // the latest last
  std::map<std::string, std::string> models_;  // what each last did
  std::string spend_;
};

}  // namespace agent::cli
