// Everything that is read from the archive.
#include <utility>

#include "core/error.h"
#include "results/archive_state.h"
#include "results/samples.h"

namespace results {
namespace {
using core::Json;

sandbox::TunableBinding binding_from(const std::string& text) {
  return Json::parse(text).get<std::map<std::string, int64_t, std::less<>>>();
}

verifier::Outcome outcome_from(const std::string& name) {
  for (const auto outcome : {verifier::Outcome::win, verifier::Outcome::tie, verifier::Outcome::loss}) {
    if (verifier::name_of(outcome) == name) return outcome;
  }
  throw core::SystemError("the archive holds an unknown outcome: " + name);
}

std::optional<int64_t> first_id(Statement statement) {
  if (!statement.step()) return std::nullopt;
  return statement.integer(0);
}
}  // namespace

std::optional<verifier::Measurement> Archive::State::measurement_of(int64_t attempt, std::string& against) {
  verifier::Measurement m;
  int64_t id = 0;
  {
    Statement row = database.prepare(
        "SELECT m.id, m.clock, m.outcome, m.speed_up, m.low, m.high, m.stopped_early, s.name, c.tunables, m.counters "
        "FROM "
        "measurements m"
        " JOIN candidates c ON c.id = m.against JOIN solutions s ON s.id = c.solution WHERE m.attempt = ?");
    row.bind(attempt);
    if (!row.step()) return std::nullopt;
    id = row.integer(0);
    m.clock = row.text(1);
    m.outcome = outcome_from(row.text(2));
    m.speed_up = {row.real(3), row.real(4), row.real(5)};
    m.stopped_early = row.integer(6) != 0;
    if (!row.is_null(9)) {
      const Json counters = Json::parse(row.text(9));
      for (const core::JsonView& launch : core::JsonView(counters, "archive").items()) {
        m.counters.push_back(verifier::counters_from_json(launch));
      }
    }
    const std::string tunables = sandbox::describe(binding_from(row.text(8)));
    against = row.text(7) + (tunables.empty() ? "" : " " + tunables);
  }
  Statement timings = database.prepare(
      "SELECT workload, candidate_us, incumbent_us, speed_up, low, high, samples, bound_us, clocks FROM timings WHERE "
      "measurement = ? "
      "ORDER BY id");
  timings.bind(id);
  while (timings.step()) {
    m.workloads.push_back({timings.text(0),
                           unpack(timings.blob(6), timings.blob(8)),
                           timings.real(1),
                           timings.real(2),
                           {timings.real(3), timings.real(4), timings.real(5)},
                           timings.is_null(7) ? std::nullopt : std::optional(timings.real(7))});
  }
  return m;
}

std::vector<int64_t> Archive::State::ids(Statement statement) {
  std::vector<int64_t> all;
  while (statement.step()) all.push_back(statement.integer(0));
  return all;
}

std::vector<std::string> Archive::State::texts(Statement statement) {
  std::vector<std::string> all;
  while (statement.step()) all.push_back(statement.text(0));
  return all;
}

namespace {
constexpr std::string_view kCampaigns =
    "SELECT id, name, status, started, ended, settings, spent_seconds,"
    " (SELECT count(*) FROM attempts WHERE campaign = campaigns.id) FROM campaigns ";

CampaignRecord campaign_from(const Statement& row) {
  return {row.integer(0),           row.text(1), row.text(2),   row.text(3), row.text(4),
          Json::parse(row.text(5)), row.real(6), row.integer(7)};
}
}  // namespace

CampaignRecord Archive::find_campaign(const std::string& name) const {
  // An exact name comes before those that only begin with it.
  Statement row = state_->database.prepare(
      std::string(kCampaigns) +
      "JOIN (SELECT id AS found, name = ?1 AS exact FROM campaigns WHERE substr(name, 1, length(?1)) = ?1"
      " ORDER BY exact DESC, id DESC LIMIT 2) ON id = found ORDER BY exact DESC, id DESC");
  row.bind(name);
  if (!row.step()) {
    throw core::InputError("", name.empty() ? "the archive holds no campaign" : "there is no campaign \"" + name + "\"",
                           "kernelwright run starts one; kernelwright show lists those there are");
  }
  CampaignRecord record = campaign_from(row);
  if (!name.empty() && record.name != name && row.step()) {
    throw core::InputError("", "\"" + name + "\" fits several campaigns", "give more of its letters");
  }
  return record;
}

std::vector<CampaignRecord> Archive::campaigns() const {
  Statement row = state_->database.prepare(std::string(kCampaigns) + "ORDER BY id DESC");
  std::vector<CampaignRecord> all;
  while (row.step()) all.push_back(campaign_from(row));
  return all;
}

std::vector<EventRecord> Archive::events_of_campaign(int64_t campaign) const {
  Statement row = state_->database.prepare("SELECT made, kind, details FROM events WHERE campaign = ? ORDER BY id");
  row.bind(campaign);
  std::vector<EventRecord> all;
  while (row.step()) all.push_back({row.text(0), row.text(1), Json::parse(row.text(2))});
  return all;
}

std::optional<verifier::Calibration> Archive::newest_calibration(const std::string& device) const {
  Statement row = state_->database.prepare("SELECT facts FROM calibrations WHERE device = ? ORDER BY id DESC LIMIT 1");
  row.bind(device);
  if (!row.step()) return std::nullopt;
  const Json facts = Json::parse(row.text(0));
  return verifier::calibration_from_json(core::JsonView(facts, "archive"));
}

std::vector<SolutionRecord> Archive::find_solutions(const std::string& name_or_hash) const {
  // By index both: hashes are hexadecimal, so that all that begin so come before it with a letter behind.
  Statement row = state_->database.prepare(R"sql(
SELECT id, hash, problem, name, origin, added, source, parent,
       (SELECT count(*) FROM attempts a JOIN candidates c ON c.id = a.candidate WHERE c.solution = solutions.id)
FROM solutions WHERE id IN (SELECT id FROM solutions WHERE name = ?1 UNION ALL SELECT id FROM solutions
                            WHERE length(?1) >= 6 AND hash >= ?1 AND hash < ?1 || 'g')
ORDER BY id DESC)sql");
  row.bind(name_or_hash);
  std::vector<SolutionRecord> all;
  while (row.step()) {
    SolutionRecord record{row.integer(0), row.text(1), row.text(2), row.text(3),   row.text(4),
                          row.text(5),    row.text(6), {},          row.integer(8)};
    if (!row.is_null(7)) record.parent = row.integer(7);
    all.push_back(std::move(record));
  }
  return all;
}

std::optional<int64_t> Archive::find_attempt(int64_t campaign, int64_t candidate, verifier::Effort effort,
                                             std::optional<int64_t> against) const {
  Statement found = state_->database.prepare(
      "SELECT a.id FROM attempts a LEFT JOIN measurements m ON m.attempt = a.id WHERE a.campaign = ? AND a.candidate = "
      "?"
      " AND a.effort = ? AND (?4 IS NULL OR m.against IS NULL OR m.against = ?4) ORDER BY a.id LIMIT 1");
  found.bind(campaign).bind(candidate).bind(verifier::name_of(effort)).bind(against);
  return first_id(std::move(found));
}

std::optional<int64_t> Archive::find_artefact(int64_t campaign, const std::string& artefact, verifier::Effort effort,
                                              int64_t against) const {
  Statement found = state_->database.prepare(
      "SELECT a.id FROM attempts a LEFT JOIN measurements m ON m.attempt = a.id WHERE a.campaign = ? AND a.artefact = ?"
      " AND a.effort = ? AND a.reused_from IS NULL AND (m.against IS NULL OR m.against = ?) ORDER BY a.id LIMIT 1");
  found.bind(campaign).bind(artefact).bind(verifier::name_of(effort)).bind(against);
  return first_id(std::move(found));
}

RecordedAttempt Archive::attempt(int64_t id) const {
  RecordedAttempt a;
  {
    Statement row = state_->database.prepare(
        "SELECT p.name, s.name, s.origin, c.tunables, a.device, a.effort, a.made, a.verdict_json, k.compile_ms, k.log,"
        " coalesce(g.name, ''), a.seed, e.facts, a.stages, a.reused_from, s.source, k.registers, k.shared_bytes,"
        " k.spill_bytes FROM attempts a"
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
    const auto known = [&](int column) {
      return row.is_null(column) ? std::nullopt : std::optional(row.integer(column));
    };
    a.registers = known(16);
    a.shared_bytes = known(17);
    a.spill_bytes = known(18);
  }
  a.measurement = state_->measurement_of(id, a.against);
  return a;
}

std::vector<int64_t> Archive::attempts_of_campaign(int64_t campaign) const {
  Statement rows = state_->database.prepare("SELECT id FROM attempts WHERE campaign = ? ORDER BY id");
  rows.bind(campaign);
  return state_->ids(std::move(rows));
}

std::vector<int64_t> Archive::attempts_of_solution(int64_t solution) const {
  Statement rows = state_->database.prepare(
      "SELECT a.id FROM attempts a JOIN candidates c ON c.id = a.candidate WHERE c.solution = ? ORDER BY a.id");
  rows.bind(solution);
  return state_->ids(std::move(rows));
}

int64_t Archive::count_attempts() const {
  Statement row = state_->database.prepare("SELECT count(*) FROM attempts");
  return row.step() ? row.integer(0) : 0;
}

}  // namespace results
