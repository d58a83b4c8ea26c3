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
  const size_t count = c.output.size() / core::size_bytes(c.dtype);
  const DType reference_dtype = core::is_floating(c.dtype) ? DType::f64 : c.dtype;
  Elements e;
  for (auto* values : {&e.y, &e.r, &e.b}) values->resize(count);
  for (size_t i = 0; i < count; ++i) {
    e.y[i] = load_element(c.dtype, c.output, i);
    e.r[i] = load_element(reference_dtype, c.reference, i);
    e.b[i] = load_element(c.dtype, c.naive, i);
  }
  return e;
}

bool same_class(double y, double r) {
  if (std::isnan(r)) return std::isnan(y);
  if (std::isinf(r)) return y == r;
  return std::isfinite(y);
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

std::vector<Row> rows_of(const Comparison& c, const Elements& e) {
  // Rows too short to have a scale of their own are taken together.
  constexpr size_t kLeastRow = 32, kMostRow = 4096;
  size_t length = std::min(std::max<size_t>(c.columns, 1), kMostRow);
  if (length < kLeastRow) length = std::max<size_t>(1, kLeastRow / length) * length;
  const double floor = c.partial_sum > 0 ? 2 * ulp_at(c.accumulate, c.partial_sum) : 0;
  std::vector<Row> rows;
  for (size_t begin = 0; begin < e.r.size(); begin += length) {
    Row row{begin, std::min(begin + length, e.r.size()), 0, 0};
    double sum = 0;
    for (size_t i = row.begin; i < row.end; ++i) sum += std::isfinite(e.r[i]) ? e.r[i] * e.r[i] : 0;
    row.scale = std::sqrt(sum / static_cast<double>(row.end - row.begin));
    row.unit = std::max(ulp_at(c.dtype, row.scale), floor);
    rows.push_back(row);
  }
  return rows;
}

// Keeps the largest ratio of an error to what is allowed. A NaN error counts as infinite.
class Worst {
 public:
  void add(double error, double allowed, size_t index) {
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
}  // namespace

std::variant<Match, Verdict> compare(const Comparison& c, const std::string& name, const Where& where) {
  const Elements e = load(c);
  if (c.exact || !core::is_floating(c.dtype)) return compare_exactly(c, e, name, where);
  for (size_t i = 0; i < e.y.size(); ++i) {
    // A reference beyond the output's range is infinite there, as in the naive output.
    const double expected = std::isfinite(e.r[i]) && std::isinf(e.b[i]) ? e.b[i] : e.r[i];
    if (!same_class(e.y[i], expected)) {
      return Verdict(WrongNonFinite{where, name, static_cast<int64_t>(i), expected, e.y[i]});
    }
  }
  const Tolerance tolerance = tolerance_of(c.dtype);
  const std::vector<Row> rows = rows_of(c, e);
  const auto error = [](double a, double r) { return std::isfinite(r) && std::isfinite(a) ? std::fabs(a - r) : 0; };

  // How wrong the naive output is, relative to its rows' scales.
  double naive_max = 0, naive_squares = 0, naive_total = 0;
  for (const Row& row : rows) {
    for (size_t i = row.begin; i < row.end && row.scale > 0; ++i) {
      const double relative = error(e.b[i], e.r[i]) / row.scale;
      naive_max = std::max(naive_max, relative);
      naive_squares += relative * relative;
    }
    for (size_t i = row.begin; i < row.end; ++i) naive_total += error(e.b[i], e.r[i]) * error(e.b[i], e.r[i]);
  }
  const auto count = static_cast<double>(e.y.size());
  const double naive_rms = std::sqrt(naive_squares / count);

  Worst worst, worst_element;
  int64_t wrong_elements = 0;
  double total = 0, units = 0;
  for (const Row& row : rows) {
    double squares = 0;
    const double allowed = tolerance.max * naive_max * row.scale + row.unit;
    for (size_t i = row.begin; i < row.end; ++i) {
      const double wrong = error(e.y[i], e.r[i]);
      squares += wrong * wrong;
      worst_element.add(wrong, allowed, i);
      wrong_elements += !(wrong <= allowed);
    }
    const auto length = static_cast<double>(row.end - row.begin);
    worst.add(std::sqrt(squares / length), 3 * tolerance.rms * naive_rms * row.scale + row.unit, worst_element.index());
    total += squares;
    units += row.unit * row.unit * length;
  }
  worst.add(std::sqrt(total / count), tolerance.rms * std::sqrt(naive_total / count) + std::sqrt(units / count),
            worst_element.index());
  const double ratio = std::max(worst.ratio(), worst_element.ratio());
  if (ratio <= 1) return Match{ratio};
  const size_t i = worst_element.index();
  return Verdict(WrongResult{where, name, static_cast<int64_t>(i), e.r[i], e.y[i], ratio,
                             std::max<int64_t>(wrong_elements, 1), static_cast<int64_t>(e.y.size())});
}

}  // namespace verifier
