#include "agent/campaign/selftest.h"

#include <algorithm>

#include "agent/campaign/campaign.h"
#include "core/text.h"
#include "verifier/adversarial/case_judging.h"
#include "verifier/statistics/keys.h"

namespace agent::campaign {
namespace {
using verifier::adversarial::AdversarialCase;
using verifier::adversarial::AttackClass;
constexpr size_t kQuickCases = 2;  // per attack class

// The suite's cases for this device and every shipped kernel, grouped by problem.
std::vector<AdversarialCase> all_cases(const DeviceSession& session, const LoadedData& data, const SelftestPlan& plan) {
  std::vector<AdversarialCase> cases =
      verifier::adversarial::load_adversarial_cases(data.paths.adversarial(), plan.seed);
  for (const auto& [name, problem] : data.catalogue.problems) {
    for (search::NamedSolution& named : shipped_solutions(data.paths, problem, plan.backend)) {
      const auto point = sandbox::default_binding(named.solution);
      cases.push_back({"kernels/" + name + "/" + named.name,
                       named.solution.description,
                       AttackClass::honest,
                       {{plan.backend, {"correct"}}},
                       false,
                       std::move(named.solution),
                       point});
    }
  }
  std::erase_if(cases, [&](const AdversarialCase& one) {
    const bool asked = plan.problems.empty() || std::ranges::count(plan.problems, one.solution.problem) > 0;
    return !asked || !one.runs_on(plan.backend) || session.why_not(one.solution).has_value();
  });
  std::stable_sort(cases.begin(), cases.end(), [](const AdversarialCase& a, const AdversarialCase& b) {
    return a.solution.problem < b.solution.problem;
  });
  return cases;
}

bool is_shipped(const AdversarialCase& one) { return one.name.rfind("kernels/", 0) == 0; }

// Takes the shipped kernels and a few cases of each class from the problem with the most cases.
std::vector<AdversarialCase> a_few(std::vector<AdversarialCase> cases, uint64_t seed) {
  std::map<std::string, size_t> counts;
  for (const AdversarialCase& one : cases) ++counts[one.solution.problem];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  verifier::statistics::Keys keys(seed);
  std::map<AttackClass, size_t> chosen;
  for (size_t left = cases.size(); left > 1; --left) std::swap(cases[left - 1], cases[keys.below(left)]);
  std::erase_if(cases, [&](const AdversarialCase& one) {
    if (one.solution.problem != most->first || one.slow) return true;
    return !is_shipped(one) && ++chosen[one.of] > kQuickCases;
  });
  return cases;
}

SelftestFinding finding_of(const AdversarialCase& of, const std::string& backend,
                           const verifier::verdicts::Verdict& verdict) {
  return {of.name, of.tries, core::join(of.verdicts.at(backend), " or "), name_of(verdict),
          verifier::verdicts::sentence_for_people(verdict)};
}

void take(SelftestReport& report, const std::string& backend, const verifier::adversarial::CaseResult& result) {
  const AdversarialCase& of = result.of;
  if (of.honest()) report.honest_seconds += result.seconds;
  if (is_shipped(of)) {
    ++report.shipped;
  } else if (of.honest() || of.must_not_win(backend)) {
    ++report.judged[of.of];
  } else {
    ++report.undecided;
  }
  const SelftestFinding finding = finding_of(of, backend, result.judgement.verdict);
  if (verifier::adversarial::is_false_accept(of, backend, result.judgement)) {
    report.false_accepts.push_back(finding);
  } else if (verifier::adversarial::is_false_reject(of, result.judgement)) {
    report.false_rejects.push_back(finding);
  } else if (!verifier::adversarial::is_as_expected(of, backend, result.judgement)) {
    report.otherwise.push_back(finding);
  }
}

// On a GPU, what a confirmation asks the cpu device.
verifier::adversarial::Examine on_host(DeviceSession& session, const benchsuite::Problem& problem) {
  return [&session,
          &problem](const verifier::judging::Builds& builds) -> std::function<void(verifier::verdicts::Judgement&)> {
    auto finding = session.begin_host_check(problem, builds);
    if (!finding) return nullptr;
    const auto pending = std::make_shared<std::future<judges::HostCheck::Finding>>(std::move(*finding));
    return [pending](verifier::verdicts::Judgement& judgement) { judges::HostCheck::add(pending->get(), judgement); };
  };
}

void time_against_itself(verifier::judging::Judge& judge, const verifier::judging::Builds& kernel,
                         const std::string& problem, const std::string& name, SelftestReport& report) {
  const verifier::verdicts::Judgement judgement =
      verifier::adversarial::judge_with_retries(judge, kernel, kernel, verifier::verdicts::Effort::control);
  if (!judgement.measurement) {
    report.false_rejects.push_back({name, "against itself", "correct", name_of(judgement.verdict),
                                    verifier::verdicts::sentence_for_people(judgement.verdict)});
    return;
  }
  report.controls.push_back({problem, name, judgement.measurement->speed_up, judgement.measurement->outcome});
}

// Times a kernel against itself: a shipped one of the problem if there is any, else naive. `times` > 1: both in turn.
void control(verifier::judging::Judge& judge, sandbox::CompilePool& pool, const std::string& problem,
             const std::vector<const AdversarialCase*>& cases, int times, SelftestReport& report) {
  const auto shipped =
      std::find_if(cases.begin(), cases.end(), [](const AdversarialCase* one) { return is_shipped(*one); });
  std::optional<verifier::judging::Builds> builds;
  if (shipped != cases.end()) {
    builds.emplace((*shipped)->solution, (*shipped)->binding);
    if (builds->wait(pool, verifier::verdicts::Effort::control) != nullptr)
      return;  // counted as a false reject when it was judged
  }
  for (int i = 0; i < times; ++i) {
    if (builds && i % 2 == 0) {
      time_against_itself(judge, *builds, problem, (*shipped)->name, report);
    } else {
      time_against_itself(judge, judge.naive(), problem, problem + "/naive", report);
    }
  }
}

core::Json to_json(const std::vector<SelftestFinding>& findings) {
  core::Json all = core::Json::array();
  for (const SelftestFinding& one : findings) {
    all.push_back({{"name", one.name},
                   {"tries", one.tries},
                   {"wanted", one.wanted},
                   {"verdict", one.verdict},
                   {"sentence", one.sentence}});
  }
  return all;
}
}  // namespace

int64_t SelftestReport::dishonest() const {
  int64_t sum = 0;
  for (const auto& [of, count] : judged) sum += of == AttackClass::honest ? 0 : count;
  return sum;
}

int64_t SelftestReport::honest() const {
  const auto twins = judged.find(AttackClass::honest);
  return shipped + (twins == judged.end() ? 0 : twins->second);
}

std::optional<double> SelftestReport::widest_noise() const {
  if (controls.empty()) return std::nullopt;
  double widest = 1;
  for (const SelftestControl& one : controls) widest = std::max({widest, one.ratio.high, 1 / one.ratio.low});
  return widest;
}

int64_t SelftestReport::controls_with_truth() const {
  return std::count_if(controls.begin(), controls.end(), [](const SelftestControl& one) { return one.holds_truth(); });
}

std::optional<double> SelftestReport::candidates_per_hour() const {
  return honest_seconds > 0 ? std::optional(static_cast<double>(honest()) * 3600 / honest_seconds) : std::nullopt;
}

SelftestReport run_selftest(DeviceSession& session, const LoadedData& data, const SelftestPlan& plan,
                            const std::function<bool(const SelftestProgress&)>& listener) {
  std::vector<AdversarialCase> cases = all_cases(session, data, plan);
  if (plan.quick) cases = a_few(std::move(cases), plan.seed);
  std::map<std::string, std::vector<const AdversarialCase*>> by_problem;
  // Honest ones first and together: their time gives the number judged per hour.
  for (const bool honest : {true, false}) {
    for (const AdversarialCase& one : cases) {
      if (one.honest() == honest) by_problem[one.solution.problem].push_back(&one);
    }
  }
  const auto effort = plan.quick ? verifier::adversarial::CaseEffort::least : verifier::adversarial::CaseEffort::full;
  SelftestReport report;
  SelftestProgress progress{"", 0, by_problem.size(), 0, cases.size()};
  session.judges().with_first([&](verifier::judging::Judge& judge) {
    judge.draw_seeds_from(plan.seed);
    for (const auto& [problem, of_problem] : by_problem) {
      progress.problem = problem;
      ++progress.index;
      judge.use_problem(data.catalogue.problems.at(problem), session.pool());
      const auto take_next = [&](const verifier::adversarial::CaseResult& result) {
        take(report, plan.backend, result);
        ++progress.judged;
        report.interrupted = !listener(progress);
        return !report.interrupted;
      };
      if (plan.sessions > 0) {
        report.interrupted = !listener(progress);
      } else {
        verifier::adversarial::judge_cases(judge, session.pool(), of_problem, plan.backend, effort, take_next,
                                           on_host(session, data.catalogue.problems.at(problem)));
      }
      if (report.interrupted) return;
      const int of_each =
          (plan.sessions + static_cast<int>(by_problem.size()) - 1) / static_cast<int>(by_problem.size());
      control(judge, session.pool(), problem, of_problem, std::max(1, of_each), report);
    }
  });
  return report;
}

core::Json to_json(const SelftestReport& report) {
  core::Json classes = core::Json::object(), controls = core::Json::array();
  for (const auto& [of, count] : report.judged) classes[std::string(name_of(of))] = count;
  for (const SelftestControl& one : report.controls) {
    controls.push_back({{"problem", one.problem},
                        {"kernel", one.kernel},
                        {"ratio", {one.ratio.value, one.ratio.low, one.ratio.high}},
                        {"outcome", name_of(one.outcome)}});
  }
  return {
      {"passed", report.passed()},
      {"dishonest", report.dishonest()},
      {"honest", report.honest()},
      {"shipped", report.shipped},
      {"undecided", report.undecided},
      {"classes", classes},
      {"false_accepts", to_json(report.false_accepts)},
      {"false_rejects", to_json(report.false_rejects)},
      {"refused_otherwise", to_json(report.otherwise)},
      {"controls", controls},
      {"controls_with_truth", report.controls_with_truth()},
      {"widest_noise", report.widest_noise() ? core::Json(*report.widest_noise()) : core::Json()},
      {"candidates_per_hour", report.candidates_per_hour() ? core::Json(*report.candidates_per_hour()) : core::Json()}};
}

}  // namespace agent::campaign
