// Small text helpers, and the one place where untrusted text is made safe to show.
//
// Untrusted is what a file, a candidate, a compiler or a worker can influence: names, descriptions, comments, logs,
// messages. Such text is kept as it came, cut to a length where it enters, and cleaned where it leaves:
//   - to a terminal or a file, everything goes through agent/cli/output.h, which cleans it; JSON is written in ASCII;
//   - as a part of a line (a sentence, a cell of a table, an error's place) it goes through clean_line, so that it
//     cannot pass for a line of ours;
//   - into SQL it goes as a bound parameter only;
//   - whatever else will show it, a prompt or a page, takes what clean_text or clean_line gives, quoted in its own way.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// Keeps printable ASCII, newline, tab and valid UTF-8 that can be seen; every other byte becomes '?', and CR LF a
// newline. What cannot be seen, or moves what can be seen: control characters, direction marks and overrides,
// characters of no width, tags. Cuts to `max_bytes` with a note of how much was left out. Cleaning again changes
// nothing.
std::string clean_text(std::string_view text, size_t max_bytes);

// The same in one line: newlines and tabs become spaces, and "..." stands where it was cut.
std::string clean_line(std::string_view text, size_t max_bytes = 2000);

// Reads a whole file. Throws InputError when it cannot be read or is larger than `max_bytes`.
std::string read_file(const std::filesystem::path& path, size_t max_bytes = size_t{64} << 20);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace core
