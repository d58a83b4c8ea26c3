#include "results/archive/leaderboard.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/suggest.h"
#include "results/archive/database.h"
#include "results/archive/rows.h"

namespace results::archive {
namespace {
using core::Json;
using Sort = LeaderboardFilter::Sort;

// The last judged version of a problem, and one device.
struct Place {
  int64_t problem_id = 0;
  std::string problem, device;
  bool older_files = false;
};

bool device_fits(const std::string& device, const std::string& wanted) {
  return wanted.empty() || device == wanted || device.rfind(wanted + " ", 0) == 0;
}

std::vector<Place> places(Database& database, const LeaderboardFilter& filter) {
  std::vector<Place> all;
  Statement problems = database.prepare(
      "SELECT problem_id, problem, hash FROM v_problems WHERE is_current AND (?1 = '' OR problem = ?1) ORDER BY "
      "problem");
  problems.bind(filter.problem);
  while (problems.step()) {
    Place place{problems.integer(0), problems.text(1), ""};
    const auto here = filter.here.find(place.problem);
    place.older_files = here != filter.here.end() && here->second != problems.text(2);
    while (true) {  // skips from device to device along the index
      Statement next = database.prepare(
          "SELECT min(device) FROM (SELECT min(device) AS device FROM standings WHERE problem = ?1 AND device > ?2"
          " UNION ALL SELECT min(device) FROM baselines WHERE problem = ?1 AND device > ?2)");
      next.bind(place.problem_id).bind(place.device);
      if (!next.step() || next.is_null(0)) break;
      place.device = next.text(0);
      if (device_fits(place.device, filter.device)) all.push_back(place);
    }
  }
  return all;
}

// A solution's best point, before the rest of its row is read.
struct Standing {
  int64_t attempt = 0, solution = 0, rank = 0;
};

std::string key_of(Sort sort) {
  const auto of_first_workload = [](const std::string& value) {
    return "(SELECT " + value +
           " FROM timings t WHERE t.measurement = (SELECT id FROM measurements WHERE attempt = st.attempt)"
           " ORDER BY t.id LIMIT 1)";
  };
  switch (sort) {
    case Sort::speedup:
    case Sort::cost:  // sorted later, by Descents
      return "confirmed DESC, low DESC";
    case Sort::time:
      return of_first_workload("candidate_us");
    case Sort::bound:
      return of_first_workload("bound_us / candidate_us") + " DESC NULLS LAST";
    case Sort::date:
      return "attempt DESC";
    case Sort::name:
      return "(SELECT name FROM solutions WHERE id = solution)";
  }
  throw core::SystemError("no such order");
}

// The best points that one campaign confirmed.
constexpr const char* kOfCampaign =
    "SELECT attempt, solution, 0 FROM (SELECT a.id AS attempt, c.solution, 1 AS confirmed, m.low,"
    " row_number() OVER (PARTITION BY c.solution ORDER BY m.low DESC, a.id) AS place"
    " FROM attempts a JOIN measurements m ON m.attempt = a.id JOIN candidates c ON c.id = a.candidate"
    " JOIN candidates n ON n.id = m.against JOIN solutions ns ON ns.id = n.solution"
    " WHERE a.campaign = ?4 AND a.problem = ?1 AND a.device = ?2 AND a.effort = 'confirm' AND a.verdict = 'correct'"
    " AND m.outcome = 'win' AND ns.origin = 'naive') WHERE place = 1";

std::vector<Standing> standings(Database& database, const Place& place, const LeaderboardFilter& filter,
                                Descents& descents) {
  std::string sql = "SELECT attempt, solution, 0 FROM standings WHERE problem = ?1 AND device = ?2 AND confirmed = 1";
  if (filter.sort != Sort::speedup || filter.unconfirmed) {
    sql =
        "SELECT attempt, solution, row_number() OVER (ORDER BY low DESC) AS rank, low, 1 AS confirmed FROM standings"
        " WHERE problem = ?1 AND device = ?2 AND confirmed = 1";
    if (filter.unconfirmed) {
      sql +=
          " UNION ALL SELECT attempt, solution, 0, low, 0 FROM standings u WHERE problem = ?1 AND device = ?2 AND"
          " confirmed = 0 AND NOT EXISTS (SELECT 1 FROM standings c WHERE c.problem = ?1 AND c.device = ?2 AND"
          " c.solution = u.solution AND c.confirmed = 1)";
    }
    sql = "SELECT attempt, solution, rank FROM (" + sql + ") st";
  }
  if (filter.campaign) sql = kOfCampaign;
  sql += " ORDER BY " + key_of(filter.sort) + " LIMIT ?3";
  const int64_t limit = filter.limit == 0 || filter.sort == Sort::cost ? -1 : static_cast<int64_t>(filter.limit);
  Statement rows = database.prepare(sql);
  rows.bind(place.problem_id).bind(place.device).bind(limit);
  if (filter.campaign) rows.bind(*filter.campaign);
  std::vector<Standing> all;
  while (rows.step()) all.push_back({rows.integer(0), rows.integer(1), rows.integer(2)});
  if (filter.sort == Sort::speedup && !filter.unconfirmed) {
    for (size_t i = 0; i < all.size(); ++i) all[i].rank = static_cast<int64_t>(i) + 1;
  }
  if (filter.sort == Sort::cost) {
    std::vector<std::pair<std::pair<double, int64_t>, Standing>> priced;
    for (const Standing& standing : all) {
      const Cost cost = descents.of(standing.solution).lineage;
      priced.push_back({{cost.dollars, cost.tokens}, standing});
    }
    std::stable_sort(priced.begin(), priced.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (filter.limit > 0 && priced.size() > filter.limit) priced.resize(filter.limit);
    all.clear();
    for (const auto& [cost, standing] : priced) all.push_back(standing);
  }
  return all;
}

std::vector<WorkloadFigures> figures_of(Database& database, int64_t measurement) {
  Statement rows = database.prepare(
      "SELECT workload, candidate_us, incumbent_us, speed_up, low, high, bound_us, samples, clocks,"
      " coalesce(weight, 1) FROM timings"
      " WHERE measurement = ? ORDER BY id");
  rows.bind(measurement);
  std::vector<WorkloadFigures> all;
  while (rows.step()) {
    WorkloadFigures figures{rows.text(0),         {rows.real(1), rows.real(1), rows.real(1)},
                            rows.real(2),         {rows.real(3), rows.real(4), rows.real(5)},
                            rows.real_or_none(6), rows.real(9)};
    std::vector<double> times;
    for (const verifier::statistics::Pair& pair :
         verifier::statistics::steady_pairs(unpack(rows.blob(7), rows.blob(8)))) {
      times.push_back(pair.candidate_us);
    }
    if (!times.empty()) {
      const verifier::statistics::Interval interval = verifier::statistics::median_with_interval(std::move(times));
      figures.time_us.low = std::min(figures.time_us.value, interval.low);
      figures.time_us.high = std::max(figures.time_us.value, interval.high);
    }
    all.push_back(std::move(figures));
  }
  return all;
}

LeaderboardRow row_of(Database& database, const Place& place, const Standing& standing, Descents& descents) {
  LeaderboardRow row;
  int64_t measurement = 0;
  {
    Statement found = database.prepare(R"sql(
SELECT s.name, s.hash, s.origin, c.tunables, a.made, coalesce(g.name, ''), m.id, m.speed_up, m.low, m.high,
       a.effort = 'confirm' AND m.outcome = 'win'
FROM attempts a JOIN candidates c ON c.id = a.candidate JOIN solutions s ON s.id = c.solution
     JOIN measurements m ON m.attempt = a.id LEFT JOIN campaigns g ON g.id = a.campaign
WHERE a.id = ?)sql");
    found.bind(standing.attempt);
    if (!found.step()) throw core::SystemError("the archive's standings name a missing attempt");
    row.solution = found.text(0);
    row.hash = found.text(1);
    row.origin = found.text(2);
    row.binding = Json::parse(found.text(3)).get<sandbox::TunableBinding>();
    row.made = found.text(4);
    row.campaign = found.text(5);
    measurement = found.integer(6);
    row.speed_up = {found.real(7), found.real(8), found.real(9)};
    row.confirmed = found.integer(10) != 0;
  }
  row.rank = standing.rank;
  row.attempt = standing.attempt;
  row.solution_id = standing.solution;
  row.problem = place.problem;
  row.device = place.device;
  row.workloads = figures_of(database, measurement);
  row.descent = descents.of(standing.solution);
  return row;
}

// The newest baseline of each library, right or wrong.
std::vector<LeaderboardRow> libraries(Database& database, const Place& place) {
  Statement rows = database.prepare(R"sql(
SELECT id, library, made, verdict_json FROM baselines b WHERE problem = ?1 AND device = ?2
  AND id = (SELECT max(id) FROM baselines WHERE problem = ?1 AND device = ?2 AND library = b.library)
ORDER BY id)sql");
  rows.bind(place.problem_id).bind(place.device);
  std::vector<LeaderboardRow> all;
  while (rows.step()) {
    LeaderboardRow row;
    row.library = true;
    row.problem = place.problem;
    row.device = place.device;
    row.solution = rows.text(1);
    row.origin = "library";
    row.made = rows.text(2);
    const Json verdict = Json::parse(rows.text(3));
    row.verdict = verifier::verdicts::verdict_from_json(core::JsonView(verdict, "archive"));
    Statement timings = database.prepare(
        "SELECT workload, candidate_us, incumbent_us, speed_up, low, high, bound_us, coalesce(weight, 1)"
        " FROM baseline_timings WHERE baseline = ? ORDER BY id");
    timings.bind(rows.integer(0));
    std::vector<verifier::statistics::WeightedSpeedUp> parts;
    while (verifier::verdicts::is_correct(row.verdict) && timings.step()) {
      const double time = timings.real(1);
      parts.push_back({{timings.real(3), timings.real(4), timings.real(5)}, timings.real(7)});
      row.workloads.push_back({timings.text(0),
                               {time, time, time},
                               timings.real(2),
                               parts.back().speed_up,
                               timings.real_or_none(6),
                               parts.back().weight});
    }
    if (!parts.empty()) row.speed_up = verifier::statistics::combine(parts);
    all.push_back(std::move(row));
  }
  return all;
}

verifier::statistics::SpeedUp quotient(const verifier::statistics::SpeedUp& a, const verifier::statistics::SpeedUp& b) {
  const double value = a.value / b.value;
  const double below = std::hypot(std::log(a.value / a.low), std::log(b.high / b.value));
  const double above = std::hypot(std::log(a.high / a.value), std::log(b.value / b.low));
  return {value, value * std::exp(-below), value * std::exp(above)};
}

void compare(LeaderboardRow& row, const std::vector<LeaderboardRow>& libraries) {
  for (const LeaderboardRow& library : libraries) {
    std::vector<verifier::statistics::WeightedSpeedUp> parts;
    for (const WorkloadFigures& ours : row.workloads) {
      for (const WorkloadFigures& theirs : library.workloads) {
        if (ours.workload != theirs.workload) continue;
        parts.push_back({quotient(ours.speed_up, theirs.speed_up), ours.weight});
      }
    }
    if (!parts.empty())
      row.over_libraries.push_back({library.solution, verifier::statistics::combine(parts), parts.size()});
  }
}

// Orders libraries among solutions: failed ones come last.
bool stands_before(const LeaderboardRow& a, const LeaderboardRow& b, Sort sort) {
  if (a.timed() != b.timed()) return a.timed();
  if (sort == Sort::speedup) {
    const bool a_counts = a.library || a.confirmed, b_counts = b.library || b.confirmed;
    return a_counts != b_counts ? a_counts : a.speed_up.low > b.speed_up.low;
  }
  if (sort == Sort::time) return a.time_us() < b.time_us();
  return !a.library && b.library;
}
}  // namespace

std::optional<double> WorkloadFigures::share_of_bound() const {
  return bound_us && time_us.value > 0 ? std::optional(*bound_us / time_us.value) : std::nullopt;
}

std::vector<LeaderboardRow> leaderboard(const Reader& archive, const LeaderboardFilter& filter) {
  Database& database = database_of(archive);
  Descents descents(archive);
  std::vector<LeaderboardRow> board;
  for (const Place& place : places(database, filter)) {
    const auto begin = static_cast<std::ptrdiff_t>(board.size());
    std::vector<LeaderboardRow> of_libraries = libraries(database, place);
    for (const Standing& standing : standings(database, place, filter, descents)) {
      board.push_back(row_of(database, place, standing, descents));
      compare(board.back(), of_libraries);
    }
    std::move(of_libraries.begin(), of_libraries.end(), std::back_inserter(board));
    for (size_t i = static_cast<size_t>(begin); i < board.size(); ++i) board[i].older_files = place.older_files;
    std::stable_sort(board.begin() + begin, board.end(),
                     [&](const auto& a, const auto& b) { return stands_before(a, b, filter.sort); });
  }
  return board;
}

std::vector<std::string> known_problems(const Reader& archive) {
  return texts_of(database_of(archive).prepare("SELECT DISTINCT name FROM problems ORDER BY name"));
}

std::vector<std::string> known_devices(const Reader& archive) {
  return texts_of(
      database_of(archive).prepare("SELECT device FROM standings UNION SELECT device FROM baselines ORDER BY 1"));
}

const std::vector<std::string>& sort_names() {
  static const std::vector<std::string> names{"speedup", "time", "cost", "bound", "date", "name"};
  return names;
}

Sort sort_from_name(const std::string& name, const std::string& where) {
  const auto at = std::find(sort_names().begin(), sort_names().end(), name);
  if (at == sort_names().end()) {
    throw core::UsageError(where, "there is no sort order \"" + name + "\"",
                           core::did_you_mean(name, sort_names(), "orders"));
  }
  return static_cast<Sort>(at - sort_names().begin());
}

}  // namespace results::archive
