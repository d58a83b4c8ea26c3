#include "agent/campaign/judges/host_check.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "verifier/judging/policy.h"

namespace agent::campaign::judges {
namespace {
using verifier::verdicts::Verdict;
constexpr size_t kLeastCompilers = 2, kMostJudges = 4, kProcessorsForOne = 4;
constexpr size_t kMostWhy = 300;  // characters of a reason

// A launch has half of the time, so that what it leaves undone is known.
verifier::judging::JudgeSettings settings_with(double deadline_s) {
  constexpr double kShare = 0.5;
  verifier::judging::JudgeSettings settings;
  settings.deadline_s = deadline_s;
  settings.check.launch_deadline_s = kShare * deadline_s / verifier::judging::CheckPolicy{}.far_patience;
  return settings;
}

bool executes_test_shapes(const benchsuite::Problem& problem) {
  return std::ranges::all_of(problem.workloads, [&](const benchsuite::Workload& workload) {
    return workload.role != benchsuite::Role::test ||
           problem.cost.bytes_read.eval(workload.axes) + problem.cost.flops.eval(workload.axes) <=
               verifier::judging::CheckPolicy{}.checking_build_cost;
  });
}

// The listed test shapes come first: a larger one that takes too long says nothing about them.
bool had_its_test_shapes(const Verdict& verdict, const benchsuite::Problem& problem) {
  const auto* late = std::get_if<verifier::verdicts::TimedOut>(&verdict);
  return late != nullptr && late->where &&
         std::ranges::none_of(problem.workloads, [&](const benchsuite::Workload& workload) {
           return workload.role == benchsuite::Role::test && workload.name == late->where->workload;
         });
}

// True if the kernel is wrong on every device. Limits of the cpu device and features that it lacks do not count.
bool is_definite(const Verdict& verdict) {
  return std::visit(
      [](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, verifier::verdicts::Faulted>) {
          using enum sandbox::FaultKind;
          const sandbox::FaultKind kind = v.fault.kind;
          return kind == out_of_bounds || kind == misaligned || kind == uninitialised || kind == race ||
                 kind == warp_misuse || kind == deadlock;
        }
        return std::is_same_v<T, verifier::verdicts::WrongResult> ||
               std::is_same_v<T, verifier::verdicts::NotWritten> ||
               std::is_same_v<T, verifier::verdicts::WrongNonFinite> ||
               std::is_same_v<T, verifier::verdicts::GuardDamaged> ||
               std::is_same_v<T, verifier::verdicts::InputModified>;
      },
      verdict);
}
}  // namespace

struct HostCheck::Candidate {
  benchsuite::Problem problem;
  std::mutex compiling;
  verifier::judging::Builds builds;
  uint64_t seed = verifier::judging::secret_seed();
};

size_t HostCheck::usual_judges() {
  return std::clamp<size_t>(std::thread::hardware_concurrency() / kProcessorsForOne, 1, kMostJudges);
}

HostCheck::HostCheck(const verifier::judging::JudgedDevice& cpu, const sandbox::process::WorkerCommand& compiler,
                     double most_s, size_t judges)
    : pool_(compiler, static_cast<int>(std::max(kLeastCompilers, judges))), lanes_(judges) {
  for (Lane& lane : lanes_) lane.judge = std::make_unique<JudgePool>(std::vector{cpu}, settings_with(most_s));
}

std::future<HostCheck::Finding> HostCheck::begin(const benchsuite::Problem& problem, const sandbox::Solution& solution,
                                                 const sandbox::TunableBinding& binding) {
  const std::shared_ptr<Candidate> candidate(new Candidate{problem, {}, {solution, binding}});
  std::vector<std::future<Finding>> parts;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    const verifier::judging::Share share{i, lanes_.size()};
    parts.push_back(lane.judge->post_first([this, candidate, &lane, share](verifier::judging::Judge& judge) {
      try {
        return look(judge, lane, *candidate, share);
      } catch (const core::SystemError& error) {  // our own failure: the GPU's judgement and its other checks go on
        return Finding{{}, {false, core::clean_line(error.what(), kMostWhy)}};
      }
    }));
  }
  return std::async(std::launch::deferred, [parts = std::move(parts)]() mutable {
    std::vector<Finding> findings;
    for (std::future<Finding>& part : parts) findings.push_back(part.get());
    return merged(std::move(findings));
  });
}

HostCheck::Finding HostCheck::merged(std::vector<Finding> findings) {
  const auto has_fault = [](const Finding& finding) { return finding.fault.has_value(); };
  const auto undecided = [](const Finding& finding) { return !finding.record.passed; };
  const auto has_words = [](const Finding& finding) { return !finding.record.why_not.empty(); };  // of what came late
  std::optional<std::vector<int64_t>> not_run = std::move(findings.front().not_run);              // its share tells
  auto chosen = std::ranges::find_if(findings, has_fault);
  if (chosen == findings.end()) chosen = std::ranges::find_if(findings, undecided);
  if (chosen == findings.end()) chosen = std::ranges::find_if(findings, has_words);
  Finding all = std::move(chosen == findings.end() ? findings.front() : *chosen);
  all.not_run = std::move(not_run);
  return all;
}

void HostCheck::add(Finding finding, verifier::verdicts::Judgement& judgement, std::optional<Verdict> doubtful) {
  auto* correct = std::get_if<verifier::verdicts::Correct>(&judgement.verdict);
  if (correct == nullptr) return;
  if (doubtful && !finding.fault) {
    if (finding.record.passed && finding.at_test_shapes) {
      finding.record.dismissed = core::clean_line(sentence_for_people(*doubtful), kMostWhy);
    } else {
      if (auto* faulted = std::get_if<verifier::verdicts::Faulted>(&*doubtful)) {
        faulted->fault.message +=
            " (racecheck is wrong about mbarriers at which one thread arrives for others, and the cpu device cannot "
            "tell: " +
            (finding.record.passed ? "it executes only some of the test shapes" : finding.record.why_not) +
            "; if there is no race, let each thread arrive for itself)";
      }
      finding.fault = std::move(doubtful);
    }
  }
  if (!finding.fault) {
    correct->host_check = std::move(finding.record);
    correct->scope.not_run = std::move(finding.not_run);
    return;
  }
  judgement.verdict = std::move(*finding.fault);
  judgement.measurement.reset();
}

bool HostCheck::may_explain(const Verdict& verdict) {
  return std::visit(
      [](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, verifier::verdicts::Faulted>) return !v.fault.line;
        return std::is_same_v<T, verifier::verdicts::WrongResult> ||
               std::is_same_v<T, verifier::verdicts::NotWritten> ||
               std::is_same_v<T, verifier::verdicts::WrongNonFinite> || std::is_same_v<T, verifier::verdicts::TimedOut>;
      },
      verdict);
}

void HostCheck::explain(Finding finding, verifier::verdicts::Judgement& judgement) {
  if (!finding.fault || !may_explain(judgement.verdict)) return;
  auto* faulted = std::get_if<verifier::verdicts::Faulted>(&*finding.fault);
  if (faulted == nullptr) return;  // it saw no more than the GPU did
  faulted->fault.message +=
      " (seen on the cpu device; on the GPU: " + core::clean_line(sentence_for_people(judgement.verdict), kMostWhy) +
      ")";
  judgement.verdict = std::move(*faulted);
}

HostCheck::Finding HostCheck::look(verifier::judging::Judge& judge, Lane& lane, Candidate& candidate,
                                   const verifier::judging::Share& share) {
  const benchsuite::Problem& problem = candidate.problem;
  const auto undecided = [](const std::string& why) { return Finding{{}, {false, core::clean_line(why, kMostWhy)}}; };
  {
    const std::lock_guard lock(candidate.compiling);
    if (const auto* rejected = candidate.builds.wait_for_check(pool_)) return undecided(rejected->message);
  }
  if (const std::string hash = content_hash(problem); hash != lane.problem) {
    lane.problem.clear();
    lane.why_no_problem.clear();
    try {
      judge.use_problem(problem, pool_);
    } catch (const core::InputError& error) {
      lane.why_no_problem = error.what();
    }
    lane.problem = hash;
  }
  if (!lane.why_no_problem.empty()) return undecided(lane.why_no_problem);
  const verifier::verdicts::Judgement judgement = judge.run_checking_build(candidate.builds, share, candidate.seed);
  const bool at_test_shapes = executes_test_shapes(problem);
  if (const auto* correct = std::get_if<verifier::verdicts::Correct>(&judgement.verdict)) {
    return {{}, {true, ""}, at_test_shapes, correct->scope.not_run};
  }
  if (at_test_shapes && had_its_test_shapes(judgement.verdict, problem)) {
    return {{}, {true, core::clean_line(sentence_for_people(judgement.verdict), kMostWhy)}};
  }
  if (!is_definite(judgement.verdict)) return undecided(sentence_for_people(judgement.verdict));
  return {judgement.verdict, {false, "it failed there"}};
}

}  // namespace agent::campaign::judges
