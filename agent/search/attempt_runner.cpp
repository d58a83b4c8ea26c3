#include "agent/search/attempt_runner.h"

#include <utility>

namespace agent::search {

prompting::AttemptFacts facts_of(const Attempt& attempt, const sandbox::Solution& solution,
                                 const sandbox::TunableBinding& binding, const std::string& against,
                                 const prompting::DeviceText& device) {
  prompting::AttemptFacts facts;
  facts.verdict = attempt.verdict;
  facts.measurement = attempt.measurement;
  facts.against = against;
  facts.solution = solution;
  facts.binding = binding;
  facts.compile_log = attempt.compile_log;
  facts.registers = attempt.registers;
  facts.shared_bytes = attempt.shared_bytes;
  facts.spill_bytes = attempt.spill_bytes;
  facts.architecture = device.architecture;
  facts.calibration = device.calibration;
  return facts;
}

CandidatePtr add_candidate(results::archive::Recorder& archive, const sandbox::Solution& solution,
                           const std::string& name, const std::string& origin, const sandbox::TunableBinding& binding) {
  const int64_t id = archive.add_candidate(archive.add_solution({&solution, name, origin, {}}), binding);
  return std::make_shared<Candidate>(Candidate{name, id, verifier::judging::Builds(solution, binding)});
}

Attempt recorded_attempt(const results::archive::Reader& archive, int64_t id) {
  results::archive::RecordedAttempt record = archive.attempt(id);
  Attempt attempt;
  attempt.id = id;
  attempt.compile_log = std::move(record.compile_log);
  attempt.registers = record.registers;
  attempt.shared_bytes = record.shared_bytes;
  attempt.spill_bytes = record.spill_bytes;
  attempt.reused = record.reused_from.has_value();
  while (record.reused_from) record = archive.attempt(*record.reused_from);
  attempt.verdict = std::move(record.verdict);
  attempt.measurement = std::move(record.measurement);
  return attempt;
}

}  // namespace agent::search
