#include "results/transfer/check.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "core/error.h"
#include "core/hash.h"
#include "results/archive/samples.h"
#include "results/transfer/record_values.h"
#include "verifier/verdicts/calibration.h"
#include "verifier/verdicts/judgement.h"

namespace results::transfer {
namespace {
using core::Json;
using core::JsonView;

void check_value(const archive::Column& column, const JsonView& value);

void check_members(const archive::Table& table, const JsonView& record) {
  if (!record.json().is_object()) record.fail("must be an object, is " + std::string(record.json().type_name()));
  std::vector<std::string> names{kCopy, kTable};
  for (const archive::Column& column : table.columns) {
    names.push_back(column.name);
    if (record.has(column.name)) {
      check_value(column, record.at(column.name));
    } else if (!column.optional) {
      record.fail("\"" + column.name + "\" is missing");
    }
  }
  for (const auto& [name, value] : record.json().items()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) record.at(name).fail("is not known here");
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

void check_value(const archive::Column& column, const JsonView& value) {
  switch (column.kind) {
    case archive::Kind::text:
      static_cast<void>(to_text(value));
      break;
    case archive::Kind::json:
      static_cast<void>(core::parse_json(to_json_text(value), value.file() + "#" + value.pointer()));
      break;
    case archive::Kind::integer:
      static_cast<void>(value.integer());
      break;
    case archive::Kind::real:
      if (!std::isfinite(value.number())) value.fail("must be finite");
      break;
    case archive::Kind::flag:
      static_cast<void>(value.boolean());
      break;
    case archive::Kind::blob:
      static_cast<void>(to_blob(value));
      break;
    case archive::Kind::reference:
      static_cast<void>(value.string());
      break;
    case archive::Kind::prompt:
      check_prompt(value);
      break;
    case archive::Kind::part:
    case archive::Kind::child:
      check_members(archive::table_named(column.table), value);
      break;
    case archive::Kind::children:
      for (const JsonView& item : value.items()) check_members(archive::table_named(column.table), item);
      break;
  }
}

void check_hash(const JsonView& record, const std::string& of) {
  if (core::sha256_hex(of) != record.at("hash").string()) record.at("hash").fail("does not fit what it is the hash of");
}

// "2026-11-21T10:00:00Z"
void check_time(const JsonView& value) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  const std::string text = value.string();
  const bool fits = text.size() == kForm.size() &&
                    std::equal(text.begin(), text.end(), kForm.begin(),
                               [](char c, char f) { return f == 'd' ? c >= '0' && c <= '9' : c == f; });
  if (!fits) value.fail("is no time such as 2026-11-21T10:00:00Z");
}

void check_least(const JsonView& record, const std::vector<std::string>& names, double least = 0) {
  for (const std::string& name : names) {
    if (record.has(name) && record.at(name).number() < least) record.at(name).fail("is too small");
  }
}

void check_not_empty(const JsonView& record, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (record.at(name).json() == "") record.at(name).fail("is empty");
  }
}

void check_seed(const JsonView& value) {
  const std::string text = value.string();
  uint64_t seed = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (failed != std::errc() || end != text.data() + text.size()) value.fail("is no seed");
}

// A value stored as JSON; must outlive the view of it.
Json parsed(const JsonView& value) { return core::parse_json(to_json_text(value), value.file()); }

verifier::verdicts::Verdict check_verdict(const JsonView& record) {
  const JsonView stored = record.at("verdict_json");
  const Json json = parsed(stored);
  verifier::verdicts::Verdict verdict =
      verifier::verdicts::verdict_from_json(JsonView(json, stored.file(), stored.pointer()));
  if (name_of(verdict) != record.at("verdict").string()) {
    record.at("verdict").fail("is not the name of what verdict_json holds");
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
      timing.fail("holds samples that are not as we pack them");
    m.workloads.push_back({timing.at("workload").string(), std::move(pairs), timing.at("candidate_us").number(),
                           timing.at("incumbent_us").number(), speed_up_in(timing),
                           timing.has("bound_us") ? std::optional(timing.at("bound_us").number()) : std::nullopt});
  }
  return m;
}

void check_attempt(const JsonView& record) {
  const std::string effort = record.at("effort").string();
  if (!verifier::verdicts::effort_from_name(effort)) record.at("effort").fail("is no effort");
  const verifier::verdicts::Verdict verdict = check_verdict(record);
  check_seed(record.at("seed"));
  check_time(record.at("made"));
  check_least(record, {"step"}, 1);
  check_not_empty(record, {"device"});
  const Json stages = parsed(record.at("stages"));
  if (!stages.is_object()) record.at("stages").fail("must be an object");
  const JsonView compilation = record.at("compilation");
  check_least(compilation, {"compile_ms", "registers", "shared_bytes", "spill_bytes"});
  const auto* refused = std::get_if<verifier::verdicts::CompileFailed>(&verdict);
  if ((refused == nullptr) == compilation.has("rejected")) compilation.fail("does not fit the verdict");
  if (refused != nullptr && compilation.at("rejected").string() != sandbox::name_of(refused->reason)) {
    compilation.at("rejected").fail("does not fit the verdict");
  }
  if (!record.has("measurement")) return;
  const JsonView measured = record.at("measurement");
  if (!verifier::verdicts::is_correct(verdict)) measured.fail("is of a candidate that is not correct");
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
  check_time(record.at("started"));
  if (record.has("ended")) check_time(record.at("ended"));
  check_least(record, {"spent_seconds", "steps"});
}

void check_baseline(const JsonView& record) {
  check_time(record.at("made"));
  check_not_empty(record, {"device", "library"});
  const verifier::verdicts::Verdict verdict = check_verdict(record);
  if (!record.has("measurement_json")) return;
  const JsonView stored = record.at("measurement_json");
  if (!verifier::verdicts::is_correct(verdict)) stored.fail("is of a library that is not correct");
  const Json json = parsed(stored);
  check_figures(verifier::verdicts::measurement_from_json(JsonView(json, stored.file(), stored.pointer())), stored);
}

void check_candidate(const JsonView& record) {
  const Json tunables = parsed(record.at("tunables"));
  if (!tunables.is_object()) record.at("tunables").fail("must be an object");
  for (const auto& [name, value] : JsonView(tunables, record.file(), record.pointer() + "/tunables").members()) {
    static_cast<void>(value.integer());
  }
}

void check_selftest(const JsonView& record) {
  check_seed(record.at("seed"));
  check_time(record.at("made"));
  check_not_empty(record, {"device"});
  check_least(record, {"seconds", "false_accepts", "false_rejects", "widest_noise", "candidates_per_hour"});
  check_least(record, {"dishonest"}, record.at("false_accepts").number());
  check_least(record, {"honest"}, record.at("false_rejects").number());
}

void check_calibration(const JsonView& record) {
  const Json facts = parsed(record.at("facts"));
  check_not_empty(record, {"device"});
  const auto calibration =
      verifier::verdicts::calibration_from_json(JsonView(facts, record.file(), record.pointer() + "/facts"));
  if (calibration.made != record.at("made").string()) record.at("made").fail("is not when its facts were made");
}

void check_reply(const JsonView& record) {
  check_not_empty(record, {"outcome"});
  check_least(record, {"input", "cache_read", "cache_written", "output", "dollars", "tries", "seconds"});
  check_least(record, {"step"}, 1);
  check_time(record.at("arrived"));
}

void check_request(const JsonView& record) {
  check_not_empty(record, {"problem", "model"});
  check_least(record, {"number", "step"}, 1);
  check_least(record, {"reserved_tokens", "reserved_dollars"});
  check_time(record.at("asked"));
}

const std::map<std::string, std::function<void(const JsonView&)>, std::less<>>& meanings() {
  static const std::map<std::string, std::function<void(const JsonView&)>, std::less<>> all{
      {"environments", [](const JsonView& r) { check_hash(r, to_json_text(r.at("facts"))); }},
      {"problems",
       [](const JsonView& r) {
         check_not_empty(r, {"name", "hash"});
       }},
      {"solutions",
       [](const JsonView& r) {
         check_hash(r, to_text(r.at("source")));
         check_not_empty(r, {"problem", "name", "origin"});
         check_time(r.at("added"));
       }},
      {"candidates", check_candidate},
      {"campaigns", check_campaign},
      {"texts", [](const JsonView& r) { check_hash(r, to_text(r.at("text"))); }},
      {"requests", check_request},
      {"replies", check_reply},
      {"proposed", [](const JsonView&) {}},
      {"attempts", check_attempt},
      {"events",
       [](const JsonView& r) {
         check_time(r.at("made"));
         check_not_empty(r, {"kind"});
         check_least(r, {"step"}, 1);
       }},
      {"calibrations", check_calibration},
      {"baselines", check_baseline},
      {"selftests", check_selftest}};
  return all;
}
}  // namespace

void check_record(const archive::Table& table, const JsonView& record) {
  check_members(table, record);
  if (const auto found = meanings().find(table.name); found != meanings().end()) found->second(record);
}

}  // namespace results::transfer
