#include "agent/cli/output.h"

#include <sys/ioctl.h>

#include <cstdio>

#include "core/text.h"

namespace agent::cli {
namespace {
constexpr size_t kMostBytes = size_t{64} << 20;  // a solution's source is shown whole

void write(std::string_view text, std::FILE* file) { std::fwrite(text.data(), 1, text.size(), file); }

// The first `width` characters (UTF-8 continuation bytes do not count).
std::string_view beginning(std::string_view text, size_t width) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if ((text[end] & 0xC0) == 0x80) continue;
    if (width-- == 0) break;
  }
  return text.substr(0, end);
}
}  // namespace

void print_text(std::string_view text) { write(core::clean_text(text, kMostBytes), stdout); }

void print_error(std::string_view text) {
  std::fflush(stdout);
  write(core::clean_text(text, kMostBytes), stderr);
}

void print_json(const core::Json& json) {
  write(json.dump(-1, ' ', true, core::Json::error_handler_t::replace) + "\n", stdout);
}

void flush_output() { std::fflush(stdout); }

void LiveLines::show(const std::vector<std::string>& lines) {
  std::FILE* file = stream_ == Stream::out ? stdout : stderr;
  winsize size{};
  const size_t width = ::ioctl(::fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  std::string text = shown_ > 1 ? fmt::format("\r\033[{}A\033[J", shown_ - 1) : "\r\033[J";
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string clean = core::clean_line(lines[i]);
    text += i > 0 ? "\n" : "";
    text += beginning(clean, width - 1);
  }
  shown_ = lines.size();
  write(text, file);
  std::fflush(file);
}

}  // namespace agent::cli
