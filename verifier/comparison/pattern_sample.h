// As many elements of a wrong output as can be looked at in a moment: all of a small one, otherwise bands at its
// beginning, around its worst element and at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verifier/comparison/pattern.h"

namespace verifier::comparison {

struct ErrorSample {
  int64_t rows = 1, columns = 1;     // of the output, all matrices below each other
  int64_t height = 1;                // rows of one matrix
  std::vector<int64_t> row, column;  // that were taken, ascending
  std::vector<double> got, right;    // row.size() x column.size()
  std::vector<bool> wrong;
  size_t wrong_count = 0;
  double scale = 0;  // RMS of what is right

  bool whole() const { return got.size() == static_cast<size_t>(rows * columns); }
  int64_t flat(size_t i) const { return row[i / column.size()] * columns + column[i % column.size()]; }
};
ErrorSample sample_of(const WrongOutput& output);

struct Remark {
  verdicts::PatternKind kind;
  std::string sentence;  // what is seen
  std::string advice;    // where to look
};
// Where the wrong elements lie; nullopt: all over, or in no order.
std::optional<Remark> place_of(const ErrorSample& sample);
// The error of their values.
std::optional<Remark> values_of(const ErrorSample& sample, const WrongOutput& output);
// Whether all are off by little.
std::optional<Remark> small_errors(const ErrorSample& sample);

}  // namespace verifier::comparison
