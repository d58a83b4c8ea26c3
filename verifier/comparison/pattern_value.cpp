// Patterns in the values of an output's wrong elements.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "verifier/comparison/pattern_sample.h"

namespace verifier::comparison {
namespace {
constexpr double kNearlyAll = 0.98;
constexpr size_t kFew = 4;           // too few wrong elements to say anything of what they have in common
constexpr size_t kMostTried = 4096;  // of the wrong elements, for each way in which they may have moved
constexpr double kSmall = 0.02;      // relative error
constexpr double kRounding = 4e-3;   // relative; bf16's and more

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

struct Wrong {
  size_t at;  // in the sample
  double got, right;
};
std::vector<Wrong> wrong_of(const ErrorSample& s) {
  std::vector<Wrong> all;
  all.reserve(s.wrong_count);
  for (size_t i = 0; i < s.got.size(); ++i) {
    if (s.wrong[i] && std::isfinite(s.got[i]) && std::isfinite(s.right[i])) all.push_back({i, s.got[i], s.right[i]});
  }
  return all;
}

// Does what stands at an element belong to the place that `source` gives for it (negative: to none)? Where an element
// and its source are meant to be alike nothing can be told from it.
template <typename Source>
bool moved(const ErrorSample& s, const WrongOutput& output, const std::vector<Wrong>& wrong, Source source) {
  const size_t step = std::max<size_t>(wrong.size() / kMostTried, 1);
  size_t tried = 0, matched = 0;
  for (size_t i = 0; i < wrong.size(); i += step) {
    const int64_t from = source(s.flat(wrong[i].at));
    if (from < 0 || from >= s.rows * s.columns) continue;
    const double right_there = output.right(from), distance = std::fabs(wrong[i].got - right_there);
    ++tried;
    matched +=
        distance <= kRounding * std::fabs(right_there) && distance <= 0.1 * std::fabs(wrong[i].got - wrong[i].right);
    if (tried == 64 && matched < 32) return false;
  }
  return tried >= kFew && tried * 4 * step >= wrong.size() &&
         static_cast<double>(matched) >= 0.95 * static_cast<double>(tried);
}

std::optional<Remark> transposed(const ErrorSample& s, const WrongOutput& output, const std::vector<Wrong>& wrong) {
  if (s.height < 2 || s.columns < 2) return std::nullopt;
  const int64_t size = s.height * s.columns;
  const auto source = [&](int64_t index) {
    const int64_t matrix = index / size * size, inside = index % size;
    return matrix + inside % s.height * s.columns + inside / s.height;
  };
  if (!moved(s, output, wrong, source)) return std::nullopt;
  return Remark{verdicts::PatternKind::transposed,
                "What stands there is the transposed result: y[i][j] holds what y[j][i] should.",
                "Swap row and column where the output is written, or where an operand is read."};
}

std::optional<Remark> shifted(const ErrorSample& s, const WrongOutput& output, const std::vector<Wrong>& wrong) {
  const auto try_all = [&](int64_t unit, const std::string& word) -> std::optional<Remark> {
    for (const int64_t steps : {1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32}) {
      if (!moved(s, output, wrong, [&](int64_t index) { return index + steps * unit; })) continue;
      const int64_t count = std::abs(steps);
      return Remark{verdicts::PatternKind::shifted,
                    "Each wrong element holds what belongs " + std::to_string(count) + " " + word +
                        (count == 1 ? "" : "s") + (steps > 0 ? " further on." : " before."),
                    count == 1 ? "An index is off by one." : "An index is off by it."};
    }
    return std::nullopt;
  };
  if (auto found = try_all(1, "element")) return found;
  return s.rows > 1 && s.columns > 1 ? try_all(s.columns, "row") : std::nullopt;
}

std::optional<Remark> zeros(const std::vector<Wrong>& wrong) {
  size_t count = 0;
  for (const Wrong& w : wrong) count += w.got == 0 && w.right != 0;
  if (static_cast<double>(count) < kNearlyAll * static_cast<double>(wrong.size())) return std::nullopt;
  return Remark{verdicts::PatternKind::zeros, "The wrong elements are zero.",
                "What was computed for them did not reach them, or was zeroed afterwards."};
}

// got / right, of the elements where that says something.
std::vector<double> ratios_of(const ErrorSample& s, const std::vector<Wrong>& wrong) {
  std::vector<double> ratios;
  for (const Wrong& w : wrong) {
    if (std::fabs(w.right) > 0.01 * s.scale) ratios.push_back(w.got / w.right);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

Remark scaled_by(double factor) {
  const auto remark = [](const std::string& what, const std::string& advice) {
    return Remark{verdicts::PatternKind::scaled, "All by the same factor: " + what + ".", advice};
  };
  const double inverse = 1 / factor;
  if (std::fabs(factor + 1) < 0.01)
    return remark("the sign of every wrong element is flipped", "Look at what is subtracted from what.");
  const std::string each = "every wrong element is ";
  if (factor > 1.5 && std::fabs(factor - std::round(factor)) < 0.01 * factor) {
    return remark(each + short_number(std::round(factor)) + " times what is right",
                  "Terms are added more than once, or a scale or division is missing.");
  }
  if (inverse > 1.5 && std::fabs(inverse - std::round(inverse)) < 0.01 * inverse) {
    return remark(each + "1/" + short_number(std::round(inverse)) + " of what is right",
                  "A scale is applied twice, or only a part of the threads, warps or splits is summed.");
  }
  return remark(each + short_number(factor) + " times what is right",
                "Look for a scale that is missing or applied twice.");
}

std::optional<Remark> scaled(const std::vector<double>& ratios) {
  if (ratios.size() < kFew) return std::nullopt;
  const double middle = ratios[ratios.size() / 2], margin = std::max(0.01 * std::fabs(middle), 1e-6);
  if (std::fabs(middle - 1) < kSmall || std::fabs(middle) < 1e-4) return std::nullopt;
  const auto near =
      std::count_if(ratios.begin(), ratios.end(), [&](double ratio) { return std::fabs(ratio - middle) <= margin; });
  if (static_cast<double>(near) < kNearlyAll * static_cast<double>(ratios.size())) return std::nullopt;
  return scaled_by(middle);
}

Remark lost(double share) {
  return {verdicts::PatternKind::lost_terms,
          "Each wrong element is what about " + short_number(100 * share) + " % of its terms sum up to.",
          "A part of the sum is lost, such as the last step of the loop over K, the partial sums of other warps, or a "
          "split that is overwritten and not added."};
}

// Sums of which terms are missing. Where the terms have one sign, each is about the same share of what is right. Where
// they are of both, what is there and what is missing know nothing of each other: the sum of got (right - got) is close
// to zero, as it is not for noise.
std::optional<Remark> lost_terms(const std::vector<Wrong>& wrong, const std::vector<double>& ratios) {
  if (ratios.size() >= 8) {
    const double low = ratios[ratios.size() / 20], middle = ratios[ratios.size() / 2],
                 high = ratios[ratios.size() - 1 - ratios.size() / 20];
    if (low > 0 && high < 1 && middle > 0.02 && high - low < 0.3 * middle) return lost(middle);
  }
  const auto count = static_cast<double>(wrong.size());
  if (count < 64) return std::nullopt;
  double squares = 0, products = 0, got_squares = 0;
  for (const Wrong& w : wrong) {
    squares += w.right * w.right;
    products += w.got * w.right;
    got_squares += w.got * w.got;
  }
  if (!(squares > 0) || !std::isfinite(squares) || !std::isfinite(got_squares)) return std::nullopt;
  const double share = products / squares, energy = got_squares / squares, chance = 1 / std::sqrt(count);
  if (share <= std::max(5 * chance, 0.02) || share >= 1) return std::nullopt;
  const double spread = std::sqrt(share * (1 - share)) * chance;
  if (1 - share < std::max(4 * spread, 1e-3)) return std::nullopt;
  if (std::fabs(energy - share) > std::max(3 * spread, 0.2 * std::min(share, 1 - share))) return std::nullopt;
  return lost(share);
}

std::optional<Remark> imprecise(const ErrorSample& s, const std::vector<Wrong>& elements) {
  double squares = 0, error_squares = 0;
  size_t small = 0;
  for (const Wrong& w : elements) {
    const double error = std::fabs(w.got - w.right);
    small += error <= kSmall * std::max(std::fabs(w.right), s.scale);
    squares += w.right * w.right;
    error_squares += error * error;
  }
  if (elements.empty() || error_squares == 0 ||
      static_cast<double>(small) < 0.99 * static_cast<double>(elements.size()))
    return std::nullopt;
  return Remark{verdicts::PatternKind::imprecise,
                "The errors are small, " + short_number(std::sqrt(error_squares / std::max(squares, 1e-300))) +
                    " of what is right.",
                "Look at precision (type of the sums, rounding between steps, approximate functions) before indexing."};
}
}  // namespace

std::optional<Remark> small_errors(const ErrorSample& sample) {
  std::vector<Wrong> all;
  for (size_t i = 0; i < sample.got.size(); ++i) {
    if (std::isfinite(sample.got[i]) && std::isfinite(sample.right[i])) {
      all.push_back({i, sample.got[i], sample.right[i]});
    }
  }
  return imprecise(sample, all);
}

std::optional<Remark> values_of(const ErrorSample& sample, const WrongOutput& output) {
  const std::vector<Wrong> wrong = wrong_of(sample);
  if (wrong.size() < kFew) return std::nullopt;
  if (auto found = zeros(wrong)) return found;
  if (auto found = imprecise(sample, wrong)) return found;
  if (auto found = transposed(sample, output, wrong)) return found;
  if (auto found = shifted(sample, output, wrong)) return found;
  const std::vector<double> ratios = ratios_of(sample, wrong);
  if (auto found = scaled(ratios)) return found;
  return lost_terms(wrong, ratios);
}

}  // namespace verifier::comparison
