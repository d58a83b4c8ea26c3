#include "agent/models/sse.h"

#include <utility>

namespace agent::models {

void SseParser::feed(std::string_view bytes, const std::function<void(const ServerEvent&)>& on_event) {
  while (!bytes.empty() && !too_long_) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + event_.data.size() > most_bytes_) {
      too_long_ = true;
      return;
    }
    if (end == std::string_view::npos) return;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(on_event);
  }
}

void SseParser::finish(const std::function<void(const ServerEvent&)>& on_event) {
  if (too_long_) return;
  if (!line_.empty()) end_line(on_event);
  dispatch(on_event);
}

void SseParser::end_line(const std::function<void(const ServerEvent&)>& on_event) {
  std::string line = std::exchange(line_, {});
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (std::exchange(first_line_, false) && line.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) {
    line.erase(0, kByteOrderMark.size());
  }
  if (line.empty()) return dispatch(on_event);
  read_field(line);
}

// "name: value", "name:value", "name"; a line that begins with a colon is a comment.
void SseParser::read_field(std::string_view line) {
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (name == "event") event_.type = value;
  if (name == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  }
}

void SseParser::dispatch(const std::function<void(const ServerEvent&)>& on_event) {
  const ServerEvent event = std::exchange(event_, {});
  if (std::exchange(has_data_, false)) on_event(event);
}

}  // namespace agent::models
