#include "results/view/json.h"

#include <fmt/format.h>

#include "core/text.h"

namespace results::view {
using core::Json;

static Json json_of(const archive::WorkloadFigures& figures) {
  return {{"workload", figures.workload},
          {"time_us", figures.time_us.value},
          {"time_low_us", figures.time_us.low},
          {"time_high_us", figures.time_us.high},
          {"naive_us", figures.naive_us},
          {"speed_up", json_of(figures.speed_up)},
          {"bound_us", or_null(figures.bound_us)},
          {"share_of_bound", or_null(figures.share_of_bound())},
          {"weight", figures.weight}};
}

static Json json_of(const archive::OverLibrary& one) {
  return {{"library", one.library},
          {"ratio", json_of(one.ratio)},
          {"workloads", one.workloads},
          {"paired", false}};  // the two were never paired
}

static Json json_of(const archive::CurvePoint& p) {
  return {{"attempts", p.attempts}, {"seconds", p.seconds},  {"dollars", p.dollars},
          {"tokens", p.tokens},     {"attempt", p.attempt},  {"speed_up", json_of(p.speed_up)},
          {"hash", p.hash},         {"solution", p.solution}};
}

static Json json_of(const OverBaseline& of) {
  return {{"baseline", of.baseline},
          {"problems", of.problems},
          {"compared", of.compared},
          {"geometric_mean", or_null(of.geometric_mean)}};
}

template <typename Rows>
static Json list_of(const Rows& rows) {
  Json all = Json::array();
  for (const auto& row : rows) all.push_back(json_of(row));
  return all;
}

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json json_of(const verifier::statistics::SpeedUp& s) { return {{"value", s.value}, {"low", s.low}, {"high", s.high}}; }

Json json_of(const archive::LeaderboardRow& row) {
  const auto if_timed = [&](double value) { return row.timed() ? Json(value) : Json(); };
  const auto of_solution = [&](Json value) { return row.library ? Json() : std::move(value); };
  Json json = json_of(row.descent);
  for (const char* const name : {"ancestors", "cost", "lineage_cost"}) json[name] = of_solution(json[name]);
  json.update({{"kind", row.library ? "library" : "solution"},
               {"rank", row.library || row.rank == 0 ? Json() : Json(row.rank)},
               {"problem", row.problem},
               {"device", row.device},
               {"solution", row.solution},
               {"hash", of_solution(row.hash)},
               {"origin", row.origin},
               {"tunables", row.binding},
               {"confirmed", of_solution(row.confirmed)},
               {"verdict", name_of(row.verdict)},
               {"sentence", row.library ? Json(verifier::verdicts::sentence_for_people(row.verdict)) : Json()},
               {"speed_up", if_timed(row.speed_up.value)},
               {"low", if_timed(row.speed_up.low)},
               {"high", if_timed(row.speed_up.high)},
               {"time_us", if_timed(row.time_us())},
               {"bound_us", row.timed() ? or_null(row.workloads[0].bound_us) : Json()},
               {"share_of_bound", row.timed() ? or_null(row.workloads[0].share_of_bound()) : Json()},
               {"workloads", list_of(row.workloads)},
               {"over_libraries", of_solution(list_of(row.over_libraries))},
               {"campaign", or_null(row.campaign)},
               {"attempt", of_solution(row.attempt)},
               {"made", row.made},
               {"older_files", row.older_files}});
  return json;
}

Json json_of(const archive::Cost& cost) {
  return {
      {"replies", cost.replies}, {"tokens", cost.tokens}, {"dollars", cost.dollars}, {"all_priced", cost.all_priced}};
}

Json json_of(const archive::Descent& descent) {
  return {{"model", or_null(descent.model)},
          {"task", or_null(descent.task)},
          {"ancestors", descent.ancestors},
          {"cost", json_of(descent.own)},
          {"lineage_cost", json_of(descent.lineage)}};
}

Json json_of(const archive::Stand& stand) {
  return {{"device", stand.device},
          {"confirmed", stand.confirmed},
          {"speed_up", json_of(stand.speed_up)},
          {"attempt", stand.attempt},
          {"tunables", stand.binding}};
}

Json brief_json_of(const archive::RecordedAttempt& a) {
  Json json{{"attempt", a.id},
            {"problem", a.problem},
            {"solution", a.solution},
            {"origin", a.origin},
            {"tunables", a.binding},
            {"device", a.device},
            {"effort", a.effort},
            {"made", a.made},
            {"verdict_name", name_of(a.verdict)},
            {"sentence", verifier::verdicts::sentence_for_people(a.verdict)},
            {"campaign", a.campaign},
            {"reused_from", or_null(a.reused_from)}};
  if (a.measurement) {
    json.update({{"against", a.against},
                 {"outcome", name_of(a.measurement->outcome)},
                 {"speed_up", json_of(a.measurement->speed_up)}});
  }
  return json;
}

Json json_of(const archive::RecordedAttempt& a) {
  Json json = brief_json_of(a);
  json.update({{"verdict", verifier::verdicts::to_json(a.verdict)},
               {"compile_ms", a.compile_ms},
               {"compile_log", a.compile_log},
               {"environment", a.environment},
               {"stages", a.stages},
               {"source", a.source}});
  if (a.measurement) json["measurement"] = verifier::verdicts::to_json(*a.measurement);
  return json;
}

Json json_of(const archive::CampaignRecord& c) {
  return {{"campaign", c.name},        {"status", c.status},     {"started", c.started},
          {"ended", or_null(c.ended)}, {"settings", c.settings}, {"spent_seconds", c.spent_seconds},
          {"attempts", c.attempts}};
}

Json json_of(const archive::EventRecord& event) {
  return {{"made", event.made}, {"kind", event.kind}, {"details", event.details}};
}

Json json_of(const archive::ModelUse& use) {
  return {{"model", use.model},
          {"requests", use.requests},
          {"replies", use.replies},
          {"completions", use.completions},
          {"input_tokens", use.input_tokens},
          {"output_tokens", use.output_tokens},
          {"dollars", use.dollars},
          {"all_priced", use.priced == use.replies},
          {"seconds", use.seconds},
          {"solutions", use.solutions}};
}

Json json_of(const archive::Curve& curve) {
  return {{"problem", curve.problem},
          {"device", curve.device},
          {"steps", list_of(curve.steps)},
          {"now", json_of(curve.now)}};
}

Json json_of(const archive::SelftestRecord& selftest) {
  const archive::NewSelftest& of = selftest.of;
  return {{"device", of.device},
          {"made", selftest.made},
          {"quick", of.quick},
          {"dishonest", of.dishonest},
          {"false_accepts", of.false_accepts},
          {"honest", of.honest},
          {"false_rejects", of.false_rejects},
          {"widest_noise", or_null(of.widest_noise)},
          {"candidates_per_hour", or_null(of.candidates_per_hour)}};
}

static Json json_of(const Scores& scores) {
  Json fast_p = Json::array();
  for (const OverBaseline& of : scores.over) {
    for (size_t i = 0; of.problems > 0 && i < kThresholds.size(); ++i) {
      fast_p.push_back({{"baseline", of.baseline},
                        {"p", kThresholds[i]},
                        {"fast", of.fast[i]},
                        {"problems", scores.problems},
                        {"share", scores.share(of.fast[i])}});
    }
  }
  return {{"problems", scores.problems},
          {"verified", scores.verified},
          {"solved", scores.solved},
          {"share_solved", scores.share(scores.solved)},
          {"geometric_mean", scores.geometric_mean},
          {"geometric_mean_of_solved", or_null(scores.geometric_mean_of_solved)},
          {"baselines", list_of(scores.over)},
          {"fast_p", std::move(fast_p)}};
}

Json json_of(const SuiteScores& scores) {
  Json json = json_of(scores.all);
  json.update({{"suite", or_null(scores.suite)},
               {"device", scores.device},
               {"clean", scores.clean ? json_of(*scores.clean) : Json()},
               {"unclean", scores.unclean},
               {"older_files", scores.older_files},
               {"definitions", score_definitions()}});
  return json;
}

std::string in_words(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_float()) return fmt::format("{:.4g}", json.get<double>());
  if (!json.is_structured()) return json.is_null() ? "none" : json.dump();
  std::string text;
  for (const auto& [name, value] : json.items()) {
    if (value.is_structured() && value.empty()) continue;
    const std::string inner = in_words(value);
    text += (text.empty() ? "" : ", ") + (json.is_array() ? "" : name + " ") +
            (value.is_object() ? "(" + inner + ")" : inner);
  }
  return text;
}

Json cleaned(const Json& json) {
  if (json.is_string()) return core::clean_line(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  Json clean = json.is_object() ? Json::object() : Json::array();
  for (const auto& [name, value] : json.items()) {
    if (json.is_array()) {
      clean.push_back(cleaned(value));
    } else {
      clean[core::clean_line(name)] = cleaned(value);
    }
  }
  return clean;
}

}  // namespace results::view
