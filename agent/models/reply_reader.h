// Reads the body of one HTTP answer, streamed or whole, and decides whether it is usable. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/models/http_client.h"
#include "agent/models/sse.h"
#include "agent/models/wire_format.h"

namespace agent::models {

// A try without a completion, and why.
struct FailedTry {
  NoCompletion::Cause cause;
  std::string what;
  std::optional<std::chrono::milliseconds> retry_after;
  bool final = false;  // another try would end the same way, or cost too much
};

class ReplyReader {
 public:
  using Flow = HttpReceiver::Flow;

  // The format must outlive the reader. `most_bytes` limits the text; its carrier (a whole answer, an event, all of a
  // stream) is limited to a multiple of that.
  ReplyReader(const WireFormat& format, size_t most_bytes);

  void begin(int status, std::string_view content_type);
  // `progress`: another piece is complete, so the server is alive; `over`: the answer is complete; `refused`: the rest
  // is unwanted.
  Flow feed(std::string_view bytes);
  // Call when the body ends; `whole`: the server ended it. Returns why the answer is unusable; nullopt: it is usable.
  std::optional<FailedTry> end(bool whole);

  const Reply& reply() const { return reply_; }
  bool answered() const { return answered_; }  // with 200 and a body: it costs

 private:
  enum class Body { stream, json, error, unknown };

  Flow feed_stream(std::string_view bytes);
  void read_stream_event(const ServerEvent& event);
  std::optional<FailedTry> end_of_error() const;
  std::optional<FailedTry> judge(bool whole) const;
  void refuse(NoCompletion::Cause cause, std::string what);

  const WireFormat* format_;
  size_t most_bytes_;
  size_t received_ = 0;
  int status_ = 0;
  std::string content_type_;
  Body body_ = Body::unknown;
  SseParser events_;
  std::string collected_;  // a body that is not a stream
  Reply reply_;
  bool answered_ = false;
  std::optional<FailedTry> refused_;
};

}  // namespace agent::models
