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

// Rounding to a coarse grid turns the last bit of a sum into a whole step.
constexpr int64_t kMostQuanta = 2, kUsualQuanta = 1;
constexpr double kUnusualShare = 0.001;
// But hardly any sum lies so close to a half that its last bits decide: who cuts instead of rounding is one off in half
// of the elements. Of an ordinary draw this share may be off, and four times as many as the naive solution's are.
constexpr double kOffShare = 0.05, kTimesNaive = 4;
constexpr int64_t kEnoughForAShare = 1000;
// Where a row's scale happens to be a power of two, a twelfth of its elements lie at a half.
constexpr int64_t kRowsForAShare = 4;

template <typename Byte>
Quanta quanta_of_bytes(std::span<const std::byte> one, std::span<const std::byte> other) {
  const auto* a = reinterpret_cast<const Byte*>(one.data());
  const auto* b = reinterpret_cast<const Byte*>(other.data());
  int64_t differing = 0;
  int largest = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    differing += a[i] != b[i] ? 1 : 0;
    largest = std::max(largest, std::abs(int{a[i]} - int{b[i]}));
  }
  return {differing, largest};
}

// A fault of an ordinary draw of many elements: more of them are off than rounding explains.
bool is_often_off(const OutputForm& form, int64_t differing, const std::optional<Quanta>& naive) {
  const bool ordinary = form.where.distribution == draws::name_of(draws::Distribution::ordinary);
  if (!ordinary || !naive || form.tiling.elements < kEnoughForAShare) return false;
  if (form.shape.empty() || form.tiling.elements < kRowsForAShare * form.shape.back()) return false;
  const double share = kOffShare * static_cast<double>(form.tiling.elements);
  return static_cast<double>(differing) > share + kTimesNaive * static_cast<double>(naive->differing);
}

std::variant<Match, verdicts::Verdict> compare_quanta(const OutputForm& form, const RuledOutput& ruled) {
  const std::span<const std::byte> output = ruled.outputs[ruled.index], reference = ruled.expected.reference,
                                   by_naive = ruled.expected.naive;
  const Quanta found = quanta_between(form.dtype, output, reference);
  std::optional<Quanta> naive;
  if (!by_naive.empty()) naive = quanta_between(form.dtype, by_naive, reference);
  if (pass_as_quanta(form, found, naive)) return Match{0};
  if (is_often_off(form, found.differing, naive)) {
    Faults off;
    for (int64_t i = 0; i < form.tiling.elements; ++i) {
      const auto at = static_cast<size_t>(i);
      if (load_element(form.dtype, output, at) == load_element(form.dtype, reference, at)) continue;
      off.add(i, "Many elements are one quantum off, of which rounding to the nearest explains few.");
    }
    return off.verdict(form, output, reference);
  }
  Faults wrong, unusual;
  int64_t unusual_count = 0;
  for (int64_t i = 0; i < form.tiling.elements; ++i) {
    const auto at = static_cast<size_t>(i);
    const double off = std::fabs(load_element(form.dtype, output, at) - load_element(form.dtype, reference, at));
    if (off > static_cast<double>(kMostQuanta)) wrong.add(i, "An element is more than two quanta off.");
    if (off <= static_cast<double>(kUsualQuanta)) continue;
    unusual.add(i, "More than one element in a thousand is two quanta off.");
    ++unusual_count;
  }
  const bool many = static_cast<double>(unusual_count) > kUnusualShare * static_cast<double>(form.tiling.elements);
  auto result = wrong.verdict(form, output, reference);
  if (std::holds_alternative<verdicts::Verdict>(result) || !many) return result;
  return unusual.verdict(form, output, reference);
}
}  // namespace

// As bytes, which large outputs are, it takes a tenth of the time that looking at each as a number takes.
Quanta quanta_between(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b) {
  if (dtype == DType::i8) return quanta_of_bytes<int8_t>(a, b);
  if (dtype == DType::u8) return quanta_of_bytes<uint8_t>(a, b);
  Quanta found;
  for (size_t i = 0; i < a.size() / core::size_bytes(dtype); ++i) {
    const double off = std::fabs(load_element(dtype, a, i) - load_element(dtype, b, i));
    found.differing += off != 0 ? 1 : 0;
    found.largest = std::max(found.largest, static_cast<int64_t>(off));
  }
  return found;
}

bool pass_as_quanta(const OutputForm& form, const Quanta& output, const std::optional<Quanta>& naive) {
  return output.largest <= kUsualQuanta && !is_often_off(form, output.differing, naive);
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
