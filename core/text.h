// Small text helpers, and the one place where untrusted text is made safe to show.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// Keeps printable ASCII, valid UTF-8, newline and tab; every other byte becomes '?'. Cuts to `max_bytes` with a note of
// how much was left out. For compiler logs, kernel names and whatever else a candidate can influence.
std::string clean_text(std::string_view text, size_t max_bytes);

// Reads a whole file. Throws InputError when it cannot be read or is larger than `max_bytes`.
std::string read_file(const std::filesystem::path& path, size_t max_bytes = size_t{64} << 20);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace core
