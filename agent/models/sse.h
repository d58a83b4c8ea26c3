// Server-sent events, as the WHATWG HTML standard defines them ("Server-sent events", parsing an event stream), read
// from bytes that come in any pieces.
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
  // An event whose data, or a line, is longer is not kept: too_long() says so, and nothing more is parsed.
  explicit SseParser(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Calls `on_event` for each event that `bytes` completes.
  void feed(std::string_view bytes, const std::function<void(const ServerEvent&)>& on_event);
  // The stream has ended. The standard drops an event that no blank line ended; providers' last one is kept here, since
  // whoever reads it sees whether it is whole.
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
  bool after_cr_ = false;   // a '\n' now belongs to the line end before
  bool first_line_ = true;  // may begin with a byte order mark
  bool too_long_ = false;
};

}  // namespace agent::models
