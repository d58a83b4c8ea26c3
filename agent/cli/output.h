// The only way out: nothing else in the program writes to a terminal. Whatever a candidate put into a name, a comment
// or a message, no escape sequence leaves, nor what hides or reorders text (core/text.h).
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/strict_json.h"

namespace agent::cli {

// For people: to stdout, or to stderr. Newlines are kept: what stands in a line is cleaned by whoever puts it there.
void print_text(std::string_view text);
void print_error(std::string_view text);
template <typename... Ts>
void print(fmt::format_string<Ts...> format, Ts&&... values) {
  print_text(fmt::format(format, std::forward<Ts>(values)...));
}

// For programs: one line of ASCII on stdout.
void print_json(const core::Json& json);

// What was printed reaches a program at the other end of a pipe now, and not when the buffer is full.
void flush_output();

// Lines at the end of a terminal that are written again and again, each cut to its width. What else is printed comes
// after clear().
enum class Stream { out, error };
class LiveLines {
 public:
  explicit LiveLines(Stream stream = Stream::out) : stream_(stream) {}
  void show(const std::vector<std::string>& lines);
  void clear() { show({}); }

 private:
  Stream stream_;
  size_t shown_ = 0;
};

}  // namespace agent::cli
