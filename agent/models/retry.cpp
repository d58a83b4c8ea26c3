#include "agent/models/retry.h"

#include <algorithm>

namespace agent {
namespace {
// How many tries may help. What came out wrong may come out right, but each time has been paid for.
int tries_worth(NoCompletion::Cause cause, const RetryOptions& options) {
  using Cause = NoCompletion::Cause;
  switch (cause) {
    case Cause::rate_limited:
      return options.most_rate_limited;
    case Cause::overloaded:
    case Cause::unreachable:
    case Cause::timed_out:
    case Cause::cut_off:
      return options.most_tries;
    case Cause::not_understood:
    case Cause::empty:
      return std::min(3, options.most_tries);
    case Cause::unauthorized:
    case Cause::bad_request:
    case Cause::declined:
    case Cause::exhausted:
    case Cause::cancelled:
      break;
  }
  return 1;
}
}  // namespace

std::optional<std::chrono::milliseconds> Retry::next(int tries, NoCompletion::Cause cause,
                                                     std::optional<std::chrono::milliseconds> retry_after,
                                                     double random) const {
  if (tries >= tries_worth(cause, options_)) return std::nullopt;
  if (retry_after && *retry_after > options_.most_patience) return std::nullopt;
  std::chrono::milliseconds ceiling = std::min(options_.first_delay, options_.most_delay);
  for (int i = 1; i < tries && ceiling < options_.most_delay; ++i) ceiling = std::min(ceiling * 2, options_.most_delay);
  const std::chrono::milliseconds jitter(static_cast<int64_t>(static_cast<double>(ceiling.count()) * random));
  return retry_after.value_or(std::chrono::milliseconds{0}) + jitter;
}

}  // namespace agent
