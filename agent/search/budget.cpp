#include "agent/search/budget.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace agent::search {

namespace {
constexpr double kWaitingPerShare = 0.5;
}

Budget::Budget(BudgetLeft limits, int64_t attempts_spent, double seconds_spent, Journal* journal, Clock clock)
    : limits_(limits),
      attempts_(attempts_spent),
      seconds_before_(seconds_spent),
      journal_(journal),
      clock_(std::move(clock)),
      begin_(clock_()) {}

double Budget::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

BudgetLeft Budget::left() const {
  BudgetLeft left;
  if (limits_.attempts) left.attempts = std::max<int64_t>(0, *limits_.attempts - attempts_);
  if (limits_.seconds) left.seconds = std::max(0.0, *limits_.seconds - seconds());
  return left;
}

void Budget::start_share(size_t problems_left) {
  const BudgetLeft now = left();
  const auto count = static_cast<int64_t>(problems_left);
  if (now.attempts) share_attempts_ = attempts_ + (*now.attempts + count - 1) / count;
  if (!now.seconds) return;
  const double share = *now.seconds / static_cast<double>(count);
  share_seconds_ = seconds() + share;
  waiting_left_ = kWaitingPerShare * share;
}

void Budget::waited(double seconds) {
  if (!share_seconds_) return;
  const double more = std::min(seconds, waiting_left_);
  *share_seconds_ += more;
  waiting_left_ -= more;
}

std::optional<std::string> Budget::used_up() const {
  const BudgetLeft now = left();
  if (now.attempts && *now.attempts == 0) return "all attempts are used up";
  if (now.seconds && *now.seconds <= 0) return "the time is used up";
  return std::nullopt;
}

std::optional<std::string> Budget::attempts_used_up(int64_t begun) const {
  if (limits_.attempts && attempts_ + begun >= *limits_.attempts) return "all attempts are used up";
  if (share_attempts_ && attempts_ + begun >= *share_attempts_) return "its share of the attempts is used up";
  return std::nullopt;
}

std::optional<std::string> Budget::time_up() const {
  if (limits_.seconds && seconds() >= *limits_.seconds) return "the time is used up";
  if (share_seconds_ && seconds() >= *share_seconds_) return "its share of the time is used up";
  return std::nullopt;
}

std::optional<std::string> Budget::time_used_up() const {
  return journal_ != nullptr ? journal_->time_up([this] { return time_up(); }) : time_up();
}

}  // namespace agent::search
