// Server-sent events, as the WHATWG HTML standard defines them ("Server-sent events", parsing an event stream), from
// bytes in pieces of any size.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace agent::models {

struct ServerEvent {
  std::string type;  // "" when the stream names none
  std::string data;  // lines joined by '\n'
};

class SseParser {
 public:
  // Stops parsing at a line or an event's data longer than `most_bytes`; too_long() then says so.
  explicit SseParser(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Calls `on_event` for each event that `bytes` completes.
  void feed(std::string_view bytes, const std::function<void(const ServerEvent&)>& on_event);
  // Call at the end of the stream. The standard drops an event without a final blank line; this parser keeps it, since
  // the reader sees whether it is whole.
  void finish(const std::function<void(const ServerEvent&)>& on_event);

  bool too_long() const { return too_long_; }

 private:
  void end_line(const std::function<void(const ServerEvent&)>& on_event);
  void read_field(std::string_view line);
  void dispatch(const std::function<void(const ServerEvent&)>& on_event);

  size_t most_bytes_;
  std::string line_;
  ServerEvent event_;
  bool has_data_ = false;
  bool after_cr_ = false;   // a '\n' here belongs to the previous line end
  bool first_line_ = true;  // may start with a byte order mark
  bool too_long_ = false;
};

}  // namespace agent::models
