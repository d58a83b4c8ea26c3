#include "results/archive/recorder.h"

#include <random>

#include "core/hash.h"
#include "core/running.h"
#include "results/archive/problems.h"
#include "results/archive/rows.h"

namespace results::archive {
namespace {
using core::Json;

std::string new_campaign_name() {
  constexpr std::string_view kLetters = "abcdefghjkmnpqrstuvwxyz23456789";  // without look-alikes
  std::random_device chance;
  std::string name;
  for (int i = 0; i < 8; ++i) name += kLetters[chance() % kLetters.size()];
  return name;
}

// Replaces a prompt's texts with rows of "texts", which stores each once.
Json with_rows(Database& database, const Json& prompt) {
  return with_texts(prompt, [&](const Json& text) {
    const auto& of = text.get_ref<const std::string&>();
    return Json(NewRow("texts")("hash", core::sha256_hex(of))("text", of).find_or_insert(database));
  });
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
  for (const verifier::verdicts::Counters& launch : m.counters) counters.push_back(verifier::verdicts::to_json(launch));
  NewRow row("measurements", "attempt");
  row("attempt", attempt)("against", against)("clock", m.clock)("outcome", name_of(m.outcome));
  row("stopped_early", m.stopped_early)("counters", counters.empty() ? std::nullopt : std::optional(counters));
  columns(row, m.speed_up);
  const int64_t measurement = row.insert(database());
  for (const verifier::verdicts::WorkloadTiming& timing : m.workloads) {
    const std::vector<char> clocks = pack_clocks(timing.pairs);
    NewRow of("timings", "measurement");
    of("measurement", measurement)("samples", pack(timing.pairs));
    of("clocks", clocks.empty() ? std::nullopt : std::optional(clocks));
    of("weight", timing.weight == 1 ? std::nullopt : std::optional(timing.weight));
    columns(of, timing);
    of.insert(database());
  }
}

int64_t Recorder::add_environment(const Json& facts) {
  const std::string text = stored_text(facts);
  return NewRow("environments")("hash", core::sha256_hex(text))("facts", text).find_or_insert(database());
}

int64_t Recorder::add_problem(const benchsuite::Problem& problem, const std::string& content_hash) {
  const auto files = problem.files.empty() ? std::nullopt : std::optional(Json(problem.files));
  const int64_t row =
      NewRow("problems")("name", problem.name)("hash", content_hash)("json", problem.json_text)("files", files)
          .find_or_insert(database());
  if (files) keep_files(database(), row, stored_text(*files));
  return row;
}

int64_t Recorder::add_solution(const NewSolution& added) {
  NewRow row("solutions");
  row("hash", added.solution->hash())("problem", added.solution->problem)("name", added.name)("origin", added.origin);
  row("parent", added.parent)("source", added.solution->source)("added", now_utc());
  return row.find_or_insert(database());
}

int64_t Recorder::add_candidate(int64_t solution, const sandbox::TunableBinding& binding) {
  return NewRow("candidates")("solution", solution)("tunables", Json(binding)).find_or_insert(database());
}

int64_t Recorder::add_attempt(const NewAttempt& a) {
  Transaction transaction(database());
  const auto* rejected = std::get_if<verifier::verdicts::CompileFailed>(&a.judgement.verdict);
  NewRow compilation("compilations");
  compilation("candidate", a.candidate)("device", a.device)("artefact", unless_empty(a.artefact));
  if (rejected != nullptr) compilation("rejected", sandbox::name_of(rejected->reason));
  columns(compilation, static_cast<const Compiled&>(a));
  const Json judgement = verifier::verdicts::to_json(a.judgement);
  NewRow row("attempts");
  row("campaign", a.campaign)("problem", a.problem)("candidate", a.candidate)("environment", a.environment);
  row("compilation", compilation.insert(database()))("device", a.device)("artefact", unless_empty(a.artefact));
  row("effort", name_of(a.effort))("verdict", name_of(a.judgement.verdict));
  row("verdict_json", judgement["verdict"])("stages", judgement["stages"])("seed", a.judgement.seed);
  row("reused_from", a.reused_from)("made", now_utc())("step", next_step(a.campaign));
  const int64_t attempt = row.insert(database());
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
  NewRow row("events");
  row("made", now_utc())("kind", kind)("details", details);
  row("campaign", campaign)("step", next_step(campaign)).insert(database());
  transaction.commit();
}

int64_t Recorder::add_request(const NewRequest& request) {
  Transaction transaction(database());
  NewRow row("requests");
  columns(row, request);
  row("prompt", with_rows(database(), request.prompt))("step", next_step(request.campaign))("asked", now_utc());
  const int64_t id = row.insert(database());
  transaction.commit();
  return id;
}

int64_t Recorder::add_reply(const NewReply& reply) {
  Transaction transaction(database());
  std::optional<int64_t> campaign;
  {
    Statement asked = database().prepare("SELECT campaign FROM requests WHERE id = ?");
    asked.bind(reply.request);
    if (asked.step()) campaign = asked.integer(0);
  }
  NewRow row("replies");
  columns(row, reply);
  const int64_t id = row("step", next_step(campaign))("arrived", now_utc()).insert(database());
  transaction.commit();
  return id;
}

void Recorder::add_proposed(int64_t reply, int64_t solution) {
  database().prepare("INSERT OR IGNORE INTO proposed (reply, solution) VALUES (?, ?)").bind(reply).bind(solution).run();
}

int64_t Recorder::add_calibration(const std::string& device, const verifier::verdicts::Calibration& calibration) {
  NewRow row("calibrations");
  row("device", device)("made", calibration.made)("facts", verifier::verdicts::to_json(calibration));
  return row.insert(database());
}

int64_t Recorder::add_baseline(const NewBaseline& baseline) {
  const verifier::verdicts::Judgement& judged = baseline.judgement;
  NewRow row("baselines");
  row("problem", baseline.problem)("device", baseline.device)("environment", baseline.environment);
  row("library", baseline.library)("made", now_utc())("verdict", name_of(judged.verdict));
  row("verdict_json", verifier::verdicts::to_json(judged.verdict));
  if (judged.measurement) row("measurement_json", verifier::verdicts::to_json(*judged.measurement));
  return row.insert(database());
}

int64_t Recorder::add_selftest(const NewSelftest& selftest) {
  NewRow row("selftests");
  columns(row, selftest);
  return row("made", now_utc()).insert(database());
}

CampaignRecord Recorder::start_campaign(const Json& settings, int64_t environment) {
  const std::string name = new_campaign_name();
  NewRow row("campaigns");
  row("name", name)("settings", settings)("environment", environment)("status", "running")("started", now_utc());
  row("spent_seconds", 0.0)("steps", 0)("process", core::this_process()).insert(database());
  return find_campaign(name);
}

void Recorder::set_campaign_status(int64_t campaign, const std::string& status) {
  database()
      .prepare("UPDATE campaigns SET status = ?, ended = ?, process = ? WHERE id = ?")
      .bind(status)
      .bind(status == "running" ? std::nullopt : std::optional(now_utc()))
      .bind(core::this_process())
      .bind(campaign)
      .run();
}

}  // namespace results::archive
