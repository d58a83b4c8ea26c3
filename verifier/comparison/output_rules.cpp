#include "verifier/comparison/output_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include "verifier/draws/elements.h"
#include "verifier/draws/inputs.h"

namespace verifier::comparison {
namespace {
using benchsuite::OutputRule;
using core::DType;
using draws::load_element;

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
bool below(long double a, long double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

// Orders elements; wide enough for every integer of 64 bits.
long double sort_key(DType dtype, std::span<const std::byte> bytes, size_t index) {
  if (dtype != DType::i64) return load_element(dtype, bytes, index);
  int64_t value = 0;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

// Each row in ascending order, NaN last.
std::vector<std::byte> with_sorted_rows(DType dtype, size_t columns, std::span<const std::byte> bytes) {
  std::vector<std::byte> sorted(bytes.begin(), bytes.end());
  const size_t size = core::size_bytes(dtype), elements = bytes.size() / size;
  std::vector<std::pair<long double, size_t>> row(columns);
  for (size_t begin = 0; begin + columns <= elements; begin += columns) {
    for (size_t i = 0; i < columns; ++i) row[i] = {sort_key(dtype, bytes, begin + i), begin + i};
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return below(a.first, b.first); });
    for (size_t i = 0; i < columns; ++i) {
      std::memcpy(sorted.data() + (begin + i) * size, bytes.data() + row[i].second * size, size);
    }
  }
  return sorted;
}

std::variant<Match, verdicts::Verdict> compare_in_any_order(OutputForm form, bool exact, const RuledOutput& ruled) {
  const auto columns = static_cast<size_t>(form.shape.back());
  const DType right = core::is_floating(form.dtype) ? DType::f64 : form.dtype;
  std::vector<std::vector<std::byte>> kept;
  kept.reserve(2 * ruled.neighbours.size() + 3);
  const auto sorted = [&](DType dtype, std::span<const std::byte> bytes) -> std::span<const std::byte> {
    return kept.emplace_back(with_sorted_rows(dtype, columns, bytes));
  };
  const auto sorted_run = [&](const NaiveRun& run) {
    return NaiveRun{sorted(right, run.reference), sorted(form.dtype, run.naive)};
  };
  std::vector<NaiveRun> neighbours;
  for (const NaiveRun& run : ruled.neighbours) neighbours.push_back(sorted_run(run));
  form.shape.clear();  // places in a sorted row mean nothing to a reader: no pattern
  return compare(form, exact, sorted(form.dtype, ruled.outputs[ruled.index]), sorted_run(ruled.expected),
                 naive_tiles(form.dtype, form.tiling, neighbours));
}

// A wrong element, and why.
struct Fault {
  int64_t at;
  std::string reason;
};

// Collects faults into a verdict that shows the first one.
class Faults {
 public:
  void add(int64_t at, const std::string& reason) {
    if (!first_) first_ = {at, reason};
    ++count_;
  }
  std::variant<Match, verdicts::Verdict> verdict(const OutputForm& form, std::span<const std::byte> output,
                                                 std::span<const std::byte> reference) const {
    if (!first_) return Match{0};
    const auto at = static_cast<size_t>(first_->at);
    const double got = load_element(form.dtype, output, at), right = load_element(form.dtype, reference, at);
    verdicts::WrongResult wrong{form.where, form.name,           first_->at, right, got, 1 + std::fabs(got - right),
                                count_,     form.tiling.elements};
    wrong.pattern = verdicts::Pattern{verdicts::PatternKind::rule, first_->reason};
    return verdicts::Verdict(std::move(wrong));
  }

 private:
  std::optional<Fault> first_;
  int64_t count_ = 0;
};

size_t index_of(const std::vector<benchsuite::Tensor>& tensors, const std::string& name) {
  return static_cast<size_t>(std::ranges::find(tensors, name, &benchsuite::Tensor::name) - tensors.begin());
}

std::variant<Match, verdicts::Verdict> compare_indices(const OutputForm& form, const RuledOutput& ruled) {
  const benchsuite::Tensor& tensor = ruled.problem.outputs[ruled.index];
  const benchsuite::OutputComparison& rule = tensor.comparison;
  const size_t source = index_of(ruled.problem.inputs, rule.into);
  const benchsuite::Tensor& into = ruled.problem.inputs[source];
  const size_t values = index_of(ruled.problem.outputs, rule.values);
  const benchsuite::Tensor* held = rule.values.empty() ? nullptr : &ruled.problem.outputs[values];
  const int64_t length = into.shape.back().eval(ruled.axes);
  const int64_t columns = into.shape.size() == tensor.shape.size() ? form.shape.back() : 1;
  const std::span<const std::byte> output = ruled.outputs[ruled.index];
  const auto place = [&](std::span<const std::byte> indices, int64_t at) {
    return static_cast<int64_t>(load_element(form.dtype, indices, static_cast<size_t>(at)));
  };
  const auto values_at = [&](std::span<const std::byte> indices) {
    std::vector<int64_t> places(static_cast<size_t>(form.tiling.elements));
    for (int64_t at = 0; at < form.tiling.elements; ++at) {
      const int64_t index = place(indices, at);
      places[static_cast<size_t>(at)] = index < 0 || index >= length ? -1 : at / columns * length + index;
    }
    return ruled.gather(source, places);
  };
  const std::vector<std::byte> got_values = values_at(output), right_values = values_at(ruled.expected.reference);
  Faults faults;
  std::vector<int64_t> used_by(static_cast<size_t>(length), -1);  // the last row that has this place
  for (int64_t row = 0; row * columns < form.tiling.elements; ++row) {
    std::vector<double> got, right;
    for (int64_t at = row * columns; at < (row + 1) * columns; ++at) {
      const int64_t index = place(output, at);
      right.push_back(load_element(into.dtype, right_values, static_cast<size_t>(at)));
      if (index < 0 || index >= length) {
        faults.add(at, "An index is no place in a row of " + into.name + ".");
        continue;
      }
      if (std::exchange(used_by[static_cast<size_t>(index)], row) == row) {
        faults.add(at, "An index occurs twice in a row.");
        continue;
      }
      got.push_back(load_element(into.dtype, got_values, static_cast<size_t>(at)));
      if (held != nullptr &&
          !same_number(got.back(), load_element(held->dtype, ruled.outputs[values], static_cast<size_t>(at)))) {
        faults.add(at, "An index leads to another value than " + held->name + " has at the same place.");
      } else if (!rule.in_any_order && !same_number(got.back(), right.back())) {
        faults.add(at, "An index leads to another value than the right one does.");
      }
    }
    if (!rule.in_any_order || got.size() != right.size()) continue;
    std::sort(got.begin(), got.end(), below);
    std::sort(right.begin(), right.end(), below);
    if (!std::equal(got.begin(), got.end(), right.begin(), same_number)) {
      faults.add(row * columns, "The indices of a row lead to other values than the right ones do.");
    }
  }
  return faults.verdict(form, output, ruled.expected.reference);
}

int64_t whole_number(std::span<const std::byte> bytes, int64_t at) {
  int64_t value = 0;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(at) * sizeof value, sizeof value);
  return value;
}

std::variant<Match, verdicts::Verdict> compare_ranges(const OutputForm& form, const RuledOutput& ruled) {
  const std::span<const std::byte> output = ruled.outputs[ruled.index];
  std::vector<std::byte> nearest(output.begin(), output.end());  // right numbers, for the verdict
  Faults faults;
  for (int64_t at = 0; at < form.tiling.elements; ++at) {
    const int64_t got = whole_number(output, at), range = whole_number(ruled.expected.reference, at);
    const int64_t least = static_cast<int32_t>(range), largest = range >> 32;
    if (got >= least && got <= largest) continue;
    const int64_t right = got < least ? least : largest;
    std::memcpy(nearest.data() + static_cast<size_t>(at) * sizeof right, &right, sizeof right);
    faults.add(at, "A number lies outside of the range that rounding explains.");
  }
  return faults.verdict(form, output, nearest);
}

// The nearest whole number is half a quantum away at most. Only where the unrounded one lies near the middle of two may
// an honest kernel take the other: as near as some roundings on the way move the largest of them, or as an honest sum
// errs. A scale may be a denormal, as that of a row of tiny numbers; naive's error there shows how much that costs.
constexpr double kRoundings = 8, kTimesNaive = 4;

double allowed_beyond_half(const OutputForm& form, double peak) {
  const DType kept = core::is_floating(form.accumulate) ? form.accumulate : DType::f32;
  const double rounding = std::max(kRoundings * draws::ulp_at(kept, 1), rounding_of_sums(form.reduction, kept));
  return rounding * std::max(peak, 1.0);
}

template <typename Load>
Quanta quanta_of(size_t elements, std::span<const std::byte> reference, Load load) {
  Quanta found;
  for (size_t i = 0; i < elements; ++i) {
    double right = 0;
    std::memcpy(&right, reference.data() + i * sizeof right, sizeof right);
    found.beyond = std::max(found.beyond, formulas::beyond_half(load(i), right));
    found.peak = std::max(found.peak, std::fabs(right));
  }
  return found;
}

std::variant<Match, verdicts::Verdict> compare_quanta(const OutputForm& form, const RuledOutput& ruled) {
  const std::span<const std::byte> output = ruled.outputs[ruled.index], reference = ruled.expected.reference,
                                   by_naive = ruled.expected.naive;
  const Quanta found = quanta_between(form.dtype, output, reference);
  if (const auto match = pass_as_quanta(form, found)) return *match;
  const auto beyond = [&](std::span<const std::byte> side, int64_t at) {
    const auto i = static_cast<size_t>(at);
    return formulas::beyond_half(load_element(form.dtype, side, i), load_element(DType::f64, reference, i));
  };
  const int64_t elements = form.tiling.elements, columns = form.shape.empty() ? elements : form.shape.back();
  const double always = allowed_beyond_half(form, found.peak);
  verdicts::WrongResult wrong{form.where, form.name, 0, 0, 0, 0, 0, elements};
  double ratio = 0;  // of any element
  for (int64_t row = 0; row < elements; row += columns) {
    const int64_t end = std::min(row + columns, elements);
    double naive = 0;
    for (int64_t at = row; at < end && !by_naive.empty(); ++at) naive = std::max(naive, beyond(by_naive, at));
    for (int64_t at = row; at < end; ++at) {
      const double of_this = beyond(output, at) / (always + kTimesNaive * naive);
      ratio = std::max(ratio, of_this);
      if (of_this <= 1) continue;
      ++wrong.wrong_elements;
      if (of_this > wrong.ratio) wrong.ratio = of_this, wrong.index = at;
    }
  }
  if (wrong.wrong_elements == 0) return Match{ratio};
  wrong.expected = load_element(DType::f64, reference, static_cast<size_t>(wrong.index));
  wrong.got = load_element(form.dtype, output, static_cast<size_t>(wrong.index));
  wrong.pattern = verdicts::Pattern{verdicts::PatternKind::rule, "Rounding to the nearest gives another whole number."};
  return verdicts::Verdict(std::move(wrong));
}
}  // namespace

// As bytes, which large outputs are, it takes a fraction of the time that looking at each by its dtype takes.
Quanta quanta_between(DType dtype, std::span<const std::byte> output, std::span<const std::byte> reference) {
  const size_t elements = output.size() / core::size_bytes(dtype);
  const auto as_byte = [&](size_t i) { return std::to_integer<uint8_t>(output[i]); };
  if (dtype == DType::i8)
    return quanta_of(elements, reference, [&](size_t i) { return static_cast<int8_t>(as_byte(i)); });
  if (dtype == DType::u8) return quanta_of(elements, reference, as_byte);
  return quanta_of(elements, reference, [&](size_t i) { return load_element(dtype, output, i); });
}

std::optional<Match> pass_as_quanta(const OutputForm& form, const Quanta& output) {
  const double allowed = allowed_beyond_half(form, output.peak);
  if (!(output.beyond <= allowed)) return std::nullopt;
  return Match{output.beyond / allowed};
}

std::vector<std::byte> gathered(std::span<const std::byte> content, size_t element_bytes,
                                const std::vector<int64_t>& places) {
  std::vector<std::byte> elements(places.size() * element_bytes);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    std::memcpy(elements.data() + i * element_bytes, content.data() + static_cast<size_t>(places[i]) * element_bytes,
                element_bytes);
  }
  return elements;
}

bool has_own_comparison(const benchsuite::Tensor& output) {
  return output.comparison.rule != OutputRule::elements && output.comparison.rule != OutputRule::equal;
}

std::variant<Match, verdicts::Verdict> compare_by_rule(const OutputForm& form, bool exact, const RuledOutput& ruled) {
  switch (ruled.problem.outputs[ruled.index].comparison.rule) {
    case OutputRule::indices:
      return compare_indices(form, ruled);
    case OutputRule::quanta:
      return compare_quanta(form, ruled);
    case OutputRule::any_order:
      return compare_in_any_order(form, exact, ruled);
    case OutputRule::between:
      return compare_ranges(form, ruled);
    case OutputRule::elements:
    case OutputRule::equal:
      break;
  }
  throw std::logic_error("an output of no rule of its own: " + form.name);
}

}  // namespace verifier::comparison
