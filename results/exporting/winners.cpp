#include "results/exporting/winners.h"

#include "results/archive_state.h"

namespace results {

std::vector<Winner> winners(const Archive& archive, const std::string& problem) {
  Statement rows = archive.state().database.prepare(
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

std::string problem_hash_of(const Archive& archive, int64_t attempt) {
  Statement row = archive.state().database.prepare(
      "SELECT p.hash FROM attempts a JOIN problems p ON p.id = a.problem WHERE a.id = ?");
  row.bind(attempt);
  return row.step() ? row.text(0) : "";
}

}  // namespace results
