// What a campaign may spend on models, kept exactly: each request reserves the most that it can cost before it is sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/models/model.h"

namespace agent::search {

struct SpendingLimits {
  std::optional<int64_t> tokens, requests;
  std::optional<double> dollars;
};

// Under limits a request reserves what one try costs, so no more may be paid for: the search may ask again.
models::Sampling within(const SpendingLimits& limits, models::Sampling sampling);

// The most that a request can cost.
struct Reserve {
  int64_t tokens = 0;
  std::optional<double> dollars;  // absent where the price is not known
};

class Spending {
 public:
  // `spent`: before the campaign was interrupted.
  struct Spent {
    int64_t requests = 0, tokens = 0;
    double dollars = 0;
  };
  Spending(SpendingLimits limits, Spent spent) : limits_(limits), spent_(spent) {}

  // Why a request may not be sent, as a sentence; nullopt when it may.
  std::optional<std::string> why_not(const Reserve& reserve) const;
  void reserve(const Reserve& reserve);
  // Its answer is there.
  void settle(const Reserve& reserve, const models::Usage& usage, std::optional<double> dollars);

  // Its answer will never be known: it counts with the most that it can have cost.
  void lose(const Reserve& reserve);

  // Sentences about limits that are 80 % used up, each once.
  std::vector<std::string> warnings();

  const Spent& spent() const { return spent_; }  // without what is reserved
  const SpendingLimits& limits() const { return limits_; }

 private:
  SpendingLimits limits_;
  Spent spent_, reserved_;
  bool warned_tokens_ = false, warned_dollars_ = false, warned_requests_ = false;
};

}  // namespace agent::search
