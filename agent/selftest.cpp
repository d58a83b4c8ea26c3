#include "agent/selftest.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/campaign.h"
#include "agent/table.h"
#include "core/text.h"
#include "verifier/keys.h"
#include "verifier/suite_judging.h"

namespace agent {
namespace {
using verifier::Case;
using verifier::CaseClass;
constexpr size_t kQuickCases = 2;  // of each class

// The cases of the suite for this device and every shipped kernel, those of one problem together.
std::vector<Case> all_cases(const Workshop& workshop, const Data& data, const SelftestPlan& plan) {
  std::vector<Case> cases = verifier::load_suite(data.paths.adversarial(), plan.seed);
  for (const auto& [name, problem] : data.problems) {
    for (Entrant& entrant : shipped_entrants(data.paths, problem, plan.backend)) {
      const auto point = sandbox::default_binding(entrant.solution);
      cases.push_back({"kernels/" + name + "/" + entrant.name,
                       entrant.solution.description,
                       CaseClass::honest,
                       {{plan.backend, {"correct"}}},
                       false,
                       std::move(entrant.solution),
                       point});
    }
  }
  std::erase_if(
      cases, [&](const Case& one) { return !one.runs_on(plan.backend) || workshop.why_not(one.solution).has_value(); });
  std::stable_sort(cases.begin(), cases.end(),
                   [](const Case& a, const Case& b) { return a.solution.problem < b.solution.problem; });
  return cases;
}

bool is_shipped(const Case& one) { return one.name.rfind("kernels/", 0) == 0; }

// Of the problem with the most cases: its shipped kernels, and a few cases of each class.
std::vector<Case> a_few(std::vector<Case> cases, uint64_t seed) {
  std::map<std::string, size_t> counts;
  for (const Case& one : cases) ++counts[one.solution.problem];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  verifier::Keys keys(seed);
  std::map<CaseClass, size_t> chosen;
  for (size_t left = cases.size(); left > 1; --left) std::swap(cases[left - 1], cases[keys.below(left)]);
  std::erase_if(cases, [&](const Case& one) {
    if (one.solution.problem != most->first || one.slow) return true;
    return !is_shipped(one) && ++chosen[one.of] > kQuickCases;
  });
  return cases;
}

SelftestFinding finding_of(const Case& of, const std::string& backend, const verifier::Verdict& verdict) {
  return {of.name, of.tries, core::join(of.verdicts.at(backend), " or "), verifier::name_of(verdict),
          verifier::sentence_for_people(verdict)};
}

void take(SelftestReport& report, const std::string& backend, const verifier::CaseResult& result) {
  const Case& of = result.of;
  if (of.honest()) report.honest_seconds += result.seconds;
  if (is_shipped(of)) {
    ++report.shipped;
  } else if (of.honest() || of.must_not_win(backend)) {
    ++report.judged[of.of];
  } else {
    ++report.undecided;
  }
  const SelftestFinding finding = finding_of(of, backend, result.judgement.verdict);
  if (verifier::is_false_accept(of, backend, result.judgement)) {
    report.false_accepts.push_back(finding);
  } else if (verifier::is_false_reject(of, result.judgement)) {
    report.false_rejects.push_back(finding);
  } else if (!verifier::is_as_expected(of, backend, result.judgement)) {
    report.otherwise.push_back(finding);
  }
}

// A kernel against itself: of the shipped ones of the problem where there are any, as people time those; else naive.
void control(verifier::Judge& judge, sandbox::CompilePool& pool, const std::string& problem,
             const std::vector<const Case*>& cases, SelftestReport& report) {
  const auto shipped = std::find_if(cases.begin(), cases.end(), [](const Case* one) { return is_shipped(*one); });
  std::optional<verifier::Builds> builds;
  std::string name = problem + "/naive";
  if (shipped != cases.end()) {
    name = (*shipped)->name;
    builds.emplace((*shipped)->solution, (*shipped)->binding);
    if (builds->wait(pool, verifier::Effort::control) != nullptr) return;  // a false reject, as it was judged before
  }
  const verifier::Builds& kernel = builds ? *builds : judge.naive();
  const verifier::Judgement judgement = verifier::judge_patiently(judge, kernel, kernel, verifier::Effort::control);
  if (!judgement.measurement) {
    report.false_rejects.push_back({name, "against itself", "correct", verifier::name_of(judgement.verdict),
                                    verifier::sentence_for_people(judgement.verdict)});
    return;
  }
  report.controls.push_back({problem, name, judgement.measurement->speed_up, judgement.measurement->outcome});
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

std::string text_of(const std::vector<SelftestFinding>& findings, const std::string& what) {
  std::string text;
  for (const SelftestFinding& one : findings) {
    text += fmt::format("{}: {} ({}) must be {} and is {}.\n  {}\n", what, one.name, one.tries, one.wanted, one.verdict,
                        one.sentence);
  }
  return text;
}
}  // namespace

int64_t SelftestReport::dishonest() const {
  int64_t sum = 0;
  for (const auto& [of, count] : judged) sum += of == CaseClass::honest ? 0 : count;
  return sum;
}

int64_t SelftestReport::honest() const {
  const auto twins = judged.find(CaseClass::honest);
  return shipped + (twins == judged.end() ? 0 : twins->second);
}

std::optional<double> SelftestReport::widest_noise() const {
  if (controls.empty()) return std::nullopt;
  double widest = 1;
  for (const SelftestControl& one : controls) widest = std::max({widest, one.ratio.high, 1 / one.ratio.low});
  return widest;
}

std::optional<double> SelftestReport::candidates_per_hour() const {
  return honest_seconds > 0 ? std::optional(static_cast<double>(honest()) * 3600 / honest_seconds) : std::nullopt;
}

SelftestReport run_selftest(Workshop& workshop, const Data& data, const SelftestPlan& plan,
                            const std::function<bool(const SelftestProgress&)>& listener) {
  std::vector<Case> cases = all_cases(workshop, data, plan);
  if (plan.quick) cases = a_few(std::move(cases), plan.seed);
  std::map<std::string, std::vector<const Case*>> by_problem;
  // Honest ones first and together: their time tells how many are judged in an hour.
  for (const bool honest : {true, false}) {
    for (const Case& one : cases) {
      if (one.honest() == honest) by_problem[one.solution.problem].push_back(&one);
    }
  }
  const auto effort = plan.quick ? verifier::CaseEffort::least : verifier::CaseEffort::full;
  SelftestReport report;
  SelftestProgress progress{"", 0, by_problem.size(), 0, cases.size()};
  workshop.judges().with_first([&](verifier::Judge& judge) {
    judge.draw_seeds_from(plan.seed);
    for (const auto& [problem, of_problem] : by_problem) {
      progress.problem = problem;
      ++progress.index;
      judge.use_problem(data.problems.at(problem), workshop.pool());
      const auto take_next = [&](const verifier::CaseResult& result) {
        take(report, plan.backend, result);
        ++progress.judged;
        report.interrupted = !listener(progress);
        return !report.interrupted;
      };
      verifier::judge_cases(judge, workshop.pool(), of_problem, plan.backend, effort, take_next);
      if (report.interrupted) return;
      control(judge, workshop.pool(), problem, of_problem, report);
    }
  });
  return report;
}

core::Json to_json(const SelftestReport& report) {
  core::Json classes = core::Json::object(), controls = core::Json::array();
  for (const auto& [of, count] : report.judged) classes[std::string(verifier::name_of(of))] = count;
  for (const SelftestControl& one : report.controls) {
    controls.push_back({{"problem", one.problem},
                        {"kernel", one.kernel},
                        {"ratio", {one.ratio.value, one.ratio.low, one.ratio.high}},
                        {"outcome", verifier::name_of(one.outcome)}});
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
      {"widest_noise", report.widest_noise() ? core::Json(*report.widest_noise()) : core::Json()},
      {"candidates_per_hour", report.candidates_per_hour() ? core::Json(*report.candidates_per_hour()) : core::Json()}};
}

std::string selftest_text(const SelftestReport& report) {
  Table table({{"CLASS"}, {"CASES", Table::Align::right}, {"WRONGLY JUDGED", Table::Align::right}});
  for (const CaseClass of : verifier::case_classes()) {
    const auto found = report.judged.find(of);
    if (of == CaseClass::honest || found == report.judged.end()) continue;
    table.add_row({std::string(verifier::name_of(of)), std::to_string(found->second), ""});
  }
  table.add_row({"all dishonest", std::to_string(report.dishonest()), std::to_string(report.false_accepts.size())});
  table.add_row({"honest, shipped kernels among them", std::to_string(report.honest()),
                 std::to_string(report.false_rejects.size())});
  std::string text = table.text();
  if (report.undecided > 0) {
    text +=
        fmt::format("{} dishonest ones more may be right on this device, and were not counted.\n", report.undecided);
  }
  text += text_of(report.false_accepts, "FALSE ACCEPT") + text_of(report.false_rejects, "FALSE REJECT") +
          text_of(report.otherwise, "refused otherwise");
  if (!report.controls.empty()) {
    const auto ties = std::count_if(report.controls.begin(), report.controls.end(),
                                    [](const auto& one) { return one.outcome == verifier::Outcome::tie; });
    text += fmt::format("A/A: {} of {} kernels tie with themselves; the farthest end of an interval is {:.3f}x.\n",
                        ties, report.controls.size(), report.widest_noise().value());
  }
  if (const auto rate = report.candidates_per_hour()) {
    text += fmt::format("{:.0f} honest candidates an hour, judged in full.\n", *rate);
  }
  return text;
}

std::string selftest_line(const results::archive::SelftestRecord& record) {
  const results::archive::NewSelftest& of = record.of;
  std::string text = fmt::format("{} false accepts of {}, {} false rejects of {}", of.false_accepts, of.dishonest,
                                 of.false_rejects, of.honest);
  if (of.widest_noise) text += fmt::format(", A/A within {:.3f}x", *of.widest_noise);
  if (of.candidates_per_hour) text += fmt::format(", {:.0f} candidates an hour", *of.candidates_per_hour);
  return text + fmt::format("; {}{}", of.quick ? "quick, " : "", record.made);
}

}  // namespace agent
