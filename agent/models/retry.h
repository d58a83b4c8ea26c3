// Whether a request that failed is sent again, and when. Pure: time and chance come from outside.
#pragma once

#include <chrono>
#include <optional>

#include "agent/models/model.h"

namespace agent {

struct RetryOptions {
  int most_tries = 5;                            // of one request that fail
  int most_rate_limited = 10;                    // besides, that were one too many for the server: they cost nothing
  std::chrono::milliseconds first_delay{1'000};  // at most this before the second try; doubles with each
  std::chrono::milliseconds most_delay{60'000};  // however many tries
  std::chrono::milliseconds most_patience{120'000};  // a server that wants us to wait longer gets no second try
};

class Retry {
 public:
  explicit Retry(const RetryOptions& options) : options_(options) {}

  // How long to wait now that `tries` tries have failed, the last with `cause`; those that were rate limited are
  // counted apart from the others. nullopt: no more tries. Full jitter: anything between nothing and a ceiling that
  // doubles (Brooker, "Exponential Backoff And Jitter"). What the server asks for
  // (`retry_after`) is waited for, and the jitter comes on top. `random` is in [0, 1).
  std::optional<std::chrono::milliseconds> next(int tries, NoCompletion::Cause cause,
                                                std::optional<std::chrono::milliseconds> retry_after,
                                                double random) const;

 private:
  RetryOptions options_;
};

}  // namespace agent
