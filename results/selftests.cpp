// What the judge of each device found out about itself.
#include "results/archive_state.h"

namespace results {

int64_t Archive::add_selftest(const NewSelftest& s) {
  state_->database
      .prepare(
          "INSERT INTO selftests (device, environment, made, seed, quick, seconds, dishonest, false_accepts, honest,"
          " false_rejects, widest_noise, candidates_per_hour, details)"
          " VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(s.device)
      .bind(s.environment)
      .bind(std::to_string(s.seed))
      .bind(int64_t{s.quick})
      .bind(s.seconds)
      .bind(s.dishonest)
      .bind(s.false_accepts)
      .bind(s.honest)
      .bind(s.false_rejects)
      .bind(s.widest_noise)
      .bind(s.candidates_per_hour)
      .bind(s.details.dump(-1, ' ', false, core::Json::error_handler_t::replace))
      .run();
  return state_->database.last_id();
}

std::vector<SelftestRecord> Archive::newest_selftests() const {
  Statement rows = state_->database.prepare(R"sql(
SELECT id, device, environment, made, seed, quick, seconds, dishonest, false_accepts, honest, false_rejects,
       widest_noise, candidates_per_hour, details
FROM selftests s
WHERE id = (SELECT id FROM selftests o WHERE o.device = s.device ORDER BY o.quick, o.id DESC LIMIT 1)
ORDER BY device)sql");
  std::vector<SelftestRecord> all;
  while (rows.step()) {
    NewSelftest of{rows.text(1),          rows.integer(2),       std::stoull(rows.text(4)),
                   rows.integer(5) != 0,  rows.real(6),          rows.integer(7),
                   rows.integer(8),       rows.integer(9),       rows.integer(10),
                   rows.real_or_none(11), rows.real_or_none(12), core::Json::parse(rows.text(13))};
    all.push_back({rows.integer(0), rows.text(3), std::move(of)});
  }
  return all;
}

}  // namespace results
