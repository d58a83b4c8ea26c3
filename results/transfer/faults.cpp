#include "results/transfer/sources.h"

#include <map>

#include "core/error.h"
#include "results/archive/database.h"
#include "results/archive/schema.h"
#include "results/transfer/check.h"
#include "results/transfer/record_reader.h"

namespace results::transfer {
namespace {

struct Misfit {
  std::string table, what, rows;  // SQL: the faulty rows
};

const std::vector<Misfit>& misfits() {
  static const std::vector<Misfit> all{
      {"solutions", "its parent belongs to another problem",
       "SELECT s.id FROM solutions s JOIN solutions p ON p.id = s.parent WHERE p.problem <> s.problem"},
      {"attempts", "its candidate belongs to another problem",
       "SELECT a.id FROM attempts a JOIN problems p ON p.id = a.problem JOIN candidates c ON c.id = a.candidate"
       " JOIN solutions s ON s.id = c.solution WHERE s.problem <> p.name"},
      {"attempts", "it was measured against a candidate of another problem",
       "SELECT a.id FROM measurements m JOIN attempts a ON a.id = m.attempt JOIN problems p ON p.id = a.problem"
       " JOIN candidates c ON c.id = m.against JOIN solutions s ON s.id = c.solution WHERE s.problem <> p.name"},
      {"attempts", "its compilation belongs to another candidate, device or artefact",
       "SELECT a.id FROM attempts a JOIN compilations k ON k.id = a.compilation WHERE k.candidate <> a.candidate"
       " OR k.device <> a.device OR k.artefact IS NOT a.artefact"},
      {"attempts", "it copies a result of another campaign or with another verdict",
       "SELECT a.id FROM attempts a JOIN attempts f ON f.id = a.reused_from"
       " WHERE f.campaign IS NOT a.campaign OR f.verdict <> a.verdict"},
      {"compilations", "belongs to no attempt",
       "SELECT id FROM compilations WHERE id NOT IN (SELECT compilation FROM attempts)"},
      {"proposed", "solves a different problem than requested",
       "SELECT d.rowid FROM proposed d JOIN replies r ON r.id = d.reply JOIN requests q ON q.id = r.request"
       " JOIN solutions s ON s.id = d.solution WHERE s.problem <> q.problem"},
      {"standings", "the best result of a solution does not match its attempts",
       "WITH best(problem, device, solution, confirmed, low) AS ("
       "SELECT a.problem, a.device, c.solution, a.effort = 'confirm' AND m.outcome = 'win' AS won, max(m.low)"
       " FROM attempts a JOIN measurements m ON m.attempt = a.id JOIN candidates c ON c.id = a.candidate"
       " JOIN solutions s ON s.id = c.solution WHERE a.effort IN ('full', 'confirm') AND a.verdict = 'correct'"
       " AND s.origin <> 'naive' AND m.against IN (SELECT n.id FROM candidates n JOIN solutions ns"
       " ON ns.id = n.solution WHERE ns.origin = 'naive') GROUP BY a.problem, a.device, c.solution, won)"
       " SELECT 0 FROM (SELECT * FROM best EXCEPT SELECT problem, device, solution, confirmed, low FROM standings"
       " UNION ALL SELECT * FROM (SELECT problem, device, solution, confirmed, low FROM standings"
       " EXCEPT SELECT * FROM best)) LIMIT 1"},
      {"campaigns", "its steps are not numbered from 1 to their count, each once",
       "WITH numbered(campaign, step) AS (SELECT campaign, step FROM attempts UNION ALL"
       " SELECT campaign, step FROM requests UNION ALL SELECT campaign, step FROM events UNION ALL"
       " SELECT q.campaign, r.step FROM replies r JOIN requests q ON q.id = r.request)"
       " SELECT g.id FROM campaigns g LEFT JOIN numbered n ON n.campaign = g.id GROUP BY g.id"
       " HAVING count(n.step) <> g.steps OR count(DISTINCT n.step) <> g.steps OR coalesce(max(n.step), 0) <> g.steps"}};
  return all;
}

void check_file(Database& database, const Fault& fault) {
  {
    Statement found = database.prepare("PRAGMA integrity_check(100)");
    while (found.step()) {
      if (found.text(0) != "ok") fault("the file", 0, found.text(0));
    }
  }
  Statement lost = database.prepare("PRAGMA foreign_key_check");
  while (lost.step())
    fault(lost.text(0), lost.integer(1), "refers to a row of " + lost.text(2) + " that does not exist");
}

// The SQL of our tables, views, indices and triggers, by name.
using Definitions = std::map<std::string, std::string>;

Definitions definitions_in(Database& database) {
  Definitions all;
  Statement found = database.prepare(
      "SELECT type || ' ' || name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE "
      "'\\'");
  while (found.step()) all[found.text(0)] = found.text(1);
  return all;
}

// A hostile file may replace a view or trigger of ours with one whose result changes. Users may add views and tables,
// but no triggers, since those change our writes. Returns true if all definitions are as expected.
bool check_definitions(Database& database, const Fault& fault) {
  Database ours{Database::Temporary()};
  archive::migrate(ours, "");
  const Definitions expected = definitions_in(ours), there = definitions_in(database);
  bool sound = true;
  const auto differs = [&](const std::string& name, const char* how) {
    fault("the file", 0, "its " + name + how);
    sound = false;
  };
  for (const auto& [name, sql] : expected) {
    const auto found = there.find(name);
    if (found == there.end()) {
      differs(name, " is missing");
    } else if (found->second != sql) {
      differs(name, " differs from this program's own");
    }
  }
  for (const auto& [name, sql] : there) {
    if (expected.count(name) == 0 && name.rfind("trigger ", 0) == 0) differs(name, " does not come from this program");
  }
  return sound;
}

std::string problem_of(const core::InputError& error) {
  const size_t member = error.where().find('#');
  return (member == std::string::npos ? "" : error.where().substr(member + 1) + " ") + error.problem();
}
}  // namespace

void find_misfits(Database& database, const Fault& fault) {
  for (const Misfit& misfit : misfits()) {
    Statement rows = database.prepare(misfit.rows);
    while (rows.step()) fault(misfit.table, rows.integer(0), misfit.what);
  }
}

void find_faults(Database& database, const Fault& fault, const Watch& watch) {
  const Snapshot snapshot(database);
  check_file(database, fault);
  if (!check_definitions(database, fault)) return;  // forged definitions could return anything
  RecordReader reader(database);
  int64_t done = 0, total = 0;
  for (const Table& table : tables()) total += reader.count(table);
  for (const Table& table : tables()) {
    const auto found = [&](int64_t row, const std::string& what) { fault(table.name, row, what); };
    reader.each(
        table,
        [&](int64_t row, core::Json& record) {
          std::optional<std::string> wrong;
          try {
            check_record(table, core::JsonView(record, ""));
          } catch (const core::InputError& error) {
            wrong = problem_of(error);
          }
          if (wrong) found(row, *wrong);
          if (watch) watch(++done, total);
        },
        {}, found);
  }
  find_misfits(database, fault);
}

std::vector<Finding> verify(const archive::Reader& archive, size_t most, const Watch& watch) {
  struct Enough {};
  std::vector<Finding> findings;
  const auto add = [&](const std::string& table, int64_t row, const std::string& what) {
    findings.push_back({table, row, what});
    if (findings.size() >= most) throw Enough();
  };
  try {
    find_faults(archive::database_of(archive), add, watch);
  } catch (const Enough&) {
  } catch (const core::InputError& error) {  // too damaged to continue
    findings.push_back({"the file", 0, error.problem()});
  }
  return findings;
}

}  // namespace results::transfer
