// The two ways between a client and the server, line by line.
#pragma once

#include <chrono>
#include <optional>

#include "core/line_stream.h"
#include "core/strict_json.h"

namespace agent::mcp {

using core::Line;

class Channel {
 public:
  virtual ~Channel() = default;
  // The next line of the client; waits for it, at most this long.
  virtual std::optional<Line> next(std::chrono::milliseconds at_most) = 0;
  // Has the client gone? No further line comes, and nobody reads what is sent.
  virtual bool has_ended() const = 0;
  virtual void send(const core::Json& message) = 0;
};

}  // namespace agent::mcp
