#include "agent/search/budget.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace agent::search {

namespace {
constexpr double kWaitingPerShare = 0.5, kMostForEnding = 0.75;
constexpr int64_t kFewestAttempts = 5;  // naive against itself, and the defaults of some solutions
}  // namespace

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

BudgetLeft Budget::next_share(size_t problems_left, size_t at_once) const {
  BudgetLeft share = left();
  const auto count = static_cast<int64_t>(problems_left);
  if (share.attempts) {
    for (const BudgetShare* other : shares_) *share.attempts -= other->attempts_held();
    share.attempts = (std::max<int64_t>(0, *share.attempts) + count - 1) / count;
  }
  const auto rounds = (count + static_cast<int64_t>(at_once) - 1) / static_cast<int64_t>(at_once);
  if (share.seconds) {
    *share.seconds /= static_cast<double>(rounds);
    if (rounds > 1) share.to_end = std::min(ending_, kMostForEnding * *share.seconds);
  }
  return share;
}

std::optional<std::string> Budget::used_up() const {
  const BudgetLeft now = left();
  if (now.attempts && *now.attempts == 0) return "all attempts are used up";
  if (now.seconds && *now.seconds <= 0) return "the time is used up";
  return std::nullopt;
}

BudgetShare::BudgetShare(Budget& budget, std::string problem, BudgetLeft size)
    : budget_(budget), problem_(std::move(problem)), attempts_(size.attempts) {
  if (size.seconds) {
    ends_ = budget.seconds() + *size.seconds - size.to_end;
    waiting_left_ = kWaitingPerShare * *size.seconds;
  }
  budget.shares_.push_back(this);
}

BudgetShare::~BudgetShare() {
  if (ends_ && budget_.seconds() > *ends_) {
    budget_.ending_ = (budget_.ending_ + budget_.seconds() - *ends_) / 2;
  }
  budget_.in_flight_ -= in_flight_;
  std::erase(budget_.shares_, this);
}

void BudgetShare::charge_attempt() {
  ++charged_;
  budget_.charge_attempts();
}

int64_t BudgetShare::attempts_held() const { return attempts_ ? std::max<int64_t>(0, *attempts_ - charged_) : 0; }

void BudgetShare::waited(double seconds) {
  if (!ends_) return;
  const double more = std::min(seconds, waiting_left_);
  *ends_ += more;
  waiting_left_ -= more;
}

void BudgetShare::attempt_begun() {
  ++in_flight_;
  ++budget_.in_flight_;
}

void BudgetShare::attempt_over() {
  --in_flight_;
  --budget_.in_flight_;
}

bool BudgetShare::all_attempts_used_up() const {
  const std::optional<int64_t> most = budget_.limits_.attempts;
  return most && budget_.attempts_ + budget_.in_flight_ >= *most;
}

std::optional<std::string> BudgetShare::attempts_used_up() const {
  if (all_attempts_used_up()) return "all attempts are used up";
  if (attempts_ && charged_ + in_flight_ >= *attempts_) return "its share of the attempts is used up";
  return std::nullopt;
}

std::optional<std::string> BudgetShare::time_up() const {
  if (budget_.limits_.seconds && budget_.seconds() >= *budget_.limits_.seconds) return "the time is used up";
  const bool has_begun = charged_ >= kFewestAttempts || in_flight_ == 0;
  if (ends_ && budget_.seconds() >= *ends_ && has_begun) return "its share of the time is used up";
  return std::nullopt;
}

std::optional<std::string> BudgetShare::time_used_up() const {
  Journal* const journal = budget_.journal_;
  return journal != nullptr ? journal->time_up(problem_, [this] { return time_up(); }) : time_up();
}

}  // namespace agent::search
