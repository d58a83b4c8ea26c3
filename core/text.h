// Small text helpers, and the one place where untrusted text is made safe to show.
//
// Untrusted text is all that a file, a candidate, a compiler or a worker can influence: names, descriptions, comments,
// logs, messages. Such text is stored unchanged, cut to a length where it enters, and cleaned where it leaves:
//   - everything for a terminal or a file goes through agent/cli/output.h, which cleans it; JSON is written in ASCII;
//   - a part of a line (a sentence, a table cell, an error's place) goes through clean_line, so that it cannot pass for
//   a
//     line of ours;
//   - SQL takes it as a bound parameter only;
//   - prompts and pages show the result of clean_text or clean_line, quoted in their own way.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// Keeps printable ASCII, newline, tab and visible UTF-8. Every other byte becomes '?', and CR LF a newline; that covers
// control characters, direction marks and overrides, zero-width characters and tags. Cuts to `max_bytes` and notes how
// much was left out. Idempotent.
std::string clean_text(std::string_view text, size_t max_bytes);

// The same in one line: newlines and tabs become spaces, and "..." marks a cut.
std::string clean_line(std::string_view text, size_t max_bytes = 2000);

// Reads a whole file. Throws InputError when it cannot be read or is larger than `max_bytes`.
std::string read_file(const std::filesystem::path& path, size_t max_bytes = size_t{64} << 20);

// Without blanks, tabs and carriage returns at both ends; a view of `text`.
std::string_view trimmed(std::string_view text);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace core
