#include <array>
#include <ctime>
#include <random>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "results/archive_state.h"
#include "results/samples.h"
#include "results/schema.h"

namespace results {
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

std::filesystem::path with_folder(const std::filesystem::path& file) {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw core::InputError(file.string(), "its folder cannot be made: " + failed.message(),
                           "give a writable place with --archive");
  }
  return file;
}
}  // namespace

Archive::State::State(const std::filesystem::path& file) : database(file) { migrate(database, file); }

std::optional<int64_t> Archive::State::next_step(std::optional<int64_t> campaign) {
  if (!campaign) return std::nullopt;
  Statement counted = database.prepare("UPDATE campaigns SET steps = steps + 1 WHERE id = ? RETURNING steps");
  counted.bind(*campaign);
  if (!counted.step()) return std::nullopt;
  const int64_t step = counted.integer(0);
  counted.run();
  return step;
}

void Archive::State::add_measurement(int64_t attempt, int64_t against, const verifier::Measurement& m) {
  Json counters = Json::array();
  for (const verifier::Counters& launch : m.counters) counters.push_back(verifier::to_json(launch));
  database
      .prepare(
          "INSERT INTO measurements (attempt, against, clock, outcome, speed_up, low, high, stopped_early, counters)"
          " VALUES (?,?,?,?,?,?,?,?,?)")
      .bind(attempt)
      .bind(against)
      .bind(m.clock)
      .bind(verifier::name_of(m.outcome))
      .bind(m.speed_up.value)
      .bind(m.speed_up.low)
      .bind(m.speed_up.high)
      .bind(int64_t{m.stopped_early})
      .bind(counters.empty() ? std::nullopt : std::optional(text_of(counters)))
      .run();
  const int64_t measurement = database.last_id();
  for (const verifier::WorkloadTiming& timing : m.workloads) {
    const std::vector<char> clocks = pack_clocks(timing.pairs);
    Statement row = database.prepare(
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

Archive::Archive(const std::filesystem::path& file) : state_(std::make_unique<State>(with_folder(file))) {}
Archive::Archive(Archive&&) noexcept = default;
Archive::~Archive() = default;

int64_t Archive::add_environment(const Json& facts) {
  const std::string text = text_of(facts);
  const std::string hash = core::sha256_hex(text);
  return find_or_add(
      state_->database, "SELECT id FROM environments WHERE hash = ?",
      "INSERT OR IGNORE INTO environments (hash, facts) VALUES (?, ?)", [&](Statement& s) { s.bind(hash); },
      [&](Statement& s) { s.bind(hash).bind(text); });
}

int64_t Archive::add_problem(const benchsuite::Problem& problem, const std::string& content_hash) {
  return find_or_add(
      state_->database, "SELECT id FROM problems WHERE name = ? AND hash = ?",
      "INSERT OR IGNORE INTO problems (name, hash, json) VALUES (?, ?, ?)",
      [&](Statement& s) { s.bind(problem.name).bind(content_hash); },
      [&](Statement& s) { s.bind(problem.name).bind(content_hash).bind(problem.json_text); });
}

int64_t Archive::add_solution(const NewSolution& added) {
  const std::string hash = added.solution->hash();
  return find_or_add(
      state_->database, "SELECT id FROM solutions WHERE hash = ?",
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

int64_t Archive::add_candidate(int64_t solution, const sandbox::TunableBinding& binding) {
  const std::string tunables = binding_text(binding);
  return find_or_add(
      state_->database, "SELECT id FROM candidates WHERE solution = ? AND tunables = ?",
      "INSERT OR IGNORE INTO candidates (solution, tunables) VALUES (?, ?)",
      [&](Statement& s) { s.bind(solution).bind(tunables); }, [&](Statement& s) { s.bind(solution).bind(tunables); });
}

int64_t Archive::add_attempt(const NewAttempt& a) {
  Transaction transaction(state_->database);
  const auto optional_text = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(std::string_view(text));
  };
  const auto* rejected = std::get_if<verifier::CompileFailed>(&a.judgement.verdict);
  state_->database
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
  const int64_t compilation = state_->database.last_id();
  const Json judgement = verifier::to_json(a.judgement);
  const std::optional<int64_t> step = state_->next_step(a.campaign);
  state_->database
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
      .bind(verifier::name_of(a.effort))
      .bind(verifier::name_of(a.judgement.verdict))
      .bind(text_of(judgement["verdict"]))
      .bind(judgement["stages"].dump())
      .bind(std::to_string(a.judgement.seed))
      .bind(a.reused_from)
      .bind(now_utc())
      .bind(step)
      .run();
  const int64_t attempt = state_->database.last_id();
  if (a.judgement.measurement) state_->add_measurement(attempt, a.against.value(), *a.judgement.measurement);
  if (a.campaign) {
    state_->database.prepare("UPDATE campaigns SET spent_seconds = spent_seconds + ? WHERE id = ?")
        .bind(a.seconds)
        .bind(*a.campaign)
        .run();
  }
  transaction.commit();
  return attempt;
}

void Archive::add_event(std::optional<int64_t> campaign, const std::string& kind, const Json& details) {
  Transaction transaction(state_->database);
  const std::optional<int64_t> step = state_->next_step(campaign);
  state_->database.prepare("INSERT INTO events (campaign, made, kind, details, step) VALUES (?, ?, ?, ?, ?)")
      .bind(campaign)
      .bind(now_utc())
      .bind(kind)
      .bind(text_of(details))
      .bind(step)
      .run();
  transaction.commit();
}

int64_t Archive::add_calibration(const std::string& device, const verifier::Calibration& calibration) {
  state_->database.prepare("INSERT INTO calibrations (device, made, facts) VALUES (?, ?, ?)")
      .bind(device)
      .bind(calibration.made)
      .bind(text_of(verifier::to_json(calibration)))
      .run();
  return state_->database.last_id();
}

CampaignRecord Archive::start_campaign(const Json& settings, int64_t environment) {
  const std::string name = new_campaign_name();
  state_->database
      .prepare("INSERT INTO campaigns (name, settings, environment, status, started) VALUES (?, ?, ?, 'running', ?)")
      .bind(name)
      .bind(text_of(settings))
      .bind(environment)
      .bind(now_utc())
      .run();
  return find_campaign(name);
}

void Archive::copy_to(const std::filesystem::path& file) const {
  state_->database.prepare("VACUUM INTO ?").bind(file.string()).run();
}

void Archive::set_campaign_status(int64_t campaign, const std::string& status) {
  state_->database.prepare("UPDATE campaigns SET status = ?, ended = ? WHERE id = ?")
      .bind(status)
      .bind(status == "running" ? std::nullopt : std::optional(now_utc()))
      .bind(campaign)
      .run();
}

}  // namespace results
