// Where the wrong elements of an output lie.
#include <algorithm>
#include <utility>

#include "core/text.h"
#include "verifier/comparison/pattern_sample.h"

namespace verifier::comparison {
namespace {
constexpr double kWhole = 0.9;     // of a row or tile is wrong: all of it, but for luck
constexpr double kAllOver = 0.98;  // of all elements
constexpr double kMany = 0.3;      // of the elements of a row
constexpr size_t kLongLine = 16;
constexpr int64_t kLargestBlock = 1024, kLargestTile = 128, kSmallestTile = 4;

std::string plural(int64_t count, const std::string& word) { return count == 1 ? word : word + "s"; }
std::string of_all(size_t part, size_t whole, const std::string& word, bool all_seen) {
  return std::to_string(part) + " of " + std::to_string(whole) + " " + word + "s" + (all_seen ? "" : " looked at");
}

// How many elements an area holds of the sample, and how many of those are wrong.
struct Share {
  size_t wrong = 0, count = 0;
  double value() const { return count == 0 ? 0 : static_cast<double>(wrong) / static_cast<double>(count); }
};
template <typename Inside>
Share share_of(const ErrorSample& s, Inside inside) {
  Share share;
  for (size_t i = 0; i < s.got.size(); ++i) {
    if (!inside(s.row[i / s.column.size()] % s.height, s.column[i % s.column.size()])) continue;
    ++share.count;
    share.wrong += s.wrong[i];
  }
  return share;
}

// The first row of a matrix and the first column that hold anything wrong, and the first wrong element.
struct First {
  int64_t row, column, flat;
};
First first_wrong(const ErrorSample& s) {
  First first{s.height, s.columns, s.rows * s.columns};
  for (size_t i = 0; i < s.got.size(); ++i) {
    if (!s.wrong[i]) continue;
    first.row = std::min(first.row, s.row[i / s.column.size()] % s.height);
    first.column = std::min(first.column, s.column[i % s.column.size()]);
    first.flat = std::min(first.flat, s.flat(i));
  }
  return first;
}

// "the last column", "the last 31 of 1023 columns, past the last multiple of 32"
std::string last_of(int64_t count, int64_t total, const std::string& word) {
  if (count == 1) return "the last " + word;
  std::string text = "the last " + std::to_string(count) + " of " + std::to_string(total) + " " + word + "s";
  for (int64_t block = kLargestBlock; block >= kSmallestTile; block /= 2) {
    if (block < total && total % block == count)
      return text + ", past the last multiple of " + std::to_string(block) + ",";
  }
  return text;
}

// A tail of this length is one because it is short, or because it is what a block leaves over.
bool is_tail(int64_t count, int64_t total) {
  if (count <= 0 || count >= total) return false;
  if (count <= std::max<int64_t>(total / 8, 1)) return true;
  for (int64_t block = kSmallestTile; block <= kLargestBlock && block < total; block *= 2) {
    if (total % block == count) return true;
  }
  return false;
}

std::optional<Remark> tail_of(const ErrorSample& s) {
  const auto remark = [](const std::string& what) {
    return Remark{verdicts::PatternKind::tail, "Only " + what + " differ.",
                  "Check the bound of the partial block at the end and how its elements are masked."};
  };
  const First first = first_wrong(s);
  const int64_t rows = s.height - first.row, columns = s.columns - first.column, total = s.rows * s.columns;
  const bool wide = s.columns > 1, tall = s.height > 1;
  const std::string word = tall ? "column" : "element";
  if (wide && is_tail(columns, s.columns) &&
      share_of(s, [&](int64_t, int64_t column) { return column >= first.column; }).value() >= 0.5) {
    return remark("elements of " + last_of(columns, s.columns, word));
  }
  if (tall && is_tail(rows, s.height) &&
      share_of(s, [&](int64_t row, int64_t) { return row >= first.row; }).value() >= 0.5) {
    return remark("elements of " + last_of(rows, s.height, "row"));
  }
  // Both edges at once.
  for (int64_t block = kLargestBlock; wide && tall && block >= kSmallestTile; block /= 2) {
    const int64_t row_end = s.height / block * block, column_end = s.columns / block * block;
    if (row_end == 0 || column_end == 0) continue;
    const Share edges =
        share_of(s, [&](int64_t row, int64_t column) { return row >= row_end || column >= column_end; });
    if (edges.wrong == s.wrong_count && edges.value() >= 0.8) {
      return remark("elements past the last multiple of " + std::to_string(block) + " in rows or columns");
    }
  }
  if (wide && tall && is_tail(total - first.flat, total) && total - first.flat < s.columns &&
      s.wrong_count * 2 >= static_cast<size_t>(total - first.flat)) {
    return remark("elements of " + last_of(total - first.flat, total, "element"));
  }
  return std::nullopt;
}

// "row 3", "rows 64 to 127", "every 4th row from 3 on", "rows 1, 5, 7, ..."
std::string listed(const std::vector<int64_t>& lines, const std::string& word) {
  if (lines.size() == 1) return word + " " + std::to_string(lines.front());
  const int64_t stride = lines[1] - lines[0];
  bool even = true;
  for (size_t i = 1; i < lines.size(); ++i) even = even && lines[i] - lines[i - 1] == stride;
  if (even && stride == 1) {
    return word + "s " + std::to_string(lines.front()) + " to " + std::to_string(lines.back());
  }
  if (even && lines.size() > 2) {
    return word + "s " + std::to_string(lines[0]) + ", " + std::to_string(lines[1]) + ", ... " +
           std::to_string(lines.back()) + ", every " + std::to_string(stride) + " " + plural(stride, word);
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min<size_t>(lines.size(), 6); ++i) parts.push_back(std::to_string(lines[i]));
  return word + "s " + core::join(parts, ", ") + (lines.size() > 6 ? ", ..." : "");
}

// The lines (`at` gives an element's) of which this share at least is wrong; nullopt unless every other line is right.
template <typename At>
std::optional<std::vector<int64_t>> wrong_lines(const ErrorSample& s, const std::vector<int64_t>& lines, double share,
                                                At at) {
  std::vector<size_t> wrong(lines.size());
  for (size_t i = 0; i < s.got.size(); ++i) wrong[at(i)] += s.wrong[i];
  const double least = share * static_cast<double>(s.got.size()) / static_cast<double>(lines.size());
  std::vector<int64_t> found;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (wrong[i] == 0) continue;
    if (static_cast<double>(wrong[i]) < least) return std::nullopt;
    found.push_back(lines[i]);
  }
  if (found.size() == lines.size()) return std::nullopt;
  return found;
}

// Rows or columns that are wrong as a whole, or in `share` of their elements.
std::optional<Remark> lines_of(const ErrorSample& s, double share) {
  const bool whole = share >= kWhole;
  // So many elements of a line do not stay right by chance.
  const size_t least = whole ? 2 : kLongLine;
  const auto sentence = [&](const std::vector<int64_t>& found, size_t all, const std::string& word) {
    return (whole ? "Whole " + word + "s differ" : "Only some " + word + "s differ, in many of their elements,") +
           " and the others are right: " + listed(found, word) + " (" + of_all(found.size(), all, word, s.whole()) +
           ").";
  };
  if (s.row.size() > 1 && s.column.size() >= least) {
    if (const auto rows = wrong_lines(s, s.row, share, [&](size_t i) { return i / s.column.size(); })) {
      return Remark{verdicts::PatternKind::rows, sentence(*rows, s.row.size(), "row"),
                    "Look at what each row alone has, such as its index, maximum or sum."};
    }
  }
  if (s.column.size() > 1 && s.row.size() >= least) {
    if (const auto columns = wrong_lines(s, s.column, share, [&](size_t i) { return i % s.column.size(); })) {
      return Remark{verdicts::PatternKind::columns, sentence(*columns, s.column.size(), "column"),
                    "Look at which thread or lane computes them, and at vector loads and stores."};
    }
  }
  return std::nullopt;
}

// Ordinal numbers of the tiles that sampled lines lie in; `length`: lines of a matrix, where tiles begin anew.
std::vector<size_t> tiles_along(const std::vector<int64_t>& lines, int64_t length, int64_t tile) {
  std::vector<size_t> number(lines.size());
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto place = [&](int64_t line) { return std::pair(line / length, line % length / tile); };
    number[i] = number[i - 1] + (place(lines[i]) != place(lines[i - 1]));
  }
  return number;
}

std::optional<Remark> tiles_of_size(const ErrorSample& s, int64_t tile) {
  const bool flat = s.rows == 1;
  const std::vector<size_t> down = tiles_along(s.row, s.height, tile), across = tiles_along(s.column, s.columns, tile);
  const size_t wide = across.back() + 1;
  std::vector<Share> shares((down.back() + 1) * wide);
  for (size_t i = 0; i < s.got.size(); ++i) {
    Share& share = shares[down[i / s.column.size()] * wide + across[i % s.column.size()]];
    ++share.count;
    share.wrong += s.wrong[i];
  }
  const auto full = static_cast<size_t>(flat ? tile : tile * tile);
  size_t wrong = 0;
  bool any_full = false;
  for (const Share& share : shares) {
    if (share.wrong == 0) continue;
    if (share.value() < kWhole) return std::nullopt;
    ++wrong;
    any_full = any_full || share.count == full;
  }
  if (!any_full || wrong == shares.size()) return std::nullopt;
  const std::string size = std::to_string(tile), word = flat ? "block" : "tile";
  return Remark{verdicts::PatternKind::tiles,
                "Whole aligned " + word + "s of " + size + (flat ? " elements" : "x" + size) +
                    " differ and the others are right (" + of_all(wrong, shares.size(), word, s.whole()) + ").",
                "Look at which block or warp owns them."};
}
}  // namespace

std::optional<Remark> place_of(const ErrorSample& sample) {
  if (static_cast<double>(sample.wrong_count) >= kAllOver * static_cast<double>(sample.got.size())) return std::nullopt;
  if (auto tail = tail_of(sample)) return tail;
  if (auto lines = lines_of(sample, kWhole)) return lines;
  for (int64_t tile = kLargestTile; tile >= kSmallestTile; tile /= 2) {
    if (auto tiles = tiles_of_size(sample, tile)) return tiles;
  }
  return lines_of(sample, kMany);
}

}  // namespace verifier::comparison
