// Plain text tables for people.
#pragma once

#include <string>
#include <vector>

#include "core/strict_json.h"

namespace agent::cli {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Cleans the cells (core/text.h): untrusted text cannot break out of its cell.
  void add_row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Lines end in a newline; columns are as wide as their widest cell, in characters.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// One line of comma-separated values; null is an empty field.
std::string csv_line(const std::vector<core::Json>& row);

// "950 ns", "12.3 us", "4.56 ms", "1.23 s" from microseconds.
std::string format_time_us(double microseconds);
// "1.84x"
std::string format_speed_up(double value);
// "1.84x [1.80, 1.88]"
std::string format_speed_up(double value, double low, double high);

}  // namespace agent::cli
