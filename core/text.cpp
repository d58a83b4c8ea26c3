#include "core/text.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/error.h"

namespace core {
namespace {
// Invisible characters and characters that move others: C1 controls, soft hyphen, direction marks and overrides,
// zero-width characters, line separators, annotations, tags and variation selectors.
bool is_hidden(uint32_t point) {
  constexpr std::pair<uint32_t, uint32_t> kHidden[] = {
      {0x80, 0x9F},     {0xAD, 0xAD},       {0x34F, 0x34F},     {0x61C, 0x61C},     {0x115F, 0x1160},
      {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
      {0x3164, 0x3164}, {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
      {0xE000, 0xF8FF}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0x10FFFF}};
  return std::ranges::any_of(kHidden, [&](const auto& range) { return point >= range.first && point <= range.second; });
}

// Length of the valid and visible UTF-8 sequence of two or more bytes at `text[i]`, 0 when there is none.
size_t utf8_length(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<uint8_t>(text[k]); };
  const uint8_t lead = byte(i);
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (length == 0 || i + length > text.size()) return 0;
  uint32_t point = lead & (0x7Fu >> length);
  for (size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
    point = point << 6 | (byte(i + k) & 0x3Fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return point < kLeast[length] || point > 0x10FFFF || surrogate || is_hidden(point) ? 0 : length;
}

// Appends the cleaned `text` until `out` has `max_bytes`. Returns how much of `text` was consumed.
size_t append_clean(std::string_view text, size_t max_bytes, std::string& out) {
  out.reserve(std::min(text.size(), max_bytes));
  size_t i = 0;
  while (i < text.size() && out.size() < max_bytes) {
    const char c = text[i];
    if (c == '\r' && text.substr(i + 1, 1) == "\n") {
      ++i;
    } else if (c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7F)) {
      out += c;
      ++i;
    } else if (const size_t length = utf8_length(text, i); length > 0) {
      if (out.size() + length > max_bytes) break;
      out.append(text.substr(i, length));
      i += length;
    } else {
      out += '?';
      ++i;
    }
  }
  return i;
}
}  // namespace

std::string clean_text(std::string_view text, size_t max_bytes) {
  std::string out;
  const size_t taken = append_clean(text, max_bytes, out);
  if (taken < text.size()) out += "\n[" + std::to_string(text.size() - taken) + " more bytes left out]";
  return out;
}

std::string clean_line(std::string_view text, size_t max_bytes) {
  std::string out;
  const size_t taken = append_clean(text, max_bytes, out);
  std::ranges::replace_if(
      out, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return taken < text.size() ? out + "..." : out;
}

std::string read_file(const std::filesystem::path& path, size_t max_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InputError(path.string(), "is a folder: name a file in it");
  std::ifstream in(path, std::ios::binary);
  const int why = in ? 0 : errno;
  if (why == ENOENT) {
    throw InputError(path.string(), "there is no such file",
                     path.is_absolute()
                         ? "check the path"
                         : "check the path; it begins in " + std::filesystem::current_path(ignored).string());
  }
  if (!in) throw InputError(path.string(), std::string("cannot be read: ") + std::strerror(why));
  std::string bytes;
  char block[16384];
  while (in.read(block, sizeof block) || in.gcount() > 0) {
    bytes.append(block, static_cast<size_t>(in.gcount()));
    if (bytes.size() > max_bytes) {
      throw InputError(path.string(), "is larger than the " + std::to_string(max_bytes) + " bytes allowed here");
    }
  }
  return bytes;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

}  // namespace core
