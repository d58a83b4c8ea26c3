#include "verifier/comparison/pattern.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "verifier/comparison/pattern_sample.h"

namespace verifier::comparison {
namespace {
constexpr int64_t kMostElements = 1 << 20;
constexpr int64_t kMostColumns = 1 << 16;
constexpr int64_t kAlignment = 128;  // bands begin at multiples of it, as tiles do

// At most `most` of the numbers below `total`.
std::vector<int64_t> bands(int64_t total, int64_t most, int64_t around) {
  std::vector<int64_t> taken;
  const auto add = [&](int64_t begin, int64_t count) {
    const int64_t from = std::max(begin, taken.empty() ? 0 : taken.back() + 1);
    for (int64_t i = from; i < std::min(begin + count, total); ++i) taken.push_back(i);
  };
  if (total <= most) {
    add(0, total);
    return taken;
  }
  const int64_t part = std::max<int64_t>(most / 3, 1);
  add(0, part);
  const int64_t middle = std::max<int64_t>(around - part / 2, 0);
  const int64_t step = std::min(kAlignment, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(part))));
  add(middle / step * step, part);
  add(total - part, part);
  return taken;
}
}  // namespace

ErrorSample sample_of(const WrongOutput& output) {
  ErrorSample sample;
  if (!output.shape.empty()) sample.columns = output.shape.back();
  if (output.shape.size() >= 2) sample.height = output.shape[output.shape.size() - 2];
  for (size_t d = 0; d + 1 < output.shape.size(); ++d) sample.rows *= output.shape[d];
  if (sample.rows < 1 || sample.columns < 1) return sample;
  sample.column =
      bands(sample.columns, std::max(kMostColumns, kMostElements / sample.rows), output.worst % sample.columns);
  sample.row = bands(sample.rows, std::max<int64_t>(kMostElements / static_cast<int64_t>(sample.column.size()), 3),
                     output.worst / sample.columns);
  const size_t count = sample.row.size() * sample.column.size();
  sample.got.reserve(count);
  sample.right.reserve(count);
  sample.wrong.reserve(count);
  double squares = 0;
  for (const int64_t row : sample.row) {
    for (const int64_t column : sample.column) {
      const int64_t index = row * sample.columns + column;
      sample.got.push_back(output.got(index));
      sample.right.push_back(output.right(index));
      sample.wrong.push_back(output.wrong(index));
      if (sample.wrong.back()) ++sample.wrong_count;
      if (std::isfinite(sample.right.back())) squares += sample.right.back() * sample.right.back();
    }
  }
  sample.scale = std::sqrt(squares / static_cast<double>(count));
  return sample;
}

std::optional<verdicts::Pattern> find_pattern(const WrongOutput& output) {
  const ErrorSample sample = sample_of(output);
  const auto as_pattern = [](const Remark& remark) {
    return verdicts::Pattern{remark.kind, remark.sentence + " " + remark.advice};
  };
  if (sample.got.empty()) return std::nullopt;
  if (sample.wrong_count == 0) {
    const auto small = small_errors(sample);
    return small ? std::optional(as_pattern(*small)) : std::nullopt;
  }
  const std::optional<Remark> place = place_of(sample), values = values_of(sample, output);
  if (place && values) {
    const bool moved =
        values->kind == verdicts::PatternKind::transposed || values->kind == verdicts::PatternKind::shifted;
    // Small errors in one place only are no matter of precision.
    const bool misleads = values->kind == verdicts::PatternKind::imprecise;
    return verdicts::Pattern{
        moved ? values->kind : place->kind,
        place->sentence + " " + place->advice + " " + values->sentence + (misleads ? "" : " " + values->advice)};
  }
  if (place) return as_pattern(*place);
  if (values) return as_pattern(*values);
  if (sample.wrong_count < 4 || sample.wrong_count * 2 > sample.got.size()) return std::nullopt;
  return verdicts::Pattern{
      verdicts::PatternKind::scattered,
      "The wrong elements are scattered without order. Where threads share data, look for a race, such as a missing "
      "__syncthreads(), shared memory overwritten too early, or a sum without atomics; elsewhere for a condition on "
      "the data that is wrong."};
}

}  // namespace verifier::comparison
