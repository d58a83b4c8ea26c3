#include "results/archive/recorder.h"

#include <array>
#include <ctime>
#include <random>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "results/archive/database.h"
#include "results/archive/samples.h"

namespace results::archive {
namespace {
using core::Json;

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string new_campaign_name() {
  constexpr std::string_view kLetters = "abcdefghjkmnpqrstuvwxyz23456789";  // none that look alike
  std::random_device chance;
  std::string name;
  for (int i = 0; i < 8; ++i) name += kLetters[chance() % kLetters.size()];
  return name;
}

// Never throws, whatever bytes a candidate brought into a message.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string binding_text(const sandbox::TunableBinding& binding) { return Json(binding).dump(); }

// The id of the row that `select` finds, or of the one that `insert` adds.
template <typename Bind>
int64_t find_or_add(Database& database, const std::string& select, const std::string& insert, Bind bind_key,
                    auto bind_row) {
  {
    Statement found = database.prepare(select);
    bind_key(found);
    if (found.step()) return found.integer(0);
  }
  {
    Statement added = database.prepare(insert);  // does nothing where another process was quicker
    bind_row(added);
    added.run();
  }
  Statement found = database.prepare(select);
  bind_key(found);
  if (!found.step()) throw core::SystemError("the archive lost a row that was just added");
  return found.integer(0);
}
}  // namespace

std::optional<int64_t> Recorder::next_step(std::optional<int64_t> campaign) {
  if (!campaign) return std::nullopt;
  Statement counted = database().prepare("UPDATE campaigns SET steps = steps + 1 WHERE id = ? RETURNING steps");
  counted.bind(*campaign);
  if (!counted.step()) return std::nullopt;
  const int64_t step = counted.integer(0);
  counted.run();
  return step;
}

void Recorder::add_measurement(int64_t attempt, int64_t against, const verifier::verdicts::Measurement& m) {
  Json counters = Json::array();
  for (const verifier::verdicts::Counters& launch : m.counters) counters.push_back(to_json(launch));
  database()
      .prepare(
          "INSERT INTO measurements (attempt, against, clock, outcome, speed_up, low, high, stopped_early, counters)"
          " VALUES (?,?,?,?,?,?,?,?,?)")
      .bind(attempt)
      .bind(against)
      .bind(m.clock)
      .bind(name_of(m.outcome))
      .bind(m.speed_up.value)
      .bind(m.speed_up.low)
      .bind(m.speed_up.high)
      .bind(int64_t{m.stopped_early})
      .bind(counters.empty() ? std::nullopt : std::optional(text_of(counters)))
      .run();
  const int64_t measurement = database().last_id();
  for (const verifier::verdicts::WorkloadTiming& timing : m.workloads) {
    const std::vector<char> clocks = pack_clocks(timing.pairs);
    Statement row = database().prepare(
        "INSERT INTO timings (measurement, workload, candidate_us, incumbent_us, speed_up, low, high, samples, "
        "bound_us, "
        "clocks) VALUES (?,?,?,?,?,?,?,?,?,?)");
    row.bind(measurement)
        .bind(timing.workload)
        .bind(timing.candidate_us)
        .bind(timing.incumbent_us)
        .bind(timing.speed_up.value)
        .bind(timing.speed_up.low)
        .bind(timing.speed_up.high)
        .bind_blob(pack(timing.pairs))
        .bind(timing.bound_us);
    if (clocks.empty()) {
      row.bind_null();
    } else {
      row.bind_blob(clocks);
    }
    row.run();
  }
}

int64_t Recorder::add_environment(const Json& facts) {
  const std::string text = text_of(facts);
  const std::string hash = core::sha256_hex(text);
  return find_or_add(
      database(), "SELECT id FROM environments WHERE hash = ?",
      "INSERT OR IGNORE INTO environments (hash, facts) VALUES (?, ?)", [&](Statement& s) { s.bind(hash); },
      [&](Statement& s) { s.bind(hash).bind(text); });
}

int64_t Recorder::add_problem(const benchsuite::Problem& problem, const std::string& content_hash) {
  return find_or_add(
      database(), "SELECT id FROM problems WHERE name = ? AND hash = ?",
      "INSERT OR IGNORE INTO problems (name, hash, json) VALUES (?, ?, ?)",
      [&](Statement& s) { s.bind(problem.name).bind(content_hash); },
      [&](Statement& s) { s.bind(problem.name).bind(content_hash).bind(problem.json_text); });
}

int64_t Recorder::add_solution(const NewSolution& added) {
  const std::string hash = added.solution->hash();
  return find_or_add(
      database(), "SELECT id FROM solutions WHERE hash = ?",
      "INSERT OR IGNORE INTO solutions (hash, problem, name, origin, parent, source, added) VALUES (?, ?, ?, ?, ?, ?, "
      "?)",
      [&](Statement& s) { s.bind(hash); },
      [&](Statement& s) {
        s.bind(hash)
            .bind(added.solution->problem)
            .bind(added.name)
            .bind(added.origin)
            .bind(added.parent)
            .bind(added.solution->source)
            .bind(now_utc());
      });
}

int64_t Recorder::add_candidate(int64_t solution, const sandbox::TunableBinding& binding) {
  const std::string tunables = binding_text(binding);
  return find_or_add(
      database(), "SELECT id FROM candidates WHERE solution = ? AND tunables = ?",
      "INSERT OR IGNORE INTO candidates (solution, tunables) VALUES (?, ?)",
      [&](Statement& s) { s.bind(solution).bind(tunables); }, [&](Statement& s) { s.bind(solution).bind(tunables); });
}

int64_t Recorder::add_attempt(const NewAttempt& a) {
  Transaction transaction(database());
  const auto optional_text = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(std::string_view(text));
  };
  const auto* rejected = std::get_if<verifier::verdicts::CompileFailed>(&a.judgement.verdict);
  database()
      .prepare(
          "INSERT INTO compilations (candidate, device, artefact, rejected, log, compile_ms, registers,"
          " shared_bytes, spill_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(a.candidate)
      .bind(a.device)
      .bind(optional_text(a.artefact))
      .bind(rejected != nullptr ? std::optional(sandbox::name_of(rejected->reason)) : std::nullopt)
      .bind(a.compile_log)
      .bind(a.compile_ms)
      .bind(a.registers)
      .bind(a.shared_bytes)
      .bind(a.spill_bytes)
      .run();
  const int64_t compilation = database().last_id();
  const Json judgement = to_json(a.judgement);
  const std::optional<int64_t> step = next_step(a.campaign);
  database()
      .prepare(
          "INSERT INTO attempts (campaign, problem, candidate, compilation, environment, device, artefact, effort, "
          "verdict,"
          " verdict_json, stages, seed, reused_from, made, step) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(a.campaign)
      .bind(a.problem)
      .bind(a.candidate)
      .bind(compilation)
      .bind(a.environment)
      .bind(a.device)
      .bind(optional_text(a.artefact))
      .bind(name_of(a.effort))
      .bind(name_of(a.judgement.verdict))
      .bind(text_of(judgement["verdict"]))
      .bind(judgement["stages"].dump())
      .bind(std::to_string(a.judgement.seed))
      .bind(a.reused_from)
      .bind(now_utc())
      .bind(step)
      .run();
  const int64_t attempt = database().last_id();
  if (a.judgement.measurement) add_measurement(attempt, a.against.value(), *a.judgement.measurement);
  if (a.campaign) {
    database()
        .prepare("UPDATE campaigns SET spent_seconds = spent_seconds + ? WHERE id = ?")
        .bind(a.seconds)
        .bind(*a.campaign)
        .run();
  }
  transaction.commit();
  return attempt;
}

void Recorder::add_event(std::optional<int64_t> campaign, const std::string& kind, const Json& details) {
  Transaction transaction(database());
  const std::optional<int64_t> step = next_step(campaign);
  database()
      .prepare("INSERT INTO events (campaign, made, kind, details, step) VALUES (?, ?, ?, ?, ?)")
      .bind(campaign)
      .bind(now_utc())
      .bind(kind)
      .bind(text_of(details))
      .bind(step)
      .run();
  transaction.commit();
}

int64_t Recorder::add_calibration(const std::string& device, const verifier::verdicts::Calibration& calibration) {
  database()
      .prepare("INSERT INTO calibrations (device, made, facts) VALUES (?, ?, ?)")
      .bind(device)
      .bind(calibration.made)
      .bind(text_of(to_json(calibration)))
      .run();
  return database().last_id();
}

CampaignRecord Recorder::start_campaign(const Json& settings, int64_t environment) {
  const std::string name = new_campaign_name();
  database()
      .prepare("INSERT INTO campaigns (name, settings, environment, status, started) VALUES (?, ?, ?, 'running', ?)")
      .bind(name)
      .bind(text_of(settings))
      .bind(environment)
      .bind(now_utc())
      .run();
  return find_campaign(name);
}

void Recorder::set_campaign_status(int64_t campaign, const std::string& status) {
  database()
      .prepare("UPDATE campaigns SET status = ?, ended = ? WHERE id = ?")
      .bind(status)
      .bind(status == "running" ? std::nullopt : std::optional(now_utc()))
      .bind(campaign)
      .run();
}

int64_t Recorder::add_baseline(const NewBaseline& baseline) {
  Statement row = database().prepare(
      "INSERT INTO baselines (problem, device, environment, library, made, verdict, verdict_json, measurement_json)"
      " VALUES (?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?)");
  row.bind(baseline.problem)
      .bind(baseline.device)
      .bind(baseline.environment)
      .bind(baseline.library)
      .bind(name_of(baseline.judgement.verdict))
      .bind(text_of(to_json(baseline.judgement.verdict)));
  if (baseline.judgement.measurement) {
    row.bind(text_of(to_json(*baseline.judgement.measurement)));
  } else {
    row.bind_null();
  }
  row.run();
  return database().last_id();
}

int64_t Recorder::add_selftest(const NewSelftest& s) {
  database()
      .prepare(
          "INSERT INTO selftests (device, environment, made, seed, quick, seconds, dishonest, false_accepts, honest,"
          " false_rejects, widest_noise, candidates_per_hour, details)"
          " VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(s.device)
      .bind(s.environment)
      .bind(std::to_string(s.seed))
      .bind(int64_t{s.quick})
      .bind(s.seconds)
      .bind(s.dishonest)
      .bind(s.false_accepts)
      .bind(s.honest)
      .bind(s.false_rejects)
      .bind(s.widest_noise)
      .bind(s.candidates_per_hour)
      .bind(text_of(s.details))
      .run();
  return database().last_id();
}

}  // namespace results::archive
