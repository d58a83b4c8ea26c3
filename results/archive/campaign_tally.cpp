#include "results/archive/campaign_tally.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "results/archive/database.h"

namespace results::archive {
namespace {
constexpr size_t kLatest = 30;

double seconds_of(const std::string& utc) {
  std::tm parts{};
  return ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr ? 0 : static_cast<double>(::timegm(&parts));
}
}  // namespace

std::map<int64_t, CampaignTally::Win> CampaignTally::new_wins(Database& database) const {
  Statement rows = database.prepare(R"sql(
SELECT a.id, m.speed_up, m.low, m.high, s.name, s.hash
FROM attempts a JOIN measurements m ON m.attempt = a.id JOIN candidates c ON c.id = a.candidate
     JOIN solutions s ON s.id = c.solution JOIN candidates n ON n.id = m.against JOIN solutions ns ON ns.id = n.solution
WHERE a.campaign = ? AND a.id > ? AND a.effort = 'confirm' AND a.verdict = 'correct' AND m.outcome = 'win'
      AND ns.origin = 'naive')sql");
  rows.bind(campaign_).bind(last_);
  std::map<int64_t, Win> wins;
  while (rows.step()) {
    wins[rows.integer(0)] = {{rows.real(1), rows.real(2), rows.real(3)}, rows.text(4), rows.text(5)};
  }
  return wins;
}

void CampaignTally::read_spending(Database& database) {
  spent_.clear();
  Statement rows = database.prepare(
      "SELECT q.problem, r.arrived, coalesce(r.dollars, 0), r.input + r.cache_read + r.cache_written + r.output"
      " FROM requests q JOIN replies r ON r.request = q.id WHERE q.campaign = ? ORDER BY r.arrived, r.id");
  rows.bind(campaign_);
  while (rows.step()) {
    std::vector<Spent>& of = spent_[rows.text(0)];
    const Spent before = of.empty() ? Spent{} : of.back();
    of.push_back({rows.text(1), before.dollars + rows.real(2), before.tokens + rows.integer(3)});
  }
}

Curve& CampaignTally::curve_of(int64_t problem, const std::string& device, const std::string& made) {
  const auto [place, fresh] = places_.try_emplace({problem, device}, curves_.size());
  if (fresh) {
    curves_.push_back({problems_[problem], device, {}, {}});
    began_.push_back(made);
  }
  return curves_[place->second];
}

// Sets the curve's seconds and cost.
void CampaignTally::place(Curve& curve, const std::string& made) const {
  const auto index = static_cast<size_t>(&curve - curves_.data());
  curve.now.seconds = std::max(0.0, seconds_of(made) - seconds_of(began_[index]));
  const auto of = spent_.find(curve.problem);
  if (of == spent_.end()) return;
  const auto after = std::upper_bound(of->second.begin(), of->second.end(), made,
                                      [](const std::string& time, const Spent& spent) { return time < spent.arrived; });
  if (after == of->second.begin()) return;
  curve.now.dollars = std::prev(after)->dollars;
  curve.now.tokens = std::prev(after)->tokens;
}

void CampaignTally::update(const Reader& archive) {
  Database& database = database_of(archive);
  Statement names = database.prepare("SELECT id, name FROM problems");
  while (names.step()) problems_[names.integer(0)] = names.text(1);
  read_spending(database);
  const std::map<int64_t, Win> wins = new_wins(database);
  // After the first time, only a few attempts are new: scans those of the archive instead of the campaign's.
  Statement rows =
      database.prepare(std::string("SELECT id, problem, device, verdict, made FROM attempts WHERE ") +
                       (last_ == 0 ? "campaign = ? AND id > ?" : "+campaign = ? AND id > ?") + " ORDER BY id");
  rows.bind(campaign_).bind(last_);
  std::map<size_t, std::string> moved;  // changed curves, and the times
  while (rows.step()) {
    const int64_t id = rows.integer(0);
    const std::string made = rows.text(4);
    Curve& curve = curve_of(rows.integer(1), rows.text(2), made);
    moved[static_cast<size_t>(&curve - curves_.data())] = made;
    ++curve.now.attempts;
    ++attempts_;
    ++verdicts_[rows.text(3)];
    last_ = id;
    latest_.insert(latest_.begin(), id);
    if (latest_.size() > kLatest) latest_.pop_back();
    const auto win = wins.find(id);
    const double best = curve.steps.empty() ? 0 : curve.steps.back().speed_up.low;
    if (win == wins.end() || win->second.speed_up.low <= best) continue;
    curve.now.speed_up = win->second.speed_up;
    curve.now.attempt = id;
    curve.now.solution = win->second.solution;
    curve.now.hash = win->second.hash;
    place(curve, made);
    curve.steps.push_back(curve.now);
  }
  for (const auto& [index, made] : moved) place(curves_[index], made);
}

}  // namespace results::archive
