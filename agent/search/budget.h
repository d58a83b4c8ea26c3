// The remaining budget of a campaign, and each problem's share of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/search/journal.h"

namespace agent::search {

struct BudgetLeft {
  std::optional<int64_t> attempts;
  std::optional<double> seconds;
  double to_end = 0;  // of a share that others follow: seconds of it that are kept to confirm what is found
};

class BudgetShare;

class Budget {
 public:
  using Clock = std::function<double()>;  // seconds since a fixed moment
  // Limits of the whole campaign. `attempts_spent`: before the journal's first step; `seconds_spent`: in all.
  Budget(BudgetLeft limits, int64_t attempts_spent, double seconds_spent, Journal* journal = nullptr,
         Clock clock = steady_seconds);

  // An equal share for the next of so many problems, of what no other share still holds. `at_once`: problems that are
  // searched side by side, so that their times overlap.
  BudgetLeft next_share(size_t problems_left, size_t at_once = 1) const;
  double now() const { return clock_(); }
  void charge_attempts(int64_t count = 1) { attempts_ += count; }

  // Returns why nothing more may start, as a sentence; nullopt: it may.
  std::optional<std::string> used_up() const;
  BudgetLeft left() const;
  int64_t attempts() const { return attempts_; }

 private:
  friend class BudgetShare;
  static double steady_seconds();
  double seconds() const { return seconds_before_ + clock_() - begin_; }

  BudgetLeft limits_;
  int64_t attempts_;
  double seconds_before_;
  Journal* journal_;
  Clock clock_;
  double begin_;
  int64_t in_flight_ = 0;  // attempts of all shares
  double ending_ = 6;  // seconds that a search takes behind the end of its time, to confirm: a guess, then as of late
  std::vector<const BudgetShare*> shares_;
};

// One problem's share.
class BudgetShare {
 public:
  // `size`: of next_share(); without limits, those of the whole budget hold. Both must outlive it. Its time ends early
  // by what is kept to confirm, but not before a few attempts, once they have begun.
  BudgetShare(Budget& budget, std::string problem, BudgetLeft size = {});
  ~BudgetShare();
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;

  void charge_attempt();
  // Reports time spent only waiting for replies. Up to half a share of it does not count: so a slow model does not end
  // a search early, and takes no more than that from later problems.
  void waited(double seconds);
  double now() const { return budget_.now(); }

  // Attempts in flight count before they are charged.
  void attempt_begun();
  void attempt_over();
  // Returns why no more attempts may start, as a sentence; nullopt: they may.
  std::optional<std::string> attempts_used_up() const;
  // The same for what may pass the share, but not the budget.
  bool all_attempts_used_up() const;
  // The same for the time, as the journal decides.
  std::optional<std::string> time_used_up() const;
  BudgetLeft left() const { return budget_.left(); }  // of the whole budget
  int64_t attempts() const { return budget_.attempts(); }
  int64_t attempts_held() const;  // of the share, not charged yet

 private:
  std::optional<std::string> time_up() const;

  Budget& budget_;
  std::string problem_;
  std::optional<int64_t> attempts_;  // of the share
  int64_t charged_ = 0;              // of them
  int64_t in_flight_ = 0;
  std::optional<double> ends_;  // in seconds of the budget
  double waiting_left_ = 0;     // seconds by which waiting may still extend it
};

}  // namespace agent::search
