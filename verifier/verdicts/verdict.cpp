#include "verifier/verdicts/verdict.h"

#include <algorithm>
#include <string_view>

#include "core/text.h"
#include "verifier/verdicts/verdict_words.h"

namespace verifier::verdicts {
namespace {
template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;
}  // namespace

void Scope::add(const benchsuite::Problem& problem, const core::Bindings& axes) {
  for (const auto& [axis, size] : axes) {
    int64_t& most = largest[axis];
    most = std::max(most, size);
  }
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const benchsuite::Tensor& tensor : *tensors) elements = std::max(elements, tensor.elements(axes));
  }
}

bool is_correct(const Verdict& verdict) { return std::holds_alternative<Correct>(verdict); }

std::string name_of(const Verdict& verdict) {
  return std::visit(Overloaded{
                        [](const Correct&) { return std::string("correct"); },
                        [](const CompileFailed& v) { return std::string(sandbox::name_of(v.reason)); },
                        [](const InvalidPlan&) { return std::string("invalid_plan"); },
                        [](const WrongResult&) { return std::string("wrong_result"); },
                        [](const NotWritten&) { return std::string("not_written"); },
                        [](const WrongNonFinite&) { return std::string("wrong_non_finite"); },
                        [](const OrderDependent&) { return std::string("order_dependent"); },
                        [](const GuardDamaged&) { return std::string("guard_damaged"); },
                        [](const InputModified&) { return std::string("input_modified"); },
                        [](const Faulted& v) { return std::string(sandbox::name_of(v.fault.kind)); },
                        [](const TimedOut&) { return std::string("timed_out"); },
                        [](const Crashed&) { return std::string("crashed"); },
                        [](const ForbiddenCall&) { return std::string("forbidden_call"); },
                        [](const MemoryLimit&) { return std::string("memory_limit"); },
                        [](const TooFast&) { return std::string("too_fast"); },
                    },
                    verdict);
}

std::string sentence_for_people(const Verdict& verdict) {
  return core::clean_line(std::visit([](const auto& v) { return what_was_seen(v); }, verdict), 2000);
}

std::string sentence_for_models(const Verdict& verdict) {
  const std::string seen = std::visit([](const auto&v) { return what_was_seen(v); }, verdict),
                    change = std::visit([](const auto&v) { return what_to_change(v); }, verdict);
  if (change.empty()) return core::clean_line(seen, 2000);
  const bool ended = !seen.empty() && std::string_view(".!?:").find(seen.back()) != std::string_view::npos;
  return core::clean_line(seen + (ended ? " " : ". ") + change, 2000);
}

}  // namespace verifier::verdicts
