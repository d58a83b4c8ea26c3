// The problem audit: proves that the judge refuses every mutant of a problem's naive solution and accepts every
// reordering of it, before the problem is used.
#pragma once

#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/compile_pool.h"
#include "verifier/audit/variant.h"
#include "verifier/judging/judge.h"

namespace verifier::audit {

enum class AuditOutcome {
  refused,
  accepted,
  equal,         // a mutant with the same bits as naive wherever the judge looked: none, on this problem
  not_compiled,  // made from the source, which is too unusual for it
};
std::string_view name_of(AuditOutcome outcome);

struct AuditFinding {
  std::string name, what;
  Must must = Must::be_refused;
  AuditOutcome outcome = AuditOutcome::refused;
  verdicts::Verdict verdict = {};
  verdicts::Effort effort = verdicts::Effort::screen;  // with which it was found
  bool right = false;
  std::string advice = {};  // where it is wrong: what was seen and what to change
};
struct AuditReport {
  std::string problem;
  std::vector<AuditFinding> findings;
  std::vector<std::string> remarks;  // further reasons why the problem does not pass

  int64_t count(AuditOutcome outcome) const;
  int64_t wrong() const;
  bool passed() const { return wrong() == 0 && remarks.empty(); }
};
core::Json to_json(const AuditReport& report);

// Little time is spent on timing: the audit does not use it.
judging::JudgeSettings audit_settings(bool gpu);

// Every variant of a problem: the mutants and reorderings that can be made, then the files `written`.
std::vector<Variant> audit_variants(const benchsuite::Problem& problem, std::vector<Variant> written);

// Judges the variants on the judge's device. Mutants are screened, and judged in full where the screening accepts them;
// reorderings are judged in full. Throws core::InputError when the problem cannot be used at all. Leaves the judge with
// another problem.
AuditReport audit(const benchsuite::Problem& problem, const std::vector<Variant>& variants, judging::Judge& judge,
                  sandbox::CompilePool& pool);

}  // namespace verifier::audit
