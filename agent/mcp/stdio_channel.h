// A channel over standard input and output.
#pragma once

#include "agent/mcp/channel.h"
#include "agent/mcp/messages.h"
#include "core/line_stream.h"

namespace agent::mcp {

inline constexpr size_t kMostLineBytes = size_t{1} << 20;

class StdioChannel : public Channel {
 public:
  std::optional<core::Line> next(std::chrono::milliseconds at_most) override { return stream_.next(at_most); }
  bool has_ended() const override { return stream_.has_ended(); }
  void send(const core::Json& message) override { stream_.send(line_of(message)); }

 private:
  core::LineStream stream_ = core::LineStream::of_program(kMostLineBytes);
};

}  // namespace agent::mcp
