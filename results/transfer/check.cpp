#include "results/transfer/check.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "benchsuite/problem.h"
#include "core/error.h"
#include "core/hash.h"
#include "results/archive/rows.h"
#include "results/transfer/record_values.h"
#include "verifier/devices/gpu/calibration.h"
#include "verifier/statistics/statistics.h"
#include "verifier/verdicts/judgement.h"

namespace results::transfer {
namespace {
using core::Json;
using core::JsonView;
using verifier::statistics::Pair;
using verifier::statistics::SpeedUp;

void check_value(const Column& column, const JsonView& value);

bool is_time(const std::string& text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  return text.size() == kForm.size() && std::equal(text.begin(), text.end(), kForm.begin(), [](char c, char f) {
           return f == 'd' ? c >= '0' && c <= '9' : c == f;
         });
}

bool is_seed(const std::string& text) {
  uint64_t seed = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seed);
  return failed == std::errc() && end == text.data() + text.size();
}

void check_least(const JsonView& value, double least) {
  if (value.number() < least) value.fail("is too small");
}

void check_rule(Rule rule, const JsonView& value) {
  switch (rule) {
    case Rule::none:
      break;
    case Rule::filled:
      if (value.json() == "") value.fail("is empty");
      break;
    case Rule::time:
      if (!is_time(value.string())) value.fail("is not a time such as 2026-11-21T10:00:00Z");
      break;
    case Rule::seed:
      if (!is_seed(value.string())) value.fail("is not a seed");
      break;
    case Rule::at_least_0:
      check_least(value, 0);
      break;
    case Rule::at_least_1:
      check_least(value, 1);
      break;
  }
}

void check_members(const Table& table, const JsonView& record) {
  if (!record.json().is_object()) record.fail("must be an object, is " + std::string(record.json().type_name()));
  std::vector<std::string> names{kCopy, kTable};
  for (const Column& column : table.columns) {
    names.push_back(column.name);
    if (record.has(column.name)) {
      check_value(column, record.at(column.name));
      check_rule(column.rule, record.at(column.name));
    } else if (!column.optional) {
      record.fail("\"" + column.name + "\" is missing");
    }
  }
  for (const auto& [name, value] : record.json().items()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) record.at(name).fail("is unknown here");
  }
  if (record.has(kCopy)) static_cast<void>(record.at(kCopy).integer(2));
}

void check_prompt(const JsonView& value) {
  value.expect_object({"system", "turns"});
  static_cast<void>(value.at("system").string());
  for (const JsonView& turn : value.at("turns").items()) {
    turn.expect_object({"speaker", "sections"});
    static_cast<void>(turn.at("speaker").string());
    for (const JsonView& section : turn.at("sections").items()) static_cast<void>(section.string());
  }
}

void check_value(const Column& column, const JsonView& value) {
  switch (column.kind) {
    case Kind::text:
      static_cast<void>(to_text(value));
      break;
    case Kind::json:
      static_cast<void>(core::parse_json(to_json_text(value), value.file() + "#" + value.pointer()));
      break;
    case Kind::integer:
      static_cast<void>(value.integer());
      break;
    case Kind::real:
      if (!std::isfinite(value.number())) value.fail("must be finite");
      break;
    case Kind::flag:
      static_cast<void>(value.boolean());
      break;
    case Kind::blob:
      static_cast<void>(to_blob(value));
      break;
    case Kind::reference:
      static_cast<void>(value.string());
      break;
    case Kind::prompt:
      check_prompt(value);
      break;
    case Kind::part:
    case Kind::child:
      check_members(table_named(column.table), value);
      break;
    case Kind::children:
      for (const JsonView& item : value.items()) check_members(table_named(column.table), item);
      break;
  }
}

void check_hash(const JsonView& record, const std::string& of) {
  if (core::sha256_hex(of) != record.at("hash").string()) record.at("hash").fail("does not match the hashed content");
}

// Parses a value stored as JSON. The result must outlive its view.
Json parsed(const JsonView& value) { return core::parse_json(to_json_text(value), value.file()); }

verifier::verdicts::Verdict check_verdict(const JsonView& record) {
  const JsonView stored = record.at("verdict_json");
  const Json json = parsed(stored);
  verifier::verdicts::Verdict verdict =
      verifier::verdicts::verdict_from_json(JsonView(json, stored.file(), stored.pointer()));
  if (name_of(verdict) != record.at("verdict").string()) {
    record.at("verdict").fail("is not the name of the verdict in verdict_json");
  }
  return verdict;
}

verifier::statistics::SpeedUp speed_up_in(const JsonView& view) {
  return {view.at("speed_up").number(), view.at("low").number(), view.at("high").number()};
}

verifier::verdicts::Measurement measurement_in(const JsonView& view) {
  verifier::verdicts::Measurement m;
  m.clock = view.at("clock").string();
  m.speed_up = speed_up_in(view);
  const std::string outcome = view.at("outcome").one_of({"win", "tie", "loss"}, "outcomes");
  m.outcome = outcome == "win"   ? verifier::statistics::Outcome::win
              : outcome == "tie" ? verifier::statistics::Outcome::tie
                                 : verifier::statistics::Outcome::loss;
  if (view.has("counters")) {
    const Json counters = parsed(view.at("counters"));
    for (const JsonView& launch : JsonView(counters, view.file(), view.pointer() + "/counters").items()) {
      static_cast<void>(verifier::verdicts::counters_from_json(launch));
    }
  }
  if (!view.has("timings")) return m;
  for (const JsonView& timing : view.at("timings").items()) {
    const std::vector<char> clocks = timing.has("clocks") ? to_blob(timing.at("clocks")) : std::vector<char>();
    const std::vector<char> samples = to_blob(timing.at("samples"));
    std::vector<verifier::statistics::Pair> pairs;
    try {
      pairs = archive::unpack(samples, clocks);
    } catch (const core::SystemError& error) {
      timing.fail(error.what());
    }
    if (archive::pack(pairs) != samples || archive::pack_clocks(pairs) != clocks)
      timing.fail("holds samples in an unknown format");
    m.workloads.push_back({timing.at("workload").string(), std::move(pairs), timing.at("candidate_us").number(),
                           timing.at("incumbent_us").number(), speed_up_in(timing),
                           timing.has("bound_us") ? std::optional(timing.at("bound_us").number()) : std::nullopt,
                           timing.has("weight") ? timing.at("weight").number() : 1});
  }
  return m;
}

constexpr double kRounding = 1e-9;  // relative: another libm, another order of sums

bool same(double a, double b) { return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)); }

bool is_duration(double us) { return std::isfinite(us) && us > 0; }

void check_interval(const SpeedUp& s, const std::string& of, const JsonView& view) {
  if (is_duration(s.low) && std::isfinite(s.high) && s.low <= s.value * (1 + kRounding) &&
      s.value <= s.high * (1 + kRounding)) {
    return;
  }
  view.fail("the interval of the speed-up " + of + " does not contain it");
}

double speed_up_of(const std::vector<Pair>& pairs) {
  std::vector<double> logs;
  for (const Pair& pair : pairs) logs.push_back(std::log(pair.incumbent_us / pair.candidate_us));
  return std::exp(verifier::statistics::median(std::move(logs)));
}

void check_samples(const verifier::verdicts::WorkloadTiming& timing, const JsonView& view) {
  std::vector<double> candidate, incumbent;
  for (const Pair& pair : timing.pairs) {
    if (!is_duration(pair.candidate_us) || !is_duration(pair.incumbent_us)) {
      view.fail("the samples of " + timing.workload + " contain a value that is not a time");
    }
    candidate.push_back(pair.candidate_us);
    incumbent.push_back(pair.incumbent_us);
  }
  if (!same(verifier::statistics::median(std::move(candidate)), timing.candidate_us) ||
      !same(verifier::statistics::median(std::move(incumbent)), timing.incumbent_us)) {
    view.fail("the times of " + timing.workload + " are not the medians of its samples");
  }
  if (!same(speed_up_of(verifier::statistics::steady_pairs(timing.pairs)), timing.speed_up.value)) {
    view.fail("the speed-up at " + timing.workload + " does not match its samples");
  }
}
// Medians, speed-ups and outcome must match the samples. An interval also depends on the resampling, so it only has to
// contain the speed-up. Without samples (pruned), the rest must still be consistent.
void check_figures(const verifier::verdicts::Measurement& m, const JsonView& view) {
  if (m.workloads.empty()) view.fail("is a measurement of no workload");
  std::vector<verifier::statistics::WeightedSpeedUp> parts;
  for (const verifier::verdicts::WorkloadTiming& timing : m.workloads) {
    if (!is_duration(timing.candidate_us) || !is_duration(timing.incumbent_us) ||
        (timing.bound_us && !(*timing.bound_us >= 0))) {
      view.fail("the times of " + timing.workload + " are none");
    }
    check_interval(timing.speed_up, "at " + timing.workload, view);
    if (!timing.pairs.empty()) check_samples(timing, view);
    if (!is_duration(timing.weight)) view.fail("the weight of " + timing.workload + " is not a number above 0");
    parts.push_back({timing.speed_up, timing.weight});
  }
  check_interval(m.speed_up, "over all workloads", view);
  const SpeedUp all = verifier::statistics::combine(parts);
  if (!same(all.value, m.speed_up.value) || !same(all.low, m.speed_up.low) || !same(all.high, m.speed_up.high)) {
    view.fail("the speed-up does not match those of its workloads");
  }
  if (verifier::statistics::decide(m.speed_up) != m.outcome) {
    view.fail("is called a " + std::string(name_of(m.outcome)) + ", which does not follow from its speed-up");
  }
}

void check_attempt(const JsonView& record) {
  const std::string effort = record.at("effort").string();
  if (!core::enum_from_name<verifier::verdicts::Effort>(effort)) record.at("effort").fail("is not an effort");
  const verifier::verdicts::Verdict verdict = check_verdict(record);
  const Json stages = parsed(record.at("stages"));
  if (!stages.is_object()) record.at("stages").fail("must be an object");
  const JsonView compilation = record.at("compilation");
  const auto* refused = std::get_if<verifier::verdicts::CompileFailed>(&verdict);
  if ((refused == nullptr) == compilation.has("rejected")) compilation.fail("does not fit the verdict");
  if (refused != nullptr && compilation.at("rejected").string() != sandbox::name_of(refused->reason)) {
    compilation.at("rejected").fail("does not fit the verdict");
  }
  if (!record.has("measurement")) return;
  const JsonView measured = record.at("measurement");
  if (!verifier::verdicts::is_correct(verdict)) measured.fail("belongs to a candidate that is not correct");
  const verifier::verdicts::Measurement m = measurement_in(measured);
  check_figures(m, measured);
  const auto without = [](const verifier::verdicts::WorkloadTiming& timing) { return timing.pairs.empty(); };
  if (effort == "confirm" && std::any_of(m.workloads.begin(), m.workloads.end(), without)) {
    measured.fail("is a confirmation without its samples");
  }
}

void check_campaign(const JsonView& record) {
  const std::string name = record.at("name").string();
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (name.empty() || name.size() > 200 || !std::all_of(name.begin(), name.end(), allowed)) {
    record.at("name").fail("must be lower-case letters, digits and dashes");
  }
  if (!parsed(record.at("settings")).is_object()) record.at("settings").fail("must be an object");
  record.at("status").one_of({"running", "done", "interrupted", "failed"}, "states");
}

void check_baseline(const JsonView& record) {
  const verifier::verdicts::Verdict verdict = check_verdict(record);
  if (!record.has("measurement_json")) return;
  const JsonView stored = record.at("measurement_json");
  if (!verifier::verdicts::is_correct(verdict)) stored.fail("belongs to a library that is not correct");
  const Json json = parsed(stored);
  check_figures(verifier::verdicts::measurement_from_json(JsonView(json, stored.file(), stored.pointer())), stored);
}

void check_problem(const JsonView& record) {
  if (!record.has("files")) return;
  benchsuite::SourceFiles files;
  const Json stored = parsed(record.at("files"));
  for (const auto& [name, text] : JsonView(stored, record.file(), record.pointer() + "/files").members()) {
    files.emplace(name, text.string());
  }
  if (benchsuite::content_hash(to_json_text(record.at("json")), files) != record.at("hash").string()) {
    record.at("hash").fail("is not the hash of its problem's files");
  }
}

void check_candidate(const JsonView& record) {
  const Json tunables = parsed(record.at("tunables"));
  if (!tunables.is_object()) record.at("tunables").fail("must be an object");
  for (const auto& [name, value] : JsonView(tunables, record.file(), record.pointer() + "/tunables").members()) {
    static_cast<void>(value.integer());
  }
}

void check_selftest(const JsonView& record) {
  check_least(record.at("dishonest"), record.at("false_accepts").number());
  check_least(record.at("honest"), record.at("false_rejects").number());
}

void check_calibration(const JsonView& record) {
  const Json facts = parsed(record.at("facts"));
  const auto calibration =
      verifier::verdicts::calibration_from_json(JsonView(facts, record.file(), record.pointer() + "/facts"));
  if (calibration.made != record.at("made").string()) record.at("made").fail("is not the time of its facts");
}

using Check = void (*)(const JsonView& record);
const std::map<std::string, Check, std::less<>>& meanings() {
  static const std::map<std::string, Check, std::less<>> all{
      {"environments", [](const JsonView& r) { check_hash(r, to_json_text(r.at("facts"))); }},
      {"solutions", [](const JsonView& r) { check_hash(r, to_text(r.at("source"))); }},
      {"texts", [](const JsonView& r) { check_hash(r, to_text(r.at("text"))); }},
      {"problems", check_problem},
      {"candidates", check_candidate},
      {"campaigns", check_campaign},
      {"attempts", check_attempt},
      {"calibrations", check_calibration},
      {"baselines", check_baseline},
      {"selftests", check_selftest}};
  return all;
}
}  // namespace

void check_record(const Table& table, const JsonView& record) {
  check_members(table, record);
  if (const auto found = meanings().find(table.name); found != meanings().end()) found->second(record);
}

}  // namespace results::transfer
