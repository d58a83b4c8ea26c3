#include "core/text.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "core/error.h"

namespace core {
namespace {
// Length of the valid UTF-8 sequence of two or more bytes at `text[i]`, 0 when there is none.
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
  const bool control = point < 0xA0;  // C1 controls
  const bool bidi = (point >= 0x200E && point <= 0x200F) || (point >= 0x202A && point <= 0x202E) ||
                    (point >= 0x2066 && point <= 0x2069);  // can reorder a terminal line
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return point < kLeast[length] || point > 0x10FFFF || control || bidi || surrogate ? 0 : length;
}
}  // namespace

std::string clean_text(std::string_view text, size_t max_bytes) {
  std::string out;
  out.reserve(std::min(text.size(), max_bytes));
  size_t i = 0;
  while (i < text.size() && out.size() < max_bytes) {
    const char c = text[i];
    if (c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7F)) {
      out += c;
      ++i;
    } else if (const size_t length = utf8_length(text, i); length > 0 && out.size() + length <= max_bytes) {
      out.append(text.substr(i, length));
      i += length;
    } else {
      out += '?';
      ++i;
    }
  }
  if (i < text.size()) out += "\n[" + std::to_string(text.size() - i) + " more bytes left out]";
  return out;
}

std::string read_file(const std::filesystem::path& path, size_t max_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InputError(path.string(), "is a folder, not a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(path.string(), std::string("cannot be read: ") + std::strerror(errno));
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
