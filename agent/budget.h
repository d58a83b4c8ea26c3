// What a campaign may still spend, and each problem's share of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace agent {

struct BudgetLeft {
  std::optional<int64_t> attempts;
  std::optional<double> seconds;
};

class Budget {
 public:
  // Limits of the whole campaign; what an interrupted run has spent of them counts.
  Budget(BudgetLeft limits, int64_t attempts_spent, double seconds_spent);

  // The next problem may use an equal share of what is left for these many.
  void start_share(size_t problems_left);
  void charge_attempt() { ++attempts_; }

  // Why nothing more may be begun, as a sentence; nullopt while something may.
  // `begun`: attempts on their way that are not charged yet.
  std::optional<std::string> share_used_up(int64_t begun = 0) const;
  std::optional<std::string> used_up() const;
  BudgetLeft left() const;
  int64_t attempts() const { return attempts_; }

 private:
  double seconds() const;

  BudgetLeft limits_;
  int64_t attempts_;
  double seconds_before_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<int64_t> share_attempts_;  // the counts at which the share ends
  std::optional<double> share_seconds_;
};

}  // namespace agent
