// All output of the program; nothing else writes to a terminal. Removes escape sequences and characters that hide or
// reorder text (core/text.h), in whatever form they reach it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/strict_json.h"

namespace agent::cli {

// Prints for people, to stdout or stderr. Keeps newlines: callers clean the parts of a line.
void print_text(std::string_view text);
void print_error(std::string_view text);
template <typename... Ts>
void print(fmt::format_string<Ts...> format, Ts&&... values) {
  print_text(fmt::format(format, std::forward<Ts>(values)...));
}

// Prints for programs: one line of ASCII on stdout.
void print_json(const core::Json& json);

// Flushes stdout, so that a program at the other end of a pipe sees the output now.
void flush_output();

// Status lines at the end of a terminal, redrawn in place and cut to its width. Call clear() before printing anything
// else.
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
