#include "verifier/cpu/problem_at_hand.h"

#include "verifier/keys.h"

namespace verifier::cpu {

void ProblemAtHand::fill(const std::vector<LentBuffer>& inputs, const core::Bindings& axes, Distribution distribution,
                         uint64_t key) const {
  Keys keys(key);
  for (size_t i = 0; i < inputs.size(); ++i) {
    fill_input(inputs[i].memory.content(), problem_.inputs[i], axes, distribution, keys.next());
  }
}

Expected ProblemAtHand::expected(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                                 Distribution distribution) {
  return {reference_.run(problem_, axes, inputs), naive_.run(problem_, axes, inputs),
          distribution == Distribution::exact};
}

}  // namespace verifier::cpu
