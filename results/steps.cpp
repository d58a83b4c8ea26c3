// The order in which a campaign wrote things down.
#include "results/archive_state.h"

namespace results {

std::vector<StepRecord> Archive::steps_of_campaign(int64_t campaign) const {
  Statement rows = state_->database.prepare(R"sql(
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

}  // namespace results
