#include "results/archive.h"

#include <array>
#include <cstring>
#include <ctime>
#include <random>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "results/schema.h"
#include "results/sqlite.h"

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

std::string binding_text(const sandbox::TunableBinding& binding) { return Json(binding).dump(); }

sandbox::TunableBinding binding_from(const std::string& text) {
  return Json::parse(text).get<std::map<std::string, int64_t, std::less<>>>();
}

constexpr size_t kPairBytes = 2 * sizeof(double) + 1;

std::vector<char> pack(const std::vector<verifier::Pair>& pairs) {
  std::vector<char> bytes(pairs.size() * kPairBytes);
  for (size_t i = 0; i < pairs.size(); ++i) {
    char* at = bytes.data() + i * kPairBytes;
    std::memcpy(at, &pairs[i].candidate_us, sizeof(double));
    std::memcpy(at + sizeof(double), &pairs[i].incumbent_us, sizeof(double));
    at[2 * sizeof(double)] = pairs[i].candidate_first ? 1 : 0;
  }
  return bytes;
}

std::vector<verifier::Pair> unpack(const std::vector<char>& bytes) {
  std::vector<verifier::Pair> pairs(bytes.size() / kPairBytes);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const char* at = bytes.data() + i * kPairBytes;
    std::memcpy(&pairs[i].candidate_us, at, sizeof(double));
    std::memcpy(&pairs[i].incumbent_us, at + sizeof(double), sizeof(double));
    pairs[i].candidate_first = at[2 * sizeof(double)] != 0;
  }
  return pairs;
}

verifier::Outcome outcome_from(const std::string& name) {
  for (const auto outcome : {verifier::Outcome::win, verifier::Outcome::tie, verifier::Outcome::loss}) {
    if (verifier::name_of(outcome) == name) return outcome;
  }
  throw core::SystemError("the archive holds an unknown outcome: " + name);
}
}  // namespace

struct Archive::State {
  explicit State(const std::filesystem::path& file) : database(file) { migrate(database, file); }

  // The id of the row that `select` finds, or of the one that `insert` adds.
  template <typename Bind>
  int64_t find_or_add(const std::string& select, const std::string& insert, Bind bind_key, auto bind_row) {
    {
      Statement found = database.prepare(select);
      bind_key(found);
      if (found.step()) return found.integer(0);
    }
    Statement added = database.prepare(insert);
    bind_row(added);
    added.run();
    return database.last_id();
  }

  std::optional<int64_t> first_id(Statement statement) {
    if (!statement.step()) return std::nullopt;
    return statement.integer(0);
  }

  void add_measurement(int64_t attempt, int64_t against, const verifier::Measurement& m) {
    database
        .prepare(
            "INSERT INTO measurements (attempt, against, clock, outcome, speed_up, low, high, stopped_early) VALUES "
            "(?,?,?,?,?,?,?,?)")
        .bind(attempt)
        .bind(against)
        .bind(m.clock)
        .bind(verifier::name_of(m.outcome))
        .bind(m.speed_up.value)
        .bind(m.speed_up.low)
        .bind(m.speed_up.high)
        .bind(int64_t{m.stopped_early})
        .run();
    const int64_t measurement = database.last_id();
    for (const verifier::WorkloadTiming& timing : m.workloads) {
      database
          .prepare(
              "INSERT INTO timings (measurement, workload, candidate_us, incumbent_us, speed_up, low, high, samples) "
              "VALUES (?,?,?,?,?,?,?,?)")
          .bind(measurement)
          .bind(timing.workload)
          .bind(timing.candidate_us)
          .bind(timing.incumbent_us)
          .bind(timing.speed_up.value)
          .bind(timing.speed_up.low)
          .bind(timing.speed_up.high)
          .bind_blob(pack(timing.pairs))
          .run();
    }
  }

  std::optional<verifier::Measurement> measurement_of(int64_t attempt, std::string& against) {
    verifier::Measurement m;
    int64_t id = 0;
    {
      Statement row = database.prepare(
          "SELECT m.id, m.clock, m.outcome, m.speed_up, m.low, m.high, m.stopped_early, s.name, c.tunables FROM "
          "measurements m"
          " JOIN candidates c ON c.id = m.against JOIN solutions s ON s.id = c.solution WHERE m.attempt = ?");
      row.bind(attempt);
      if (!row.step()) return std::nullopt;
      id = row.integer(0);
      m.clock = row.text(1);
      m.outcome = outcome_from(row.text(2));
      m.speed_up = {row.real(3), row.real(4), row.real(5)};
      m.stopped_early = row.integer(6) != 0;
      const std::string tunables = sandbox::describe(binding_from(row.text(8)));
      against = row.text(7) + (tunables.empty() ? "" : " " + tunables);
    }
    Statement timings = database.prepare(
        "SELECT workload, candidate_us, incumbent_us, speed_up, low, high, samples FROM timings WHERE measurement = ? "
        "ORDER BY id");
    timings.bind(id);
    while (timings.step()) {
      m.workloads.push_back({timings.text(0),
                             unpack(timings.blob(6)),
                             timings.real(1),
                             timings.real(2),
                             {timings.real(3), timings.real(4), timings.real(5)}});
    }
    return m;
  }

  Database database;
};

namespace {
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

Archive::Archive(const std::filesystem::path& file) : state_(std::make_unique<State>(with_folder(file))) {}
Archive::~Archive() = default;

int64_t Archive::add_environment(const Json& facts) {
  const std::string text = facts.dump();
  const std::string hash = core::sha256_hex(text);
  return state_->find_or_add(
      "SELECT id FROM environments WHERE hash = ?", "INSERT INTO environments (hash, facts) VALUES (?, ?)",
      [&](Statement& s) { s.bind(hash); }, [&](Statement& s) { s.bind(hash).bind(text); });
}

int64_t Archive::add_problem(const benchsuite::Problem& problem, const std::string& content_hash) {
  return state_->find_or_add(
      "SELECT id FROM problems WHERE name = ? AND hash = ?", "INSERT INTO problems (name, hash, json) VALUES (?, ?, ?)",
      [&](Statement& s) { s.bind(problem.name).bind(content_hash); },
      [&](Statement& s) { s.bind(problem.name).bind(content_hash).bind(problem.json_text); });
}

int64_t Archive::add_solution(const NewSolution& added) {
  const std::string hash = added.solution->hash();
  return state_->find_or_add(
      "SELECT id FROM solutions WHERE hash = ?",
      "INSERT INTO solutions (hash, problem, name, origin, source, added) VALUES (?, ?, ?, ?, ?, ?)",
      [&](Statement& s) { s.bind(hash); },
      [&](Statement& s) {
        s.bind(hash)
            .bind(added.solution->problem)
            .bind(added.name)
            .bind(added.origin)
            .bind(added.solution->source)
            .bind(now_utc());
      });
}

int64_t Archive::add_candidate(int64_t solution, const sandbox::TunableBinding& binding) {
  const std::string tunables = binding_text(binding);
  return state_->find_or_add(
      "SELECT id FROM candidates WHERE solution = ? AND tunables = ?",
      "INSERT INTO candidates (solution, tunables) VALUES (?, ?)",
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
          "INSERT INTO compilations (candidate, device, artefact, rejected, log, compile_ms) VALUES (?, ?, ?, ?, ?, ?)")
      .bind(a.candidate)
      .bind(a.device)
      .bind(optional_text(a.artefact))
      .bind(rejected != nullptr ? std::optional(sandbox::name_of(rejected->reason)) : std::nullopt)
      .bind(a.compile_log)
      .bind(a.compile_ms)
      .run();
  const int64_t compilation = state_->database.last_id();
  const Json judgement = verifier::to_json(a.judgement);
  state_->database
      .prepare(
          "INSERT INTO attempts (campaign, problem, candidate, compilation, environment, device, artefact, effort, "
          "verdict,"
          " verdict_json, stages, seed, reused_from, made) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(a.campaign)
      .bind(a.problem)
      .bind(a.candidate)
      .bind(compilation)
      .bind(a.environment)
      .bind(a.device)
      .bind(optional_text(a.artefact))
      .bind(verifier::name_of(a.effort))
      .bind(verifier::name_of(a.judgement.verdict))
      .bind(judgement["verdict"].dump())
      .bind(judgement["stages"].dump())
      .bind(std::to_string(a.judgement.seed))
      .bind(a.reused_from)
      .bind(now_utc())
      .run();
  const int64_t attempt = state_->database.last_id();
  if (a.judgement.measurement) state_->add_measurement(attempt, a.against.value(), *a.judgement.measurement);
  transaction.commit();
  return attempt;
}

void Archive::add_event(std::optional<int64_t> campaign, const std::string& kind, const Json& details) {
  state_->database.prepare("INSERT INTO events (campaign, made, kind, details) VALUES (?, ?, ?, ?)")
      .bind(campaign)
      .bind(now_utc())
      .bind(kind)
      .bind(details.dump(-1, ' ', false, Json::error_handler_t::replace))
      .run();
}

CampaignRecord Archive::start_campaign(const Json& settings, int64_t environment) {
  const std::string name = new_campaign_name();
  state_->database
      .prepare("INSERT INTO campaigns (name, settings, environment, status, started) VALUES (?, ?, ?, 'running', ?)")
      .bind(name)
      .bind(settings.dump())
      .bind(environment)
      .bind(now_utc())
      .run();
  return find_campaign(name);
}

void Archive::charge_campaign(int64_t campaign, double seconds) {
  state_->database.prepare("UPDATE campaigns SET spent_seconds = spent_seconds + ? WHERE id = ?")
      .bind(seconds)
      .bind(campaign)
      .run();
}

void Archive::set_campaign_status(int64_t campaign, const std::string& status) {
  state_->database.prepare("UPDATE campaigns SET status = ?, ended = ? WHERE id = ?")
      .bind(status)
      .bind(status == "running" ? std::nullopt : std::optional(now_utc()))
      .bind(campaign)
      .run();
}

CampaignRecord Archive::find_campaign(const std::string& name) const {
  Statement row = state_->database.prepare(
      "SELECT id, name, status, started, ended, settings, spent_seconds,"
      " (SELECT count(*) FROM attempts WHERE campaign = campaigns.id) FROM campaigns"
      " WHERE substr(name, 1, length(?1)) = ?1 ORDER BY id DESC LIMIT 2");
  row.bind(name);
  if (!row.step()) {
    throw core::InputError("", name.empty() ? "the archive holds no campaign" : "there is no campaign \"" + name + "\"",
                           "kernelwright run starts one; kernelwright show lists those there are");
  }
  CampaignRecord record{row.integer(0),           row.text(1), row.text(2),   row.text(3), row.text(4),
                        Json::parse(row.text(5)), row.real(6), row.integer(7)};
  if (!name.empty() && record.name != name && row.step()) {
    throw core::InputError("", "\"" + name + "\" fits several campaigns", "give more of its letters");
  }
  return record;
}

std::optional<int64_t> Archive::find_attempt(int64_t campaign, int64_t candidate, verifier::Effort effort,
                                             std::optional<int64_t> against) const {
  Statement found = state_->database.prepare(
      "SELECT a.id FROM attempts a LEFT JOIN measurements m ON m.attempt = a.id WHERE a.campaign = ? AND a.candidate = "
      "?"
      " AND a.effort = ? AND (?4 IS NULL OR m.against IS NULL OR m.against = ?4) ORDER BY a.id LIMIT 1");
  found.bind(campaign).bind(candidate).bind(verifier::name_of(effort)).bind(against);
  return state_->first_id(std::move(found));
}

std::optional<int64_t> Archive::find_artefact(int64_t campaign, const std::string& artefact, verifier::Effort effort,
                                              int64_t against) const {
  Statement found = state_->database.prepare(
      "SELECT a.id FROM attempts a LEFT JOIN measurements m ON m.attempt = a.id WHERE a.campaign = ? AND a.artefact = ?"
      " AND a.effort = ? AND (m.against IS NULL OR m.against = ?) ORDER BY a.id LIMIT 1");
  found.bind(campaign).bind(artefact).bind(verifier::name_of(effort)).bind(against);
  return state_->first_id(std::move(found));
}

RecordedAttempt Archive::attempt(int64_t id) const {
  RecordedAttempt a;
  {
    Statement row = state_->database.prepare(
        "SELECT p.name, s.name, s.origin, c.tunables, a.device, a.effort, a.made, a.verdict_json, k.compile_ms, k.log,"
        " coalesce(g.name, ''), a.seed, e.facts, a.stages, a.reused_from, s.source FROM attempts a"
        " JOIN problems p ON p.id = a.problem JOIN candidates c ON c.id = a.candidate JOIN solutions s ON s.id = "
        "c.solution"
        " JOIN compilations k ON k.id = a.compilation JOIN environments e ON e.id = a.environment"
        " LEFT JOIN campaigns g ON g.id = a.campaign WHERE a.id = ?");
    row.bind(id);
    if (!row.step()) {
      throw core::InputError("", "there is no attempt " + std::to_string(id),
                             "kernelwright leaderboard shows the numbers of the best ones");
    }
    a.id = id;
    a.problem = row.text(0);
    a.solution = row.text(1);
    a.origin = row.text(2);
    a.binding = binding_from(row.text(3));
    a.device = row.text(4);
    a.effort = row.text(5);
    a.made = row.text(6);
    const Json verdict = Json::parse(row.text(7));
    a.verdict = verifier::verdict_from_json(core::JsonView(verdict, "archive"));
    a.compile_ms = row.real(8);
    a.compile_log = row.text(9);
    a.campaign = row.text(10);
    a.seed = row.text(11);
    a.environment = Json::parse(row.text(12));
    a.stages = Json::parse(row.text(13));
    if (!row.is_null(14)) a.reused_from = row.integer(14);
    a.source = row.text(15);
  }
  a.measurement = state_->measurement_of(id, a.against);
  return a;
}

std::vector<int64_t> Archive::attempts_of_campaign(int64_t campaign) const {
  Statement rows = state_->database.prepare("SELECT id FROM attempts WHERE campaign = ? ORDER BY id");
  rows.bind(campaign);
  std::vector<int64_t> ids;
  while (rows.step()) ids.push_back(rows.integer(0));
  return ids;
}

int64_t Archive::count_attempts() const {
  Statement row = state_->database.prepare("SELECT count(*) FROM attempts");
  return row.step() ? row.integer(0) : 0;
}

std::vector<LeaderboardRow> Archive::leaderboard(const std::string& problem, const std::string& device) const {
  // A confirmed attempt is one of effort "confirm" measured against a naive solution; of each solution the best point
  // counts.
  Statement rows = state_->database.prepare(R"sql(
SELECT id, problem, device, solution, origin, tunables, made, speed_up, low, high, candidate_us,
       row_number() OVER (PARTITION BY problem, device ORDER BY speed_up DESC) FROM (
  SELECT a.id, p.name AS problem, a.device, s.name AS solution, s.origin, c.tunables, a.made, m.speed_up, m.low, m.high,
         (SELECT candidate_us FROM timings WHERE measurement = m.id ORDER BY id LIMIT 1) AS candidate_us,
         row_number() OVER (PARTITION BY p.name, a.device, s.id ORDER BY m.speed_up DESC) AS place
  FROM attempts a JOIN problems p ON p.id = a.problem JOIN candidates c ON c.id = a.candidate
       JOIN solutions s ON s.id = c.solution JOIN measurements m ON m.attempt = a.id
       JOIN candidates n ON n.id = m.against JOIN solutions ns ON ns.id = n.solution
  WHERE a.effort = 'confirm' AND a.verdict = 'correct' AND ns.origin = 'naive'
        AND (?1 = '' OR p.name = ?1) AND (?2 = '' OR a.device = ?2))
WHERE place = 1 ORDER BY problem, device, speed_up DESC)sql");
  rows.bind(problem).bind(device);
  std::vector<LeaderboardRow> board;
  while (rows.step()) {
    board.push_back({rows.integer(11),
                     rows.integer(0),
                     rows.text(1),
                     rows.text(2),
                     rows.text(3),
                     rows.text(4),
                     rows.text(6),
                     binding_from(rows.text(5)),
                     {rows.real(7), rows.real(8), rows.real(9)},
                     rows.real(10)});
  }
  return board;
}

}  // namespace results
