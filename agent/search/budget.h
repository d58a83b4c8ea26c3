// What a campaign may still spend, and each problem's share of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agent/search/journal.h"

namespace agent::search {

struct BudgetLeft {
  std::optional<int64_t> attempts;
  std::optional<double> seconds;
};

class Budget {
 public:
  using Clock = std::function<double()>;  // seconds since some moment
  // Limits of the whole campaign; what was spent of them before the journal's first attempt counts, and all seconds.
  Budget(BudgetLeft limits, int64_t attempts_spent, double seconds_spent, Journal* journal = nullptr,
         Clock clock = steady_seconds);

  // The next problem may use an equal share of what is left for these many.
  void start_share(size_t problems_left);
  // Time in which replies were awaited and nothing else was done. It does not count as the share's, up to half a share:
  // so a slow model ends no search early, and takes from the problems that come later no more than that.
  void waited(double seconds);
  double now() const { return clock_(); }
  void charge_attempts(int64_t count = 1) { attempts_ += count; }

  // Why nothing more may be begun, as a sentence; nullopt while something may.
  std::optional<std::string> used_up() const;
  // Of the share. `begun`: attempts on their way that are not charged yet.
  std::optional<std::string> attempts_used_up(int64_t begun = 0) const;
  // Of the share, as the journal has it.
  std::optional<std::string> time_used_up() const;
  BudgetLeft left() const;
  int64_t attempts() const { return attempts_; }

 private:
  static double steady_seconds();
  double seconds() const { return seconds_before_ + clock_() - begin_; }
  std::optional<std::string> time_up() const;

  BudgetLeft limits_;
  int64_t attempts_;
  double seconds_before_;
  Journal* journal_;
  Clock clock_;
  double begin_;
  std::optional<int64_t> share_attempts_;  // the counts at which the share ends
  std::optional<double> share_seconds_;
  double waiting_left_ = 0;  // of what the share may still be extended by
};

}  // namespace agent::search
