#include "agent/actions/executing.h"

#include <utility>

#include "agent/campaign/devices.h"
#include "agent/campaign/judges/host_check.h"
#include "core/error.h"

namespace agent::actions {

verifier::verdicts::HostCheck execute_on_cpu(const core::Paths& paths, const benchsuite::Problem& problem,
                                             const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                                             const std::string& where) {
  constexpr double kMost_s = 120;
  campaign::judges::HostCheck host(campaign::judged_device(paths, benchsuite::Backend::cpu, 0),
                                   campaign::cpu_worker(paths), kMost_s);
  campaign::judges::HostCheck::Finding finding = host.begin(problem, solution, binding).get();
  if (finding.fault) throw core::InputError(where, sentence_for_people(*finding.fault));
  return std::move(finding.record);
}

std::string execution_words(const verifier::verdicts::HostCheck& execution) {
  if (execution.passed && !execution.why_not.empty()) {
    return "It was executed on the cpu device at its test shapes: right, without a race or an access out of bounds. "
           "Larger shapes take too long there: " +
           execution.why_not;
  }
  if (execution.passed) {
    return "It was executed on the cpu device: right at its shapes, without a race or an access out of bounds.";
  }
  return "The cpu device could not execute all of it, so nothing is known about races: " + execution.why_not;
}

}  // namespace agent::actions
