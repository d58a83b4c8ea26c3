// Replies of models: any text gives valid proposals or clean reasons, at least one of them.
#include "agent/prompting/reply.h"

#include "agent/prompting/identity.h"
#include "benchsuite/catalogue.h"
#include "core/fuzzing.h"
#include "core/paths.h"
#include "core/text.h"

namespace {
using core::fuzzing::require;

void check(std::string_view text, const agent::prompting::Asked& asked) {
  const agent::prompting::ReplyLimits limits;
  const agent::prompting::Reply reply = agent::prompting::read_reply(text, asked, limits);
  require(!reply.proposals.empty() || !reply.reasons.empty(), "a reply has a proposal or a reason");
  require(reply.proposals.size() <= limits.proposals, "no more proposals than allowed");
  require(reply.reasons.size() <= limits.reasons, "no more reasons than allowed");
  for (const std::string& reason : reply.reasons) {
    require(reason == core::clean_line(reason, 1000), "reasons are clean and short");
  }
  for (const agent::prompting::Proposal& proposal : reply.proposals) {
    const sandbox::Solution& solution = proposal.solution;
    require(solution.source.size() <= limits.source_bytes, "no larger than allowed");
    sandbox::validate_solution(sandbox::parse_solution(solution.source, "again"), *asked.problem);
    require(agent::prompting::identity_of(solution.source) == agent::prompting::identity_of("\n " + solution.source),
            "white space makes no other solution");
    require(proposal.parent.has_value() == (proposal.edits > 0), "edits have a parent");
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const auto problems = benchsuite::load_problems(core::installed_paths().problems());
  static const benchsuite::Problem& problem = problems.at("sum_f32");
  static const std::string parent = core::read_file(problem.naive_file());
  const std::string_view text = core::fuzzing::as_text(bytes, size);
  check(text, {&problem, "cpu", {{"naive", parent}}, true});
  check(text, {&problem, "", {}, false});
  return 0;
}
