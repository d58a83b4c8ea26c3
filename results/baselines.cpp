// Libraries in the archive: what people would otherwise use.
#include <utility>

#include "results/archive_state.h"

namespace results {
namespace {
using core::Json;

std::string dump_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }
}  // namespace

int64_t Archive::add_baseline(const NewBaseline& baseline) {
  Statement row = state_->database.prepare(
      "INSERT INTO baselines (problem, device, environment, library, made, verdict, verdict_json, measurement_json)"
      " VALUES (?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?)");
  row.bind(baseline.problem)
      .bind(baseline.device)
      .bind(baseline.environment)
      .bind(baseline.library)
      .bind(verifier::name_of(baseline.judgement.verdict))
      .bind(dump_of(verifier::to_json(baseline.judgement.verdict)));
  if (baseline.judgement.measurement) {
    row.bind(dump_of(verifier::to_json(*baseline.judgement.measurement)));
  } else {
    row.bind_null();
  }
  row.run();
  return state_->database.last_id();
}

std::optional<int64_t> Archive::find_baseline(int64_t problem, const std::string& device,
                                              const std::string& library) const {
  Statement row = state_->database.prepare(
      "SELECT id FROM baselines WHERE problem = ? AND device = ? AND library = ? ORDER BY id DESC LIMIT 1");
  row.bind(problem).bind(device).bind(library);
  if (!row.step()) return std::nullopt;
  return row.integer(0);
}

std::vector<BaselineRecord> Archive::baselines(const std::string& problem, const std::string& device) const {
  Statement rows = state_->database.prepare(R"sql(
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
                          verifier::verdict_from_json(core::JsonView(verdict, "archive")),
                          {}};
    if (!rows.is_null(6)) {
      const Json measurement = Json::parse(rows.text(6));
      record.measurement = verifier::measurement_from_json(core::JsonView(measurement, "archive"));
    }
    all.push_back(std::move(record));
  }
  return all;
}

}  // namespace results
