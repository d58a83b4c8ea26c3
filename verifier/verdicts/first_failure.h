// Which of a candidate's failures to name.
#pragma once

#include <optional>
#include <utility>

#include "verifier/verdicts/verdict.h"

namespace verifier::verdicts {

// The first one; but too few elements show no pattern, so that other shapes have their say before such a wrong result
// is named.
class FirstFailure {
 public:
  // Whether this settles it: no other shape need be looked at.
  bool add(Verdict verdict) {
    const auto* wrong = std::get_if<WrongResult>(&verdict);
    const bool patterned = wrong != nullptr && wrong->pattern;
    const bool settled =
        wrong == nullptr || patterned || (wrong->elements >= kFewElements && wrong->wrong_elements >= kFewWrong);
    if (!verdict_ || patterned) verdict_ = std::move(verdict);
    return settled;
  }
  const std::optional<Verdict>& verdict() const { return verdict_; }

 private:
  static constexpr int64_t kFewElements = 64, kFewWrong = 4;
  std::optional<Verdict> verdict_;
};

}  // namespace verifier::verdicts
