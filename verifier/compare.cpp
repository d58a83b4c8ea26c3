#include "verifier/compare.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "verifier/elements.h"

namespace verifier {
namespace {
using core::DType;

struct Tolerance {
  double rms, max;
};
Tolerance tolerance_of(DType dtype) {
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16;
  return narrow ? Tolerance{2, 4} : Tolerance{4, 8};
}

struct Elements {
  std::vector<double> y, r, b;
};

Elements load(const Comparison& c) {
  const DType reference_dtype = core::is_floating(c.dtype) ? DType::f64 : c.dtype;
  return {load_elements(c.dtype, c.output), load_elements(reference_dtype, c.expected.reference),
          load_elements(c.dtype, c.expected.naive)};
}

// May a candidate give y where r is right and the naive solution gives b, as far as NaN and infinity go?
bool right_class(double y, double r, double b, double largest) {
  if (std::isnan(r)) return std::isnan(y);
  if (std::isinf(r)) return y == r;
  if (std::fabs(r) > largest * 1.01) return std::isinf(y) && std::signbit(y) == std::signbit(r);
  if (std::isfinite(y)) return true;
  // Either side of the largest number is right close to it, and where the naive solution itself overflows.
  if (std::fabs(r) > largest * 0.99) return std::isinf(y) && std::signbit(y) == std::signbit(r);
  return std::isnan(b) ? std::isnan(y) : y == b;
}

// Bit for bit, zeros of either sign being equal.
std::variant<Match, Verdict> compare_exactly(const Comparison& c, const Elements& e, const std::string& name,
                                             const Where& where) {
  WrongResult wrong{where, name, 0, 0, 0, 0, 0, static_cast<int64_t>(e.y.size())};
  for (size_t i = 0; i < e.y.size(); ++i) {
    if (e.y[i] == e.r[i] || (std::isnan(e.y[i]) && std::isnan(e.r[i]))) continue;
    if (wrong.wrong_elements++ > 0) continue;
    wrong.index = static_cast<int64_t>(i);
    wrong.expected = e.r[i];
    wrong.got = e.y[i];
    const double unit = std::max(ulp_at(c.dtype, e.r[i]), core::is_floating(c.dtype) ? 0.0 : 1.0);
    wrong.ratio = 1 + std::fabs(e.y[i] - e.r[i]) / unit;
  }
  if (wrong.wrong_elements > 0) return Verdict(wrong);
  return Match{0};
}

struct Row {
  size_t begin, end;
  double scale;  // RMS of the reference
  double unit;   // absolute error that is always allowed
};

// The naive error of so few elements may be small by luck.
constexpr size_t kFewElements = 64;
constexpr double kUlpsForFew = 4;

Row make_row(const Comparison& c, const Elements& e, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += std::isfinite(e.r[i]) ? e.r[i] * e.r[i] : 0;
  const double scale = std::sqrt(sum / static_cast<double>(end - begin));
  const double ulps = e.r.size() < kFewElements ? kUlpsForFew : 1;
  return {begin, end, scale, std::max(ulps * ulp_at(c.dtype, scale), honest_error(c.reduction, c.accumulate, scale))};
}

// Short rows, which have no scale of their own, are taken together; long ones are cut into equal tiles.
std::vector<Row> rows_of(const Comparison& c, const Elements& e) {
  constexpr size_t kLeastRow = 32, kMostRow = 4096;
  const size_t columns = std::max<size_t>(c.columns, 1), elements = e.r.size();
  const size_t length = columns < kLeastRow ? kLeastRow / columns * columns : columns;
  const size_t tiles = (length + kMostRow - 1) / kMostRow;
  std::vector<Row> rows;
  for (size_t begin = 0; begin < elements; begin += length) {
    for (size_t tile = 0; tile < tiles; ++tile) {
      const size_t from = begin + length * tile / tiles, to = std::min(begin + length * (tile + 1) / tiles, elements);
      if (from < to) rows.push_back(make_row(c, e, from, to));
    }
  }
  return rows;
}

// Keeps the largest ratio of an error to what is allowed. A NaN error counts as infinite.
class Worst {
 public:
  void add(double error, double allowed, size_t index = 0) {
    const double ratio = error == 0 ? 0 : error / allowed;
    if (!(ratio <= ratio_)) {
      ratio_ = std::isnan(ratio) ? INFINITY : ratio;
      index_ = index;
    }
  }
  double ratio() const { return ratio_; }
  size_t index() const { return index_; }

 private:
  double ratio_ = 0;
  size_t index_ = 0;
};

// The error of the naive output or of the candidate's; what is not finite has been compared by its class.
double error_of(double value, double r) { return std::isfinite(r) && std::isfinite(value) ? std::fabs(value - r) : 0; }

// How wrong the naive output is, with each row's error relative to its scale, and over all.
struct NaiveError {
  double max = 0, rms = 0;  // relative to the rows' scales
  double absolute_rms = 0;
};
NaiveError naive_error(const std::vector<Row>& rows, const std::vector<double>& b, const std::vector<double>& r) {
  NaiveError naive;
  double relative_squares = 0, squares = 0;
  for (const Row& row : rows) {
    for (size_t i = row.begin; i < row.end; ++i) {
      const double wrong = error_of(b[i], r[i]);
      squares += wrong * wrong;
      if (row.scale == 0) continue;
      const double relative = wrong / row.scale;
      naive.max = std::max(naive.max, relative);
      relative_squares += relative * relative;
    }
  }
  const auto count = static_cast<double>(r.size());
  naive.rms = std::sqrt(relative_squares / count);
  naive.absolute_rms = std::sqrt(squares / count);
  return naive;
}

NaiveError largest_naive_error(const Comparison& c, const std::vector<Row>& rows, const Elements& e) {
  NaiveError largest = naive_error(rows, e.b, e.r);
  for (const NaiveRun& run : c.neighbours) {
    const NaiveError one =
        naive_error(rows, load_elements(c.dtype, run.naive), load_elements(DType::f64, run.reference));
    largest = {std::max(largest.max, one.max), std::max(largest.rms, one.rms),
               std::max(largest.absolute_rms, one.absolute_rms)};
  }
  return largest;
}

std::variant<Match, Verdict> compare_errors(const Comparison& c, const Elements& e, const std::string& name,
                                            const Where& where) {
  const Tolerance tolerance = tolerance_of(c.dtype);
  const std::vector<Row> rows = rows_of(c, e);
  const NaiveError naive = largest_naive_error(c, rows, e);
  Worst worst, worst_element;
  int64_t wrong_elements = 0;
  double total = 0, units = 0;
  for (const Row& row : rows) {
    double squares = 0;
    const double allowed = tolerance.max * naive.max * row.scale + row.unit;
    for (size_t i = row.begin; i < row.end; ++i) {
      const double wrong = error_of(e.y[i], e.r[i]);
      squares += wrong * wrong;
      worst_element.add(wrong, allowed, i);
      wrong_elements += !(wrong <= allowed);
    }
    const auto length = static_cast<double>(row.end - row.begin);
    worst.add(std::sqrt(squares / length), 3 * tolerance.rms * naive.rms * row.scale + row.unit);
    total += squares;
    units += row.unit * row.unit * length;
  }
  const auto count = static_cast<double>(e.y.size());
  worst.add(std::sqrt(total / count), tolerance.rms * naive.absolute_rms + std::sqrt(units / count));
  const double ratio = std::max(worst.ratio(), worst_element.ratio());
  if (ratio <= 1) return Match{ratio};
  const size_t i = worst_element.index();
  return Verdict(WrongResult{where, name, static_cast<int64_t>(i), e.r[i], e.y[i], ratio,
                             std::max<int64_t>(wrong_elements, 1), static_cast<int64_t>(e.y.size())});
}
}  // namespace

std::variant<Match, Verdict> compare(const Comparison& c, const std::string& name, const Where& where) {
  const Elements e = load(c);
  if (c.exact || !core::is_floating(c.dtype)) return compare_exactly(c, e, name, where);
  const double largest = largest_of(c.dtype);
  for (size_t i = 0; i < e.y.size(); ++i) {
    if (!right_class(e.y[i], e.r[i], e.b[i], largest)) {
      return Verdict(WrongNonFinite{where, name, static_cast<int64_t>(i), e.r[i], e.y[i]});
    }
  }
  return compare_errors(c, e, name, where);
}

}  // namespace verifier
