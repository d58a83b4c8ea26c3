#include "results/archive/reader.h"

#include <utility>

#include "core/error.h"
#include "core/running.h"
#include "results/archive/rows.h"
#include "results/archive/schema.h"

namespace results::archive {
namespace {
using core::Json;

verifier::statistics::Outcome outcome_from(const std::string& name) {
  if (const auto outcome = core::enum_from_name<verifier::statistics::Outcome>(name)) return *outcome;
  throw core::SystemError("the archive holds an unknown outcome: " + name);
}

std::optional<int64_t> first_id(Statement statement) {
  if (!statement.step()) return std::nullopt;
  return statement.integer(0);
}

std::vector<verifier::verdicts::Counters> counters_in(const Json& recorded) {
  std::vector<verifier::verdicts::Counters> counters;
  for (const core::JsonView& launch : core::JsonView(recorded, "archive").items()) {
    counters.push_back(verifier::verdicts::counters_from_json(launch));
  }
  return counters;
}

// `against` receives the incumbent's description.
std::optional<verifier::verdicts::Measurement> measurement_of(Database& database, int64_t attempt,
                                                              std::string& against) {
  verifier::verdicts::Measurement m;
  int64_t id = 0;
  {
    Statement found = database.prepare(
        "SELECT m.*, s.name AS solution, c.tunables FROM measurements m JOIN candidates c ON c.id = m.against"
        " JOIN solutions s ON s.id = c.solution WHERE m.attempt = ?");
    found.bind(attempt);
    if (!found.step()) return std::nullopt;
    const FoundRow row(found);
    row("id", id)("clock", m.clock)("stopped_early", m.stopped_early)("solution", against);
    columns(row, m.speed_up);
    m.outcome = outcome_from(row.at<std::string>("outcome"));
    m.counters = counters_in(row.at<std::optional<Json>>("counters").value_or(Json::array()));
    const std::string tunables = sandbox::describe(row.at<Json>("tunables").get<sandbox::TunableBinding>());
    against += (tunables.empty() ? "" : " ") + tunables;
  }
  Statement timings = database.prepare("SELECT * FROM timings WHERE measurement = ? ORDER BY id");
  timings.bind(id);
  while (timings.step()) {
    const FoundRow row(timings);
    verifier::verdicts::WorkloadTiming& timing = m.workloads.emplace_back();
    columns(row, timing);
    timing.weight = row.at<std::optional<double>>("weight").value_or(1);
    timing.pairs = unpack(row.at<std::vector<char>>("samples"), row.at<std::vector<char>>("clocks"));
  }
  return m;
}

std::filesystem::path with_folder(const std::filesystem::path& file) {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw core::InputError(file.string(), "its folder cannot be created: " + failed.message(),
                           "give a writable path with --archive");
  }
  return file;
}

// Campaigns with their number of attempts; append a condition.
constexpr std::string_view kCampaigns =
    "SELECT *, (SELECT count(*) FROM attempts WHERE campaign = campaigns.id) AS attempts FROM campaigns ";
constexpr std::string_view kSolutions =
    "SELECT *, (SELECT count(*) FROM attempts a JOIN candidates c ON c.id = a.candidate"
    " WHERE c.solution = solutions.id) AS attempts FROM solutions WHERE ";

CampaignRecord campaign_from(const Statement& found) {
  CampaignRecord c;
  const FoundRow row(found);
  row("id", c.id)("name", c.name)("status", c.status)("started", c.started)("ended", c.ended);
  row("settings", c.settings)("spent_seconds", c.spent_seconds)("attempts", c.attempts)("process", c.process);
  if (c.status == "running" && core::is_running(c.process) == core::Running::no) c.status = "killed";
  return c;
}

SolutionRecord solution_from(const Statement& found) {
  SolutionRecord s;
  const FoundRow row(found);
  row("id", s.id)("hash", s.hash)("problem", s.problem)("name", s.name)("origin", s.origin);
  row("added", s.added)("source", s.source)("parent", s.parent)("attempts", s.attempts);
  return s;
}

std::vector<EventRecord> events_from(Statement found) {
  std::vector<EventRecord> all;
  while (found.step()) columns(FoundRow(found), all.emplace_back());
  return all;
}
}  // namespace

Reader::Reader(const std::filesystem::path& file) : database_(std::make_unique<Database>(with_folder(file))) {
  migrate(*database_, file);
}
Reader::Reader(Reader&&) noexcept = default;
Reader::~Reader() = default;

Database& database_of(const Reader& reader) { return reader.database(); }

CampaignRecord Reader::find_campaign(const std::string& name) const {
  // An exact name comes before those that only begin with it.
  Statement row = database().prepare(
      std::string(kCampaigns) +
      "JOIN (SELECT id AS found, name = ?1 AS exact FROM campaigns WHERE substr(name, 1, length(?1)) = ?1"
      " ORDER BY exact DESC, id DESC LIMIT 2) ON id = found ORDER BY exact DESC, id DESC");
  row.bind(name);
  if (!row.step()) {
    throw core::InputError("", name.empty() ? "the archive holds no campaign" : "there is no campaign \"" + name + "\"",
                           "kernelwright run starts one; kernelwright show lists the existing ones");
  }
  CampaignRecord record = campaign_from(row);
  if (!name.empty() && record.name != name && row.step()) {
    throw core::InputError("", "\"" + name + "\" matches several campaigns", "give more letters of it");
  }
  return record;
}

std::vector<CampaignRecord> Reader::campaigns() const {
  Statement row = database().prepare(std::string(kCampaigns) + "ORDER BY id DESC");
  std::vector<CampaignRecord> all;
  while (row.step()) all.push_back(campaign_from(row));
  return all;
}

std::vector<EventRecord> Reader::events_of_campaign(int64_t campaign) const {
  Statement found = database().prepare("SELECT * FROM events WHERE campaign = ? ORDER BY id");
  found.bind(campaign);
  return events_from(std::move(found));
}

std::vector<EventRecord> Reader::newest_events(int64_t campaign, size_t limit) const {
  Statement found = database().prepare(
      "SELECT * FROM events WHERE campaign = ? AND kind NOT IN ('problem_started', 'places') ORDER BY id DESC LIMIT ?");
  found.bind(campaign).bind(static_cast<int64_t>(limit));
  return events_from(std::move(found));
}

std::vector<RequestRecord> Reader::requests_of_campaign(int64_t campaign) const {
  Statement rows = database().prepare("SELECT * FROM requests WHERE campaign = ? ORDER BY id");
  rows.bind(campaign);
  std::vector<RequestRecord> all;
  while (rows.step()) {
    const FoundRow row(rows);
    RequestRecord& record = all.emplace_back();
    row("id", record.id)("asked", record.asked);
    columns(row, record.request);
    record.request.prompt = with_texts(row.at<Json>("prompt"), [&](const Json& id) {
      Statement found = database().prepare("SELECT text FROM texts WHERE id = ?");
      found.bind(id.get<int64_t>()).step();
      return Json(found.text(0));
    });
    Statement answered = database().prepare("SELECT * FROM replies WHERE request = ?");
    answered.bind(record.id);
    if (!answered.step()) continue;
    const FoundRow reply(answered);
    reply("id", record.reply_id)("arrived", record.arrived);
    columns(reply, record.reply.emplace());
    Statement brought = database().prepare("SELECT solution FROM proposed WHERE reply = ? ORDER BY rowid");
    brought.bind(record.reply_id);
    record.solutions = ids_of(std::move(brought));
  }
  return all;
}

ModelSpend Reader::model_spend(int64_t campaign) const {
  Statement sums = database().prepare(R"sql(
SELECT count(*), total(CASE WHEN r.id IS NULL THEN q.reserved_tokens
                       ELSE r.input + r.cache_read + r.cache_written + r.output END),
       total(CASE WHEN r.id IS NULL THEN q.reserved_dollars ELSE r.dollars END),
       total(CASE WHEN r.id IS NULL THEN q.reserved_dollars IS NULL ELSE r.dollars IS NULL END)
FROM requests q LEFT JOIN replies r ON r.request = q.id WHERE q.campaign = ?)sql");
  sums.bind(campaign);
  sums.step();
  return {sums.integer(0), sums.integer(1), sums.real(2), sums.integer(3) == 0};
}

std::optional<verifier::verdicts::Calibration> Reader::newest_calibration(const std::string& device) const {
  Statement row = database().prepare("SELECT facts FROM calibrations WHERE device = ? ORDER BY id DESC LIMIT 1");
  row.bind(device);
  if (!row.step()) return std::nullopt;
  const Json facts = Json::parse(row.text(0));
  return verifier::verdicts::calibration_from_json(core::JsonView(facts, "archive"));
}

std::vector<SolutionRecord> Reader::find_solutions(const std::string& name_or_hash) const {
  // Uses both indexes: hashes are hexadecimal, so all with this prefix sort before the prefix plus a later letter.
  const size_t at = name_or_hash.rfind('@');
  const std::string problem = at == std::string::npos ? "" : name_or_hash.substr(at + 1);
  Statement found = database().prepare(std::string(kSolutions) + R"sql(
id IN (SELECT id FROM solutions WHERE name = ?1 UNION ALL SELECT id FROM solutions
       WHERE length(?1) >= 6 AND hash >= ?1 AND hash < ?1 || 'g') AND (?2 = '' OR problem = ?2) ORDER BY id DESC)sql");
  found.bind(name_or_hash.substr(0, at)).bind(problem);
  std::vector<SolutionRecord> all;
  while (found.step()) all.push_back(solution_from(found));
  return all;
}

SolutionRecord Reader::solution(int64_t id) const {
  Statement found = database().prepare(std::string(kSolutions) + "id = ?");
  found.bind(id);
  if (!found.step()) throw core::SystemError("the archive names a missing solution");
  return solution_from(found);
}

std::optional<int64_t> Reader::find_attempt(int64_t campaign, int64_t candidate, verifier::verdicts::Effort effort,
                                            std::optional<int64_t> against) const {
  Statement found = database().prepare(
      "SELECT a.id FROM attempts a LEFT JOIN measurements m ON m.attempt = a.id WHERE a.campaign = ? AND a.candidate = "
      "?"
      " AND a.effort = ? AND (?4 IS NULL OR m.against IS NULL OR m.against = ?4) ORDER BY a.id LIMIT 1");
  found.bind(campaign).bind(candidate).bind(name_of(effort)).bind(against);
  return first_id(std::move(found));
}

std::optional<int64_t> Reader::find_artefact(int64_t campaign, const std::string& artefact,
                                             verifier::verdicts::Effort effort, int64_t against) const {
  Statement found = database().prepare(
      "SELECT a.id FROM attempts a LEFT JOIN measurements m ON m.attempt = a.id WHERE a.campaign = ? AND a.artefact = ?"
      " AND a.effort = ? AND a.reused_from IS NULL AND (m.against IS NULL OR m.against = ?) ORDER BY a.id LIMIT 1");
  found.bind(campaign).bind(artefact).bind(name_of(effort)).bind(against);
  return first_id(std::move(found));
}

bool Reader::has_attempt(int64_t id) const {
  Statement found = database().prepare("SELECT id FROM attempts WHERE id = ?");
  found.bind(id);
  return found.step();
}

RecordedAttempt Reader::attempt(int64_t id) const {
  RecordedAttempt a;
  {
    Statement found = database().prepare(
        "SELECT a.*, k.*, p.name AS problem_name, s.name AS solution, s.origin, s.source, c.tunables, e.facts,"
        " coalesce(g.name, '') AS campaign_name FROM attempts a JOIN problems p ON p.id = a.problem"
        " JOIN candidates c ON c.id = a.candidate JOIN solutions s ON s.id = c.solution"
        " JOIN compilations k ON k.id = a.compilation JOIN environments e ON e.id = a.environment"
        " LEFT JOIN campaigns g ON g.id = a.campaign WHERE a.id = ?");
    found.bind(id);
    if (!found.step()) {
      throw core::InputError("", "there is no attempt " + std::to_string(id),
                             "kernelwright leaderboard shows the numbers of the best ones");
    }
    const FoundRow row(found);
    row("id", a.id)("problem_name", a.problem)("solution", a.solution)("origin", a.origin)("device", a.device);
    row("effort", a.effort)("made", a.made)("campaign_name", a.campaign)("seed", a.seed)("facts", a.environment);
    row("stages", a.stages)("reused_from", a.reused_from)("source", a.source);
    columns(row, static_cast<Compiled&>(a));
    a.binding = row.at<Json>("tunables").get<sandbox::TunableBinding>();
    const Json verdict = row.at<Json>("verdict_json");
    a.verdict = verifier::verdicts::verdict_from_json(core::JsonView(verdict, "archive"));
  }
  a.measurement = measurement_of(database(), id, a.against);
  return a;
}

std::vector<int64_t> Reader::attempts_of_campaign(int64_t campaign) const {
  Statement rows = database().prepare("SELECT id FROM attempts WHERE campaign = ? ORDER BY id");
  rows.bind(campaign);
  return ids_of(std::move(rows));
}

std::vector<int64_t> Reader::attempts_of_solution(int64_t solution) const {
  Statement rows = database().prepare(
      "SELECT a.id FROM attempts a JOIN candidates c ON c.id = a.candidate WHERE c.solution = ? ORDER BY a.id");
  rows.bind(solution);
  return ids_of(std::move(rows));
}

int64_t Reader::count_attempts() const {
  Statement row = database().prepare("SELECT count(*) FROM attempts");
  return row.step() ? row.integer(0) : 0;
}

std::vector<StepRecord> Reader::steps_of_campaign(int64_t campaign) const {
  Statement rows = database().prepare(R"sql(
SELECT coalesce(a.step, 0) AS number, 0 AS kind, a.id AS id, a.candidate, a.effort, m.against, p.name, NULL, NULL
FROM attempts a JOIN problems p ON p.id = a.problem LEFT JOIN measurements m ON m.attempt = a.id WHERE a.campaign = ?1
UNION ALL
SELECT coalesce(step, 0), 1, id, NULL, NULL, NULL, problem, NULL, NULL FROM requests WHERE campaign = ?1
UNION ALL
SELECT coalesce(r.step, 0), 2, r.request, NULL, NULL, NULL, q.problem, NULL, NULL
FROM replies r JOIN requests q ON q.id = r.request WHERE q.campaign = ?1
UNION ALL
SELECT coalesce(step, 0), 3, id, NULL, NULL, NULL, NULL, kind, details FROM events WHERE campaign = ?1
ORDER BY number, kind, id)sql");
  rows.bind(campaign);
  std::vector<StepRecord> all;
  while (rows.step()) {
    StepRecord step;
    step.number = rows.integer(0);
    step.kind = static_cast<StepRecord::Kind>(rows.integer(1));
    step.id = rows.integer(2);
    if (step.kind == StepRecord::Kind::attempt) {
      step.candidate = rows.integer(3);
      step.effort = rows.text(4);
      if (!rows.is_null(5)) step.against = rows.integer(5);
    }
    if (step.kind == StepRecord::Kind::event) {
      step.event = rows.text(7);
      step.details = core::Json::parse(rows.text(8));
    } else {
      step.problem = rows.text(6);
    }
    all.push_back(std::move(step));
  }
  return all;
}

std::optional<int64_t> Reader::find_baseline(int64_t problem, const std::string& device,
                                             const std::string& library) const {
  Statement row = database().prepare(
      "SELECT id FROM baselines WHERE problem = ? AND device = ? AND library = ? ORDER BY id DESC LIMIT 1");
  row.bind(problem).bind(device).bind(library);
  if (!row.step()) return std::nullopt;
  return row.integer(0);
}

std::vector<BaselineRecord> Reader::baselines(const std::string& problem, const std::string& device) const {
  Statement rows = database().prepare(R"sql(
SELECT b.id, p.name, b.device, b.library, b.made, b.verdict_json, b.measurement_json
FROM baselines b JOIN problems p ON p.id = b.problem
WHERE b.id = (SELECT max(nb.id) FROM baselines nb
              WHERE nb.problem = b.problem AND nb.device = b.device AND nb.library = b.library)
      AND b.problem IN (SELECT problem_id FROM v_problems WHERE is_current)
      AND (?1 = '' OR p.name = ?1) AND (?2 = '' OR b.device = ?2 OR b.device LIKE ?2 || ' %')
ORDER BY p.name, b.device, b.id)sql");
  rows.bind(problem).bind(device);
  std::vector<BaselineRecord> all;
  while (rows.step()) {
    const Json verdict = Json::parse(rows.text(5));
    BaselineRecord record{rows.integer(0),
                          rows.text(1),
                          rows.text(2),
                          rows.text(3),
                          rows.text(4),
                          verifier::verdicts::verdict_from_json(core::JsonView(verdict, "archive")),
                          {}};
    if (!rows.is_null(6)) {
      const Json measurement = Json::parse(rows.text(6));
      record.measurement = verifier::verdicts::measurement_from_json(core::JsonView(measurement, "archive"));
    }
    all.push_back(std::move(record));
  }
  return all;
}

std::vector<SelftestRecord> Reader::newest_selftests() const {
  Statement found = database().prepare(
      "SELECT * FROM selftests s WHERE id = (SELECT id FROM selftests o WHERE o.device = s.device"
      " ORDER BY o.quick, o.id DESC LIMIT 1) ORDER BY device");
  std::vector<SelftestRecord> all;
  while (found.step()) {
    const FoundRow row(found);
    SelftestRecord& record = all.emplace_back();
    row("id", record.id)("made", record.made);
    columns(row, record.of);
  }
  return all;
}

std::vector<Winner> Reader::winners(const std::string& problem) const {
  Statement rows = database().prepare(
      "SELECT a.device, t.workload, a.id FROM v_problems p JOIN attempts a ON a.problem = p.problem_id"
      " JOIN measurements m ON m.attempt = a.id JOIN timings t ON t.measurement = m.id"
      " JOIN candidates n ON n.id = m.against JOIN solutions ns ON ns.id = n.solution"
      " WHERE p.problem = ? AND p.is_current AND a.effort = 'confirm' AND a.verdict = 'correct' AND m.outcome = 'win'"
      " AND ns.origin = 'naive' ORDER BY a.device, t.workload, t.low DESC, a.id");
  rows.bind(problem);
  std::vector<Winner> all;
  while (rows.step()) all.push_back({rows.text(0), rows.text(1), rows.integer(2)});
  return all;
}

std::vector<verifier::verdicts::Counters> Reader::counters_of(int64_t attempt) const {
  Statement row = database().prepare(
      "SELECT m.counters FROM attempts a JOIN attempts b ON b.candidate = a.candidate AND b.device = a.device"
      " JOIN measurements m ON m.attempt = b.id WHERE a.id = ? AND m.counters IS NOT NULL ORDER BY b.id DESC LIMIT 1");
  row.bind(attempt);
  if (!row.step()) return {};
  return counters_in(Json::parse(row.text(0)));
}

std::vector<int64_t> Reader::judgements(const std::string& problem, const std::string& backend, Found found) const {
  const bool correct = found == Found::correct;
  Statement rows = database().prepare(
      std::string("SELECT a.id FROM v_problems p JOIN attempts a ON a.problem = p.problem_id"
                  " JOIN candidates c ON c.id = a.candidate JOIN solutions s ON s.id = c.solution"
                  " LEFT JOIN measurements m ON m.attempt = a.id LEFT JOIN candidates n ON n.id = m.against"
                  " LEFT JOIN solutions ns ON ns.id = n.solution"
                  " WHERE p.problem = ?1 AND p.is_current AND (a.device = ?2 OR a.device LIKE ?2 || ' %') AND a.effort "
                  "IN ('full', 'confirm')"
                  " AND s.origin != 'naive' AND ") +
      (correct ? "a.verdict = 'correct' AND ns.origin = 'naive' AND (a.effort = 'confirm' OR NOT EXISTS (SELECT 1 FROM"
                 " attempts b WHERE b.candidate = a.candidate AND b.device = a.device AND b.effort = 'confirm'))"
                 " ORDER BY m.low DESC, a.id DESC"
               : "a.verdict != 'correct' ORDER BY a.id DESC"));
  rows.bind(problem).bind(backend);
  std::vector<int64_t> all;
  while (rows.step()) all.push_back(rows.integer(0));
  return all;
}

std::vector<ModelUse> Reader::models_of_campaign(int64_t campaign) const {
  Statement rows = database().prepare(R"sql(
SELECT q.model, count(*), count(r.id), sum(coalesce(r.outcome = 'completion', 0)),
       sum(coalesce(r.input + r.cache_read + r.cache_written, 0)), sum(coalesce(r.output, 0)),
       sum(coalesce(r.dollars, 0)), count(r.dollars), sum(coalesce(r.seconds, 0)),
       (SELECT count(DISTINCT p.solution) FROM proposed p JOIN replies pr ON pr.id = p.reply
        JOIN requests pq ON pq.id = pr.request WHERE pq.campaign = ?1 AND pq.model = q.model)
FROM requests q LEFT JOIN replies r ON r.request = q.id WHERE q.campaign = ?1 GROUP BY q.model ORDER BY q.model)sql");
  rows.bind(campaign);
  std::vector<ModelUse> all;
  while (rows.step()) {
    all.push_back({rows.text(0), rows.integer(1), rows.integer(2), rows.integer(3), rows.integer(4), rows.integer(5),
                   rows.real(6), rows.integer(7), rows.real(8), rows.integer(9)});
  }
  return all;
}

int64_t Reader::count(const std::string& table) const {
  Statement row = database().prepare("SELECT count(*) FROM " + table_named(table).name);
  return row.step() ? row.integer(0) : 0;
}

int64_t Reader::data_version() const { return database().pragma("data_version"); }

void Reader::deny_writing() const { database().execute("PRAGMA query_only = ON"); }

void Reader::copy_to(const std::filesystem::path& file) const {
  database().prepare("VACUUM INTO ?").bind(file.string()).run();
}

Moment::Moment(const Reader& reader) : database_(database_of(reader)) { database_.execute("SAVEPOINT moment"); }
Moment::~Moment() { database_.execute("RELEASE moment"); }

}  // namespace results::archive
