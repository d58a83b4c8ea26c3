// The problem audit: verifies that the judge refuses every mutant of a problem's naive solution and accepts every
// reordering of it, before the problem is used.
#pragma once

#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/enum_names.h"
#include "sandbox/compile_pool.h"
#include "verifier/audit/variant.h"
#include "verifier/judging/judge.h"

namespace verifier::audit {

enum class AuditOutcome {
  refused,
  accepted,
  equal,         // a mutant with the same bits as naive wherever the judge looked: equivalent on this problem
  not_compiled,  // made from the source, but does not compile: the source is too unusual
};
KW_ENUM_NAMES(AuditOutcome, refused, accepted, equal, not_compiled)

struct AuditFinding {
  std::string name, what;
  Must must = Must::be_refused;
  AuditOutcome outcome = AuditOutcome::refused;
  verdicts::Verdict verdict = {};
  verdicts::Effort effort = verdicts::Effort::screen;  // at which it was decided
  bool right = false;
  std::string advice = {};  // for a wrong outcome: the observation and the remedy
};
struct AuditReport {
  std::string problem;
  std::vector<AuditFinding> findings;
  std::vector<std::string> remarks;  // further reasons why the problem fails
  std::vector<std::string> notes;    // what was not checked, and why

  int64_t count(AuditOutcome outcome) const;
  int64_t wrong() const;
  bool passed() const { return wrong() == 0 && remarks.empty(); }
};
core::Json to_json(const AuditReport& report);

// The audit's judge settings: little timing, since the audit ignores it.
judging::JudgeSettings audit_settings(bool gpu);

// All variants of a problem: mutants and reorderings, then the files `written`.
std::vector<Variant> audit_variants(const benchsuite::Problem& problem, std::vector<Variant> written);

// Judges the variants on the judge's device. Mutants are screened, and judged twice in full where the screening accepts
// them: a campaign's new best is confirmed by a second full judgement, too. Reorderings are judged in full, and so is
// the problem's equivalent in PyTorch, where it can be computed. Throws core::InputError if the problem cannot be used
// at all. Leaves another problem in the judge.
AuditReport audit(const benchsuite::Problem& problem, const std::vector<Variant>& variants, judging::Judge& judge,
                  sandbox::CompilePool& pool);

}  // namespace verifier::audit
