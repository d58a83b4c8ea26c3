// A model behind HTTP: sends requests in one of the wire formats, retries where that helps, counts tokens.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/models/http_client.h"
#include "agent/models/keys.h"
#include "agent/models/model.h"
#include "agent/models/wire_format.h"

namespace agent::models {

struct RetryOptions {
  int most_tries = 5;                                // failed tries per request
  int most_rate_limited = 10;                        // rate-limited tries besides; they cost nothing
  std::chrono::milliseconds first_delay{1'000};      // at most this before the second try; doubles with each
  std::chrono::milliseconds most_delay{60'000};      // upper limit of the delay
  std::chrono::milliseconds most_patience{120'000};  // no second try for a server that asks to wait longer
};

class Retry {
 public:
  explicit Retry(const RetryOptions& options) : options_(options) {}

  // The delay before the next try, after `tries` failures of which the last had `cause`; rate-limited tries count
  // separately. nullopt: give up. Full jitter: uniform between zero and a ceiling that doubles (Brooker, "Exponential
  // Backoff And Jitter"), on top of the server's `retry_after`. `random` is in [0, 1).
  std::optional<std::chrono::milliseconds> next(int tries, NoCompletion::Cause cause,
                                                std::optional<std::chrono::milliseconds> retry_after,
                                                double random) const;

 private:
  RetryOptions options_;
};

struct HttpModelSetup {
  std::string name;        // as the user named it
  std::string model;       // as the provider names it
  bool any_model = false;  // instead of `model`, the first one that GET /models names
  std::string base_url;    // without a slash at its end
  std::unique_ptr<WireFormat> format;
  Key key;
  std::string key_hint;  // the key's sources, for the message that it is missing
  std::string ca_file, ca_folder;
  HttpLimits limits;  // `total` covers all tries of a request
  RetryOptions retry;
  size_t most_reply_bytes = 4 << 20;
  uint64_t seed = 0;  // of the jitter between tries
};

std::unique_ptr<Model> http_model(HttpModelSetup setup);

}  // namespace agent::models
