#include "agent/prompting/facts.h"

#include "core/text.h"

namespace agent {

ProblemText read_problem_text(const benchsuite::Problem& problem) {
  return {problem, core::read_file(problem.reference_file()), core::read_file(problem.naive_file())};
}

std::string_view name_of(Operator of) {
  switch (of) {
    case Operator::fresh:
      return "fresh";
    case Operator::improve:
      return "improve";
    case Operator::repair:
      return "repair";
    case Operator::cross:
      return "cross";
  }
  return "";
}

std::optional<Operator> operator_from_name(std::string_view name) {
  for (const Operator each : {Operator::fresh, Operator::improve, Operator::repair, Operator::cross}) {
    if (name_of(each) == name) return each;
  }
  return std::nullopt;
}

}  // namespace agent
