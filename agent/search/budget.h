// The remaining budget of a campaign, and each problem's share of it.
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
  using Clock = std::function<double()>;  // seconds since a fixed moment
  // Limits of the whole campaign. `attempts_spent`: before the journal's first step; `seconds_spent`: in all.
  Budget(BudgetLeft limits, int64_t attempts_spent, double seconds_spent, Journal* journal = nullptr,
         Clock clock = steady_seconds);

  // Gives the next problem an equal share of the remaining budget.
  void start_share(size_t problems_left);
  // Reports time spent only waiting for replies. Up to half a share of it does not count: so a slow model does not end
  // a search early, and takes no more than that from later problems.
  void waited(double seconds);
  double now() const { return clock_(); }
  void charge_attempts(int64_t count = 1) { attempts_ += count; }

  // Returns why nothing more may start, as a sentence; nullopt: it may.
  std::optional<std::string> used_up() const;
  // The same for the attempts of the share. `begun`: attempts in flight, not yet charged.
  std::optional<std::string> attempts_used_up(int64_t begun = 0) const;
  // The same for the time of the share, as the journal decides.
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
  double waiting_left_ = 0;  // seconds by which waiting may still extend the share
};

}  // namespace agent::search
