#include "verifier/audit/audit.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "sandbox/naive_solution.h"
#include "verifier/audit/bitwise.h"
#include "verifier/audit/inputs_check.h"
#include "verifier/audit/mutants.h"
#include "verifier/audit/reorderings.h"

namespace verifier::audit {
namespace {
using core::Json;
constexpr const char* kEquivalent = "equivalents.pytorch";
constexpr double kNearly = 2;  // times naive's own error

class Auditor {
 public:
  Auditor(const benchsuite::Problem& problem, judging::Judge& judge, sandbox::CompilePool& pool)
      : judge_(judge), pool_(pool) {
    report_.problem = problem.name;
  }

  AuditReport run(const benchsuite::Problem& problem, const std::vector<Variant>& variants) {
    judge_.use_problem(problem, pool_);
    if (const auto drawer = judge_.open_inputs()) {
      report_.remarks = check_inputs(problem, judge_.backend(), *drawer);
    }
    const verdicts::Verdict naive = judge_.judge(judge_.naive(), judge_.naive(), verdicts::Effort::full).verdict;
    naive_ratio_ = ratio_of(naive);
    if (!verdicts::is_correct(naive)) {
      report_.remarks.push_back("naive.cu itself is refused: " + verdicts::sentence_for_people(naive));
    }
    start(variants);
    for (size_t i = 0; i < variants.size(); ++i) report_.findings.push_back(first_look(variants[i], builds_[i]));
    std::optional<AuditFinding> equivalent = judge_equivalent(problem);
    look_for_equal(problem, variants);
    for (size_t i = 0; i < variants.size(); ++i) conclude(variants[i], report_.findings[i]);
    if (equivalent) report_.findings.push_back(std::move(*equivalent));
    const int64_t mutants = std::count_if(variants.begin(), variants.end(),
                                          [](const Variant& variant) { return variant.must == Must::be_refused; });
    if (report_.count(AuditOutcome::equal) * 3 > mutants) {
      report_.remarks.push_back(std::to_string(report_.count(AuditOutcome::equal)) + " of " + std::to_string(mutants) +
                                " mutants give the same bits as naive: the inputs do not distinguish enough; draw them "
                                "from a wider range, or test larger shapes");
    }
    return std::move(report_);
  }

 private:
  // Variants of one body share their builds. Compiles ahead all builds that are certainly needed.
  void start(const std::vector<Variant>& variants) {
    const judging::Builds& naive = judge_.naive();
    std::map<std::pair<std::string, sandbox::TunableBinding>, const judging::Builds*> known{
        {{body_of(naive.solution()), naive.binding()}, &naive}};
    for (const Variant& variant : variants) {
      if (naive.in_pytorch() && !variant.from_file) {
        builds_.push_back(judging::Builds::in_pytorch(variant.solution));
        continue;
      }
      const auto [same, first] = known.try_emplace({variant.body, sandbox::default_binding(variant.solution)}, nullptr);
      if (first) {
        same->second = &builds_.emplace_back(variant.solution, same->first.second);
      } else {
        builds_.emplace_back(variant.solution, *same->second);
      }
      builds_.back().start(pool_, first_effort(variant));
    }
  }

  static verdicts::Effort first_effort(const Variant& variant) {
    return variant.must == Must::be_refused ? verdicts::Effort::screen : verdicts::Effort::full;
  }

  AuditFinding first_look(const Variant& variant, judging::Builds& builds) {
    AuditFinding finding{variant.name, variant.what, variant.must};
    // A mutant is accepted as a new best is: by two full judgements, with their own draws.
    const int judgements = variant.must == Must::be_refused ? 3 : 1;
    for (int i = 0; i < judgements; ++i) {
      const verdicts::Effort effort = i == 0 ? first_effort(variant) : verdicts::Effort::full;
      finding.effort = effort;
      if (const sandbox::Rejected* rejected = builds.wait(pool_, effort)) {
        finding.verdict = verdicts::CompileFailed{rejected->reason, rejected->message, rejected->line};
        finding.outcome = variant.from_file ? AuditOutcome::refused : AuditOutcome::not_compiled;
        break;
      }
      finding.verdict = judge_.judge(builds, judge_.naive(), effort).verdict;
      finding.outcome = verdicts::is_correct(finding.verdict) ? AuditOutcome::accepted : AuditOutcome::refused;
      if (finding.outcome == AuditOutcome::refused) break;
    }
    return finding;
  }

  // nullopt: the problem has none, or a note says why it is not judged.
  std::optional<AuditFinding> judge_equivalent(const benchsuite::Problem& problem) {
    if (problem.equivalents.pytorch.empty()) return std::nullopt;
    auto judged = judge_.judge_equivalent();
    if (const auto* why_not = std::get_if<std::string>(&judged)) {
      report_.notes.push_back(std::string(kEquivalent) + " is not checked: " + *why_not);
      return std::nullopt;
    }
    AuditFinding finding{kEquivalent, problem.equivalents.pytorch, Must::be_accepted};
    finding.verdict = std::get<verdicts::Judgement>(judged).verdict;
    finding.effort = verdicts::Effort::full;
    finding.right = verdicts::is_correct(finding.verdict);
    finding.outcome = finding.right ? AuditOutcome::accepted : AuditOutcome::refused;
    if (!finding.right) finding.advice = seen(finding) + "; correct it in problem.json, or what the problem says";
    return finding;
  }

  // Finds the accepted mutants that compute the same as naive.
  void look_for_equal(const benchsuite::Problem& problem, const std::vector<Variant>& variants) {
    std::vector<size_t> doubtful;
    for (size_t i = 0; i < variants.size(); ++i) {
      AuditFinding& finding = report_.findings[i];
      if (variants[i].must != Must::be_refused || finding.outcome != AuditOutcome::accepted) continue;
      if (variants[i].equality == Equality::nearly && ratio_of(finding.verdict) <= kNearly * naive_ratio_) {
        finding.outcome = AuditOutcome::equal;
      } else {
        doubtful.push_back(i);
      }
    }
    if (doubtful.empty()) return;
    judge_.use_problem(bitwise_problem(problem), pool_);
    for (const size_t i : doubtful) {
      const verdicts::Judgement judgement = judge_.judge(builds_[i], judge_.naive(), verdicts::Effort::full);
      if (verdicts::is_correct(judgement.verdict)) report_.findings[i].outcome = AuditOutcome::equal;
    }
  }

  static double ratio_of(const verdicts::Verdict& verdict) {
    const auto* correct = std::get_if<verdicts::Correct>(&verdict);
    return correct == nullptr ? 1 : correct->worst_ratio;
  }

  static void conclude(const Variant& variant, AuditFinding& finding) {
    const bool mutant = variant.must == Must::be_refused;
    switch (finding.outcome) {
      case AuditOutcome::refused:
        finding.right = mutant;
        break;
      case AuditOutcome::accepted:
        finding.right = !mutant;
        break;
      case AuditOutcome::equal:
        finding.right = variant.equality != Equality::never;
        break;
      case AuditOutcome::not_compiled:
        finding.right = variant.equality == Equality::bits || !mutant;
        break;
    }
    if (finding.right) return;
    finding.advice = seen(finding) + (variant.advice.empty() ? "" : "; " + variant.advice);
  }

  static std::string seen(const AuditFinding& finding) {
    if (finding.outcome == AuditOutcome::equal) return "it gives the same bits as naive.cu wherever the judge looked";
    if (const auto* correct = std::get_if<verdicts::Correct>(&finding.verdict)) {
      return "the judge accepts it, with errors of at most " +
             std::to_string(static_cast<int>(correct->worst_ratio * 100 + 0.5)) + " % of what is allowed";
    }
    std::string sentence = verdicts::sentence_for_people(finding.verdict);
    if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
    return "the judge refuses it: " + sentence;
  }

  judging::Judge& judge_;
  sandbox::CompilePool& pool_;
  std::deque<judging::Builds> builds_;  // by variant
  AuditReport report_;
  double naive_ratio_ = 0;  // naive's own largest error, relative to the tolerance
};
}  // namespace

int64_t AuditReport::count(AuditOutcome outcome) const {
  return std::count_if(findings.begin(), findings.end(),
                       [&](const AuditFinding& finding) { return finding.outcome == outcome; });
}
int64_t AuditReport::wrong() const {
  return std::count_if(findings.begin(), findings.end(), [](const AuditFinding& finding) { return !finding.right; });
}

Json to_json(const AuditReport& report) {
  Json findings = Json::array();
  for (const AuditFinding& finding : report.findings) {
    Json one{{"name", finding.name},
             {"what", finding.what},
             {"must", finding.must == Must::be_refused ? "be_refused" : "be_accepted"},
             {"outcome", name_of(finding.outcome)},
             {"verdict", name_of(finding.verdict)},
             {"sentence", verdicts::sentence_for_people(finding.verdict)},
             {"effort", name_of(finding.effort)},
             {"right", finding.right}};
    if (!finding.advice.empty()) one["advice"] = finding.advice;
    findings.push_back(std::move(one));
  }
  return {{"problem", report.problem},
          {"passed", report.passed()},
          {"findings", std::move(findings)},
          {"remarks", report.remarks},
          {"notes", report.notes}};
}

judging::JudgeSettings audit_settings(bool gpu) {
  judging::JudgeSettings settings;
  settings.check.launch_deadline_s = gpu ? 1.5 : 5;
  settings.timing.screen_pairs = settings.timing.clear_pairs = 3;
  settings.timing.least_pairs = settings.timing.most_pairs = 3;
  settings.timing.most_s = 0.01;
  return settings;
}

std::vector<Variant> audit_variants(const benchsuite::Problem& problem, std::vector<Variant> written) {
  const sandbox::Solution naive = sandbox::naive_solution(problem);
  std::vector<Variant> variants = harness_mutants(problem, naive);
  const auto take = [&](std::vector<Variant> more) {
    for (Variant& variant : more) variants.push_back(std::move(variant));
  };
  if (!problem.pytorch()) {
    take(source_mutants(problem, naive));
    take(reorderings(naive));
  }
  take(std::move(written));
  return variants;
}

AuditReport audit(const benchsuite::Problem& problem, const std::vector<Variant>& variants, judging::Judge& judge,
                  sandbox::CompilePool& pool) {
  return Auditor(problem, judge, pool).run(problem, variants);
}

}  // namespace verifier::audit
