#include "results/archive/trials.h"

#include <algorithm>

#include "results/archive/database.h"
#include "results/archive/leaderboard.h"

namespace results::archive {
namespace {
std::string trial_of(const CampaignRecord& campaign) { return campaign.settings.value("trial", ""); }

std::optional<int64_t> first_correct(const Reader& archive, int64_t campaign) {
  Statement rows = database_of(archive).prepare(R"sql(
SELECT (SELECT count(*) FROM requests k WHERE k.campaign = q.campaign AND k.id <= q.id)
FROM requests q JOIN replies r ON r.request = q.id JOIN proposed o ON o.reply = r.id
     JOIN candidates c ON c.solution = o.solution JOIN attempts a ON a.candidate = c.id
WHERE q.campaign = ?1 AND a.campaign = ?1 AND a.verdict = 'correct' ORDER BY q.id LIMIT 1)sql");
  rows.bind(campaign);
  return rows.step() ? std::optional(rows.integer(0)) : std::nullopt;
}

std::optional<verifier::statistics::SpeedUp> best_of(const Reader& archive, int64_t campaign) {
  const std::vector<LeaderboardRow> rows = leaderboard(archive, {.campaign = campaign});
  const auto best = std::ranges::find_if(rows, [](const auto& row) { return !row.library && row.rank == 1; });
  return best == rows.end() ? std::nullopt : std::optional(best->speed_up);
}
}  // namespace

std::vector<TrialCampaign> campaigns_of_trial(const Reader& archive, const std::string& trial) {
  std::vector<TrialCampaign> all;
  for (CampaignRecord& record : archive.campaigns()) {
    if (trial.empty() || trial_of(record) != trial) continue;
    TrialCampaign one;
    one.strategy = record.settings.at("strategy").get<std::string>();
    one.problem = record.settings.at("problems").at(0).get<std::string>();
    one.seed = record.settings.at("seed").get<uint64_t>();
    one.spend = archive.model_spend(record.id);
    one.first_correct = first_correct(archive, record.id);
    one.best = best_of(archive, record.id);
    one.record = std::move(record);
    all.push_back(std::move(one));
  }
  std::ranges::reverse(all);  // the archive lists the newest first
  return all;
}

std::optional<std::string> newest_trial(const Reader& archive) {
  for (const CampaignRecord& record : archive.campaigns()) {
    if (!trial_of(record).empty()) return trial_of(record);
  }
  return std::nullopt;
}

}  // namespace results::archive
