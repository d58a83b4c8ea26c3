// The only way out: nothing else in the program writes to a terminal. Whatever a candidate put into a name, a comment
// or a message, no escape sequence leaves, nor what hides or reorders text (core/text.h).
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "core/strict_json.h"

namespace agent {

// For people: to stdout, or to stderr. Newlines are kept: what stands in a line is cleaned by whoever puts it there.
void print_text(std::string_view text);
void print_error(std::string_view text);
template <typename... Ts>
void print(fmt::format_string<Ts...> format, Ts&&... values) {
  print_text(fmt::format(format, std::forward<Ts>(values)...));
}

// For programs: one line of ASCII on stdout.
void print_json(const core::Json& json);

// The line that is written again and again on a terminal, cut to its width; an empty one clears it.
enum class Stream { out, error };
void print_live(std::string_view line, Stream stream = Stream::out);

}  // namespace agent
