#include "results/archive/lineage.h"

#include <set>

#include "core/error.h"
#include "results/archive/database.h"

namespace results::archive {
namespace {
// Reads the first column of an attempt's row.
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

void add(Cost& sum, const Cost& cost) {
  sum.replies += cost.replies;
  sum.tokens += cost.tokens;
  sum.dollars += cost.dollars;
  sum.all_priced = sum.all_priced && cost.all_priced;
}
}  // namespace

const Descents::Step& Descents::step(int64_t solution) {
  const auto [at, fresh] = steps_.try_emplace(solution);
  Step& step = at->second;
  if (!fresh) return step;
  Statement row = database_of(archive_).prepare(R"sql(
SELECT s.parent, r.id, q.model, json_extract(q.proposal, '$.operator'),
       r.input + r.cache_read + r.cache_written + r.output, r.dollars
FROM solutions s LEFT JOIN replies r ON r.id = (SELECT min(reply) FROM proposed WHERE solution = s.id)
     LEFT JOIN requests q ON q.id = r.request
WHERE s.id = ?)sql");
  row.bind(solution);
  if (!row.step()) return step;
  if (!row.is_null(0)) step.parent = row.integer(0);
  if (row.is_null(1)) return step;
  step.reply = row.integer(1);
  step.model = row.text(2);
  step.task = row.text(3);
  step.cost = {1, row.integer(4), row.real(5), !row.is_null(5)};
  return step;
}

Descent Descents::of(int64_t solution) {
  Descent descent;
  std::set<int64_t> visited, replies;  // a merged archive could contain a cycle
  for (std::optional<int64_t> at = solution; at && visited.insert(*at).second;) {
    const Step& here = step(*at);
    if (*at == solution) {
      descent.model = here.model;
      descent.task = here.task;
      descent.parent = here.parent;
      descent.own = here.cost;
    } else {
      ++descent.ancestors;
    }
    if (here.reply && replies.insert(*here.reply).second) add(descent.lineage, here.cost);
    at = here.parent;
  }
  return descent;
}

std::vector<LineageStep> lineage(const Reader& archive, int64_t solution) {
  Descents descents(archive);
  std::vector<LineageStep> steps;
  std::set<int64_t> visited;
  for (std::optional<int64_t> at = solution; at && visited.insert(*at).second;) {
    LineageStep step{archive.solution(*at), descents.of(*at), stands_of(archive, *at)};
    at = step.solution.parent;
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<Stand> stands_of(const Reader& archive, int64_t solution) {
  Statement rows = database_of(archive).prepare(R"sql(
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

std::optional<int64_t> best_attempt(const Reader& archive, int64_t solution) {
  if (const std::vector<Stand> stands = stands_of(archive, solution); !stands.empty()) return stands.front().attempt;
  const std::vector<int64_t> newest = newest_attempts(archive, solution, 1);
  return newest.empty() ? std::nullopt : std::optional(newest.front());
}

SolutionRecord solution_of_attempt(const Reader& archive, int64_t attempt) {
  Database& database = database_of(archive);
  const int64_t id =
      of_attempt(database, "SELECT c.solution FROM attempts a JOIN candidates c ON c.id = a.candidate WHERE a.id = ?",
                 attempt, [](const Statement& row) { return row.integer(0); });
  return archive.solution(id);
}

std::optional<SolutionRecord> incumbent_of_attempt(const Reader& archive, int64_t attempt) {
  Statement row = database_of(archive).prepare(
      "SELECT c.solution FROM measurements m JOIN candidates c ON c.id = m.against WHERE m.attempt = ?");
  row.bind(attempt);
  if (!row.step()) return std::nullopt;
  return archive.solution(row.integer(0));
}

std::map<std::string, int64_t> verdicts_of_campaign(const Reader& archive, int64_t campaign) {
  Statement rows =
      database_of(archive).prepare("SELECT verdict, count(*) FROM attempts WHERE campaign = ? GROUP BY verdict");
  rows.bind(campaign);
  std::map<std::string, int64_t> verdicts;
  while (rows.step()) verdicts[rows.text(0)] = rows.integer(1);
  return verdicts;
}

std::vector<int64_t> newest_attempts(const Reader& archive, int64_t solution, int64_t limit) {
  Statement rows = database_of(archive).prepare(
      "SELECT a.id FROM candidates c JOIN attempts a ON a.candidate = c.id WHERE c.solution = ? ORDER BY a.id DESC"
      " LIMIT ?");
  rows.bind(solution).bind(limit);
  return ids_of(std::move(rows));
}

}  // namespace results::archive
