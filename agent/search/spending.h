// Enforces limits on model spending exactly: each request reserves its maximum cost before it is sent.
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

// Under limits a request reserves the cost of one try, so it may pay for only one; the search may ask again.
models::Sampling within(const SpendingLimits& limits, models::Sampling sampling);

// The most that a request can cost.
struct Reserve {
  int64_t tokens = 0;
  std::optional<double> dollars;  // absent if the price is unknown
};

class Spending {
 public:
  // `spent`: by earlier runs of the campaign.
  struct Spent {
    int64_t requests = 0, tokens = 0;
    double dollars = 0;
  };
  Spending(SpendingLimits limits, Spent spent) : limits_(limits), spent_(spent) {}

  // Returns why a request may not be sent, as a sentence; nullopt: it may.
  std::optional<std::string> why_not(const Reserve& reserve) const;
  void reserve(const Reserve& reserve);
  // Gives a reserve back: the request is not sent.
  void release(const Reserve& reserve);
  // Call when the answer arrives.
  void settle(const Reserve& reserve, const models::Usage& usage, std::optional<double> dollars);

  // Call when the answer is lost: the request then counts with its maximum cost.
  void lose(const Reserve& reserve);

  // A sentence for each limit that is 80 % used up, once per limit.
  std::vector<std::string> warnings();

  const Spent& spent() const { return spent_; }  // without reserves
  const SpendingLimits& limits() const { return limits_; }

 private:
  SpendingLimits limits_;
  Spent spent_, reserved_;
  bool warned_tokens_ = false, warned_dollars_ = false, warned_requests_ = false;
};

}  // namespace agent::search
