#include <algorithm>

#include "agent/actions/checking.h"
#include "agent/actions/executing.h"
#include "agent/mcp/figures.h"
#include "agent/mcp/schema.h"
#include "agent/mcp/tools.h"
#include "agent/prompting/code_facts.h"
#include "agent/prompting/counter_findings.h"
#include "agent/prompting/diagnosis.h"
#include "core/error.h"
#include "core/text.h"
#include "results/view/json.h"

namespace agent::mcp {
namespace {
using core::Json;
using verifier::verdicts::Effort;
constexpr size_t kMostLogBytes = 4000;

Json interval_of(const verifier::verdicts::WorkloadTiming& timing) {
  std::vector<double> times;
  for (const auto& pair : verifier::statistics::steady_pairs(timing.pairs)) times.push_back(pair.candidate_us);
  verifier::statistics::Interval interval{timing.candidate_us, timing.candidate_us, timing.candidate_us};
  if (!times.empty()) {
    const auto around = verifier::statistics::median_with_interval(std::move(times));
    interval.low = std::min(interval.value, around.low);
    interval.high = std::max(interval.value, around.high);
  }
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

Json workloads_of(const verifier::verdicts::Measurement& measurement) {
  Json all = Json::array();
  for (const verifier::verdicts::WorkloadTiming& timing : measurement.workloads) {
    Json one{{"workload", timing.workload},
             {"time_us", interval_of(timing)},
             {"naive_us", timing.incumbent_us},
             {"speed_up", results::view::json_of(timing.speed_up)},
             {"pairs", timing.pairs.size()}};
    if (timing.bound_us) one["bound_us"] = *timing.bound_us;
    if (const auto share = timing.share_of_bound()) one["share_of_bound"] = *share;
    all.push_back(std::move(one));
  }
  return all;
}

bool has_won(const search::Attempt& attempt) {
  return attempt.measurement && attempt.measurement->outcome == verifier::statistics::Outcome::win;
}

std::string next_step(const search::Attempt& attempt, Effort effort) {
  if (!verifier::verdicts::is_correct(attempt.verdict)) return "Do what the diagnosis says, then judge again.";
  if (effort == Effort::screen) return "Only screened, so it counts as no result: judge it with effort full.";
  if (effort == Effort::confirm && has_won(attempt)) return "Confirmed: best lists it. Make it faster still.";
  if (has_won(attempt)) return "Faster than naive: effort confirm judges it once more, and then best lists it.";
  return "Right, but not faster than naive: do what the diagnosis says.";
}

std::string diagnosis_of(Workspace& workspace, const Workspace::Prepared& prepared, const search::Attempt& attempt) {
  const prompting::DeviceText device = workspace.device_text();
  prompting::AttemptFacts facts =
      search::facts_of(attempt, prepared.solution, prepared.candidate->builds.binding(), "naive", device);
  facts.swept = false;
  return prompting::diagnose(facts, *prepared.problem, device.backend).text;
}

// The verdict in words: neither the judgement's seed nor its details leave the judge.
Json json_of_judgement(Workspace& workspace, const Workspace::Prepared& prepared, const search::Attempt& attempt,
                       Effort effort) {
  Json json{{"accepted", verifier::verdicts::is_correct(attempt.verdict)},
            {"verdict", name_of(attempt.verdict)},
            {"sentence", verifier::verdicts::sentence_for_people(attempt.verdict)},
            {"diagnosis", diagnosis_of(workspace, prepared, attempt)},
            {"next", next_step(attempt, effort)},
            {"confirmed", effort == Effort::confirm && has_won(attempt)},
            {"effort", name_of(effort)},
            {"problem", prepared.problem->name},
            {"device", workspace.session().device()},
            {"attempt", attempt.id},
            {"hash", prepared.solution.hash()},
            {"tunables", prepared.candidate->builds.binding()},
            {"compile_ms", attempt.compile_ms},
            {"budget", workspace.budget_left()}};
  for (const auto& [name, value] :
       {std::pair("registers", attempt.registers), std::pair("shared_bytes", attempt.shared_bytes),
        std::pair("spill_bytes", attempt.spill_bytes)}) {
    if (value) json[name] = *value;
  }
  if (attempt.measurement) {
    json["outcome"] = name_of(attempt.measurement->outcome);
    json["speed_up"] = results::view::json_of(attempt.measurement->speed_up);
    json["clock"] = attempt.measurement->clock;
    json["workloads"] = workloads_of(*attempt.measurement);
  } else if (!attempt.compile_log.empty()) {
    json["compile_log"] = core::clean_text(attempt.compile_log, kMostLogBytes);
  }
  return with_short_figures(std::move(json));
}

ToolResult judge(Workspace& workspace, const Json& arguments, Call& call) {
  const Effort wanted = core::enum_from_name<Effort>(arguments.value("effort", "full")).value();
  const Workspace::Prepared& prepared = workspace.prepare(arguments, arguments.value("name", ""), call.client());
  const bool confirms = wanted == Effort::confirm;
  workspace.require_budget(confirms ? 2 : 1);
  Effort effort = confirms ? Effort::full : wanted;
  search::Attempt attempt = workspace.judge(prepared, effort, call, 0, confirms ? 2 : 1);
  if (confirms && verifier::verdicts::is_correct(attempt.verdict)) {
    effort = Effort::confirm;
    attempt = workspace.judge(prepared, effort, call, 1, 2);
  }
  return {json_of_judgement(workspace, prepared, attempt, effort)};
}

ToolResult check(Workspace& workspace, const Json& arguments, Call& call) {
  const bool executes = arguments.value("execute", false);
  const Workspace::Parsed parsed = workspace.parse(arguments, executes);
  Json result{{"ok", true},
              {"problem", parsed.problem->name},
              {"launches", parsed.solution.launches.size()},
              {"tunables", parsed.binding}};
  std::string sentence;
  if (!parsed.why_not) {
    call.progress(0, executes ? 2 : 1, "compiling");
    const actions::Checked checked = actions::check_builds(workspace.session().pool(), parsed.solution, parsed.binding,
                                                           Effort::full, "the device " + workspace.device_kind());
    result["compiled"] = checked.facts;
    sentence = "It " + actions::checked_words(checked) + ". ";
  }
  if (executes) {
    call.progress(1, 2, "executing on the cpu device");
    const auto execution =
        actions::execute_on_cpu(workspace.paths(), *parsed.problem, parsed.solution, parsed.binding, "source");
    result["executed"] = execution.passed;
    sentence += actions::execution_words(execution) + " Nothing was timed: judge does that.";
  } else {
    sentence += "Nothing was run: judge does that, or execute.";
  }
  result["sentence"] = sentence;
  return {result};
}

ToolResult profile(Workspace& workspace, const Json& arguments, Call& call) {
  campaign::DeviceSession& session = workspace.session();
  if (!session.has_profiler()) {
    throw core::InputError("profile", "there is no profiler for " + session.device(),
                           "use judge, whose diagnosis needs none; on an NVIDIA GPU, ncu of the CUDA Toolkit counts");
  }
  const Workspace::Prepared& prepared = workspace.prepare(arguments, arguments.value("name", ""), call.client());
  const search::Attempt attempt = workspace.judge(prepared, Effort::screen, call, 0, 2);
  if (!verifier::verdicts::is_correct(attempt.verdict)) {
    throw core::InputError("profile", "only a right kernel is profiled: " + diagnosis_of(workspace, prepared, attempt));
  }
  const auto counters = session.judges().with_first([&](verifier::judging::Judge& judge) {
    return session.profile(prepared.candidate->builds, *prepared.problem, judge.open_inputs().get());
  });
  if (counters.empty()) {
    throw core::InputError("profile", "the profiler does not work here", "kernelwright doctor says why");
  }
  Json findings = Json::array(), launches = Json::array();
  const prompting::CodeFacts code =
      prompting::facts_of(prepared.solution, prepared.candidate->builds.binding(), {}, *prepared.problem);
  const prompting::Situation situation{code, *prepared.problem, benchsuite::Backend::cuda,
                                       workspace.device_text().architecture};
  for (const prompting::CounterFinding& finding : prompting::findings_in(counters)) {
    const auto change = prompting::first_of(finding.advice, situation);
    findings.push_back(finding.sentence + (change ? " " + std::string(change->words) : ""));
  }
  for (const verifier::verdicts::Counters& launch : counters) launches.push_back(with_short_figures(to_json(launch)));
  return {{{"attempt", attempt.id},
           {"findings", std::move(findings)},
           {"launches", std::move(launches)},
           {"budget", workspace.budget_left()}}};
}

Json estimate_schema(const std::string& description) {
  return result_schema({{"value", number_schema(description)},
                        {"low", number_schema("lower end of its 99 % interval")},
                        {"high", number_schema("upper end")}},
                       {"value", "low", "high"});
}

Json budget_schema() {
  return result_schema({{"judgements_left", integer_schema("of this session", 0, INT64_MAX)},
                        {"seconds_left", number_schema("of judging, of this session")}},
                       {});
}

Json judgement_schema() {
  const Json workload =
      result_schema({{"workload", text_schema("a timed shape of the problem")},
                     {"time_us", estimate_schema("median time, microseconds")},
                     {"naive_us", number_schema("median time of the naive solution in the same pairs")},
                     {"speed_up", estimate_schema("over naive")},
                     {"share_of_bound", number_schema("1: as fast as the device's measured peaks allow")}},
                    {"workload", "time_us", "naive_us", "speed_up"});
  return result_schema({{"accepted", boolean_schema("right on every input that was tried")},
                        {"verdict", text_schema("correct, wrong_result, race, compile_error, ...")},
                        {"sentence", text_schema("the finding")},
                        {"diagnosis", text_schema("the finding, its likely cause, and the one thing to do about it")},
                        {"next", text_schema("what to call next")},
                        {"confirmed", boolean_schema("a win over naive that was repeated in fresh processes")},
                        {"attempt", integer_schema("the number under which it is recorded", 0, INT64_MAX)},
                        {"outcome", choice_schema("against naive", {"win", "tie", "loss"})},
                        {"speed_up", estimate_schema("over naive, geometric mean of the timed shapes")},
                        {"workloads", list_schema("each timed shape", workload)},
                        {"budget", budget_schema()}},
                       {"accepted", "verdict", "sentence", "diagnosis", "next", "confirmed", "attempt", "budget"});
}

Json judge_arguments() {
  std::map<std::string, Json> members = source_arguments();
  members["effort"] = choice_schema(
      "screen: quick, counts as no result. full (default): all checks, and timing until the interval is narrow. "
      "confirm: full, then again in fresh processes; only that enters the leaderboard.",
      {"screen", "full", "confirm"});
  members["name"] = text_schema("A name for the solution (default: that of its first kernel)", 200);
  return object_schema(members, {"source"});
}

Json check_arguments() {
  std::map<std::string, Json> members = source_arguments();
  members["execute"] = boolean_schema("Run it on the cpu device, which may take a minute (default: false)");
  return object_schema(members, {"source"});
}
}  // namespace

std::vector<Tool> judging_tools(Workspace& workspace) {
  const auto on = [&workspace](ToolResult (*action)(Workspace&, const Json&, Call&)) {
    return [&workspace, action](const Json& arguments, Call& call) { return action(workspace, arguments, call); };
  };
  const Json checked = result_schema({{"ok", boolean_schema("always true: faults are errors")},
                                      {"problem", text_schema("its problem")},
                                      {"sentence", text_schema("how it was compiled")}},
                                     {"ok", "problem", "sentence"});
  const Json profiled =
      result_schema({{"attempt", integer_schema("of the screening before it", 0, INT64_MAX)},
                     {"findings", list_schema("the most significant first", text_schema("a finding"))},
                     {"launches", list_schema("counters of each launch", Json::object())},
                     {"budget", budget_schema()}},
                    {"attempt", "findings", "launches", "budget"});
  return {
      {"check", "Check a kernel",
       "Finds faults in a kernel's launch plan and compiles it. With execute, also runs it on the cpu device, even if "
       "it "
       "is for NVIDIA's GPUs alone (TMA, wgmma, clusters), in a build that finds races, bounds, missing waits and "
       "wrong "
       "results. Costs no budget.",
       check_arguments(), checked, true, on(check)},
      {"judge", "Judge a kernel",
       "Compiles a kernel in a sandbox, compares its outputs with a reference on secret inputs at listed and unlisted "
       "shapes, and times it in pairs with the problem's naive solution. Returns the verdict, a diagnosis with the "
       "one thing to do next, times with 99 % intervals, and the share of the device's bound where that is known. "
       "Costs one judgement of the session's budget; effort confirm costs two.",
       judge_arguments(), judgement_schema(), false, on(judge)},
      {"profile", "Profile a kernel",
       "Screens a kernel, then counts hardware events of its launches and says what holds it back. Only on a GPU with "
       "a profiler. Costs one judgement.",
       object_schema(source_arguments(), {"source"}), profiled, false, on(profile)},
  };
}

}  // namespace agent::mcp
