// Verdicts as JSON: {"name": <stored name>, ...fields}. Reading is strict.
#include <functional>
#include <map>
#include <utility>

#include "sandbox/wire.h"
#include "verifier/verdicts/verdict.h"

namespace verifier::verdicts {
namespace {
using core::Json;
using core::JsonView;

Json to_json(const Where& w) {
  return {{"workload", w.workload}, {"axes", w.axes}, {"distribution", w.distribution}, {"order", w.order}};
}
Where where(const JsonView& json) {
  const JsonView w = json.at("where");
  return {w.at("workload").string(), w.at("axes").string(), w.at("distribution").string(), w.at("order").string()};
}
Json to_json(const std::optional<Where>& w) { return w ? to_json(*w) : Json(); }
std::optional<Where> optional_where(const JsonView& json) {
  if (json.at("where").json().is_null()) return std::nullopt;
  return where(json);
}

// Absent where there is none to see, and in older archives.
std::optional<Pattern> pattern(const JsonView& json) {
  if (!json.has("pattern")) return std::nullopt;
  const JsonView kind = json.at("pattern").at("kind");
  const auto known = core::enum_from_name<PatternKind>(kind.string());
  if (!known) kind.fail("\"" + kind.string() + "\" is no pattern");
  return Pattern{*known, json.at("pattern").at("sentence").string()};
}

// NaN and infinities, which JSON lacks, travel as strings.
Json number_json(double value) {
  if (value != value) return "nan";
  if (value - value != 0) return value > 0 ? "inf" : "-inf";
  return value;
}
double number_json(const JsonView& json) {
  if (!json.json().is_string()) return json.number();
  const std::string text = json.string();
  if (text == "nan") return __builtin_nan("");
  if (text == "inf") return __builtin_inf();
  if (text == "-inf") return -__builtin_inf();
  json.fail("is no number");
}

Json fields(const Correct& v) {
  Json json{{"launches", v.launches}, {"worst_ratio", number_json(v.worst_ratio)}, {"deterministic", v.deterministic}};
  if (v.scope.elements > 0) {
    json["scope"] = {{"largest", v.scope.largest}, {"elements", v.scope.elements}};
    if (v.scope.not_run) json["scope"]["not_run"] = *v.scope.not_run;
  }
  if (v.host_check) {
    json["host_check"] = {{"passed", v.host_check->passed}, {"why_not", v.host_check->why_not}};
    if (!v.host_check->dismissed.empty()) json["host_check"]["dismissed"] = v.host_check->dismissed;
  }
  return json;
}
Correct correct(const JsonView& json) {
  Correct v{json.at("launches").integer(), number_json(json.at("worst_ratio")), json.at("deterministic").boolean()};
  if (json.has("host_check")) {
    const JsonView check = json.at("host_check");
    v.host_check = HostCheck{check.at("passed").boolean(), check.at("why_not").string(),
                             check.has("dismissed") ? check.at("dismissed").string() : ""};
  }
  if (!json.has("scope")) return v;  // of before it was recorded
  const JsonView scope = json.at("scope");
  for (const auto& [axis, size] : scope.at("largest").members()) v.scope.largest[axis] = size.integer();
  v.scope.elements = scope.at("elements").integer();
  if (scope.has("not_run")) {
    v.scope.not_run.emplace();
    for (const JsonView& line : scope.at("not_run").items()) v.scope.not_run->push_back(line.integer());
  }
  return v;
}
Json fields(const CompileFailed& v) { return {{"message", v.message}, {"line", v.line ? Json(*v.line) : Json()}}; }
Json fields(const InvalidPlan& v) { return {{"message", v.message}}; }
Json fields(const WrongResult& v) {
  Json json{{"where", to_json(v.where)},           {"output", v.output},        {"index", v.index},
            {"expected", number_json(v.expected)}, {"got", number_json(v.got)}, {"ratio", number_json(v.ratio)},
            {"wrong_elements", v.wrong_elements},  {"elements", v.elements}};
  if (v.pattern) json["pattern"] = {{"kind", name_of(v.pattern->kind)}, {"sentence", v.pattern->sentence}};
  return json;
}
Json fields(const NotWritten& v) {
  return {{"where", to_json(v.where)},
          {"output", v.output},
          {"index", v.index},
          {"count", v.count},
          {"elements", v.elements}};
}
Json fields(const WrongNonFinite& v) {
  return {{"where", to_json(v.where)},
          {"output", v.output},
          {"index", v.index},
          {"expected", number_json(v.expected)},
          {"got", number_json(v.got)}};
}
Json fields(const OrderDependent& v) { return {{"where", to_json(v.where)}, {"output", v.output}, {"index", v.index}}; }
Json fields(const GuardDamaged& v) { return {{"where", to_json(v.where)}, {"buffer", v.buffer}}; }
Json fields(const InputModified& v) { return {{"where", to_json(v.where)}, {"input", v.input}}; }
Json fields(const Faulted& v) { return {{"where", to_json(v.where)}, {"fault", sandbox::to_json(v.fault)}}; }
Json fields(const TimedOut& v) { return {{"where", to_json(v.where)}, {"limit_s", v.limit_s}}; }
Json fields(const Crashed& v) { return {{"where", to_json(v.where)}, {"signal", v.signal}}; }
Json fields(const ForbiddenCall& v) { return {{"where", to_json(v.where)}}; }
Json fields(const MemoryLimit& v) { return {{"message", v.message}}; }
Json fields(const TooFast& v) { return {{"workload", v.workload}, {"time_us", v.time_us}, {"floor_us", v.floor_us}}; }

using Reader = std::function<Verdict(const JsonView&)>;
const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> all{
      {"correct", correct},
      {"invalid_plan", [](const JsonView& j) { return InvalidPlan{j.at("message").string()}; }},
      {"wrong_result",
       [](const JsonView& j) {
         return WrongResult{where(j),
                            j.at("output").string(),
                            j.at("index").integer(),
                            number_json(j.at("expected")),
                            number_json(j.at("got")),
                            number_json(j.at("ratio")),
                            j.at("wrong_elements").integer(),
                            j.at("elements").integer(),
                            pattern(j)};
       }},
      {"not_written",
       [](const JsonView& j) {
         return NotWritten{where(j), j.at("output").string(), j.at("index").integer(), j.at("count").integer(),
                           j.at("elements").integer()};
       }},
      {"wrong_non_finite",
       [](const JsonView& j) {
         return WrongNonFinite{where(j), j.at("output").string(), j.at("index").integer(),
                               number_json(j.at("expected")), number_json(j.at("got"))};
       }},
      {"order_dependent",
       [](const JsonView& j) {
         return OrderDependent{where(j), j.at("output").string(), j.at("index").integer()};
       }},
      {"guard_damaged",
       [](const JsonView& j) {
         return GuardDamaged{where(j), j.at("buffer").string()};
       }},
      {"input_modified",
       [](const JsonView& j) {
         return InputModified{where(j), j.at("input").string()};
       }},
      {"timed_out",
       [](const JsonView& j) {
         return TimedOut{optional_where(j), j.at("limit_s").number()};
       }},
      {"crashed",
       [](const JsonView& j) {
         return Crashed{optional_where(j), static_cast<int>(j.at("signal").integer(0, 128))};
       }},
      {"forbidden_call", [](const JsonView& j) { return ForbiddenCall{optional_where(j)}; }},
      {"memory_limit", [](const JsonView& j) { return MemoryLimit{j.at("message").string()}; }},
      {"too_fast", [](const JsonView& j) {
         return TooFast{j.at("workload").string(), j.at("time_us").number(), j.at("floor_us").number()};
       }}};
  return all;
}
}  // namespace

Json to_json(const Verdict& verdict) {
  Json json = std::visit([](const auto& v) { return fields(v); }, verdict);
  json["name"] = name_of(verdict);
  return json;
}

Verdict verdict_from_json(const JsonView& json) {
  const std::string name = json.at("name").string();
  if (json.has("fault")) return Faulted{where(json), sandbox::fault_from_json(json.at("fault"))};
  if (const auto reason = core::enum_from_name<sandbox::Rejection>(name)) {
    const JsonView line = json.at("line");
    return CompileFailed{*reason, json.at("message").string(),
                         line.json().is_null() ? std::nullopt : std::optional(line.integer())};
  }
  const auto reader = readers().find(name);
  if (reader == readers().end()) json.at("name").fail("\"" + name + "\" is no verdict");
  return reader->second(json);
}

}  // namespace verifier::verdicts
