#include "results/lineage.h"

#include <set>

#include "core/error.h"
#include "results/archive_state.h"

namespace results {
namespace {
SolutionRecord solution_with(Database& database, int64_t id) {
  Statement row = database.prepare(
      "SELECT hash, problem, name, origin, added, source, parent, (SELECT count(*) FROM attempts a JOIN candidates c"
      " ON c.id = a.candidate WHERE c.solution = solutions.id) FROM solutions WHERE id = ?");
  row.bind(id);
  if (!row.step()) throw core::SystemError("the archive names a solution that it does not hold");
  SolutionRecord record{id,          row.text(0), row.text(1), row.text(2),   row.text(3),
                        row.text(4), row.text(5), {},          row.integer(7)};
  if (!row.is_null(6)) record.parent = row.integer(6);
  return record;
}

// The first column of the row of an attempt.
template <typename Read>
auto of_attempt(Database& database, const std::string& sql, int64_t attempt, Read read) {
  Statement row = database.prepare(sql);
  row.bind(attempt);
  if (!row.step()) {
    throw core::InputError("", "there is no attempt " + std::to_string(attempt),
                           "kernelwright leaderboard shows the numbers of the best ones");
  }
  return read(row);
}
}  // namespace

std::vector<LineageStep> lineage(const Archive& archive, int64_t solution) {
  Descents descents(archive);
  std::vector<LineageStep> steps;
  std::set<int64_t> visited;
  for (std::optional<int64_t> at = solution; at && visited.insert(*at).second;) {
    LineageStep step{solution_with(archive.state().database, *at), descents.of(*at), stands_of(archive, *at)};
    at = step.solution.parent;
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<Stand> stands_of(const Archive& archive, int64_t solution) {
  Statement rows = archive.state().database.prepare(R"sql(
SELECT p.name, st.device, st.confirmed, m.speed_up, m.low, m.high, st.attempt, c.tunables
FROM standings st JOIN problems p ON p.id = st.problem JOIN measurements m ON m.attempt = st.attempt
     JOIN attempts a ON a.id = st.attempt JOIN candidates c ON c.id = a.candidate
WHERE st.solution = ? ORDER BY st.confirmed DESC, st.low DESC)sql");
  rows.bind(solution);
  std::vector<Stand> all;
  while (rows.step()) {
    all.push_back({rows.text(0),
                   rows.text(1),
                   rows.integer(2) != 0,
                   {rows.real(3), rows.real(4), rows.real(5)},
                   rows.integer(6),
                   core::Json::parse(rows.text(7)).get<sandbox::TunableBinding>()});
  }
  return all;
}

std::optional<int64_t> best_attempt(const Archive& archive, int64_t solution) {
  if (const std::vector<Stand> stands = stands_of(archive, solution); !stands.empty()) return stands.front().attempt;
  const std::vector<int64_t> newest = newest_attempts(archive, solution, 1);
  return newest.empty() ? std::nullopt : std::optional(newest.front());
}

SolutionRecord solution_of_attempt(const Archive& archive, int64_t attempt) {
  Database& database = archive.state().database;
  const int64_t id =
      of_attempt(database, "SELECT c.solution FROM attempts a JOIN candidates c ON c.id = a.candidate WHERE a.id = ?",
                 attempt, [](const Statement& row) { return row.integer(0); });
  return solution_with(database, id);
}

std::string problem_json_of(const Archive& archive, int64_t attempt) {
  return of_attempt(archive.state().database,
                    "SELECT p.json FROM attempts a JOIN problems p ON p.id = a.problem WHERE a.id = ?", attempt,
                    [](const Statement& row) { return row.text(0); });
}

std::map<std::string, int64_t> verdicts_of_campaign(const Archive& archive, int64_t campaign) {
  Statement rows =
      archive.state().database.prepare("SELECT verdict, count(*) FROM attempts WHERE campaign = ? GROUP BY verdict");
  rows.bind(campaign);
  std::map<std::string, int64_t> verdicts;
  while (rows.step()) verdicts[rows.text(0)] = rows.integer(1);
  return verdicts;
}

std::vector<int64_t> newest_attempts(const Archive& archive, int64_t solution, int64_t limit) {
  Statement rows = archive.state().database.prepare(
      "SELECT a.id FROM candidates c JOIN attempts a ON a.candidate = c.id WHERE c.solution = ? ORDER BY a.id DESC"
      " LIMIT ?");
  rows.bind(solution).bind(limit);
  return archive.state().ids(std::move(rows));
}

}  // namespace results
