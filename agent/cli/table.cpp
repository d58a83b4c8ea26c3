#include "agent/cli/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace agent::cli {
namespace {
// Counts characters, not bytes (UTF-8 continuation bytes do not count).
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}
}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = core::clean_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = width_of(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, width_of(row[c]));
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](const auto& cell_at) {
    std::string line;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_at(c);
      const std::string padding(widths[c] - width_of(cell), ' ');
      line += c > 0 ? "  " : "";
      line += columns_[c].align == Align::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& row : rows_) add_line([&](size_t c) -> const std::string& { return row[c]; });
  return text;
}

std::string format_time_us(double us) {
  if (us < 1) return fmt::format("{:.0f} ns", us * 1e3);
  if (us < 1e3) return fmt::format("{:.1f} us", us);
  if (us < 1e6) return fmt::format("{:.2f} ms", us / 1e3);
  return fmt::format("{:.2f} s", us / 1e6);
}

std::string format_speed_up(double value) { return fmt::format("{:.2f}x", value); }

std::string format_speed_up(double value, double low, double high) {
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", value, low, high);
}

namespace {
// RFC 4180, but lines end in LF.
std::string csv_field(const core::Json& value) {
  const std::string text = value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}
}  // namespace

std::string csv_line(const std::vector<core::Json>& row) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) line += (i > 0 ? "," : "") + csv_field(row[i]);
  return line + "\n";
}

}  // namespace agent::cli
