#include "results/view/strategies.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "results/view/json.h"
#include "verifier/statistics/random.h"

namespace results::view {
namespace {
using archive::TrialCampaign;
using core::Json;
using verifier::statistics::SpeedUp;

constexpr const char* kTuner = "tune";
constexpr double kQuantile = 1.959964;  // of N(0, 1), for 95 %
constexpr size_t kResamples = 4000, kFewestForInterval = 5;

bool is_done(const TrialCampaign& campaign) { return campaign.record.status == "done"; }

SpeedUp best_or_naive(const TrialCampaign& campaign) { return campaign.best.value_or(SpeedUp{1, 1, 1}); }

// Compares with the tuner, from the logs of ratios by problem.
void compare_with_tuner(StrategyFigures& figures, const std::map<std::string, std::vector<double>>& logs) {
  if (logs.empty()) return;
  std::vector<double> means;  // of a problem
  for (const auto& entry : logs) {
    double sum = 0;
    for (const double log : entry.second) sum += log;
    means.push_back(sum / static_cast<double>(entry.second.size()));
  }
  const auto mean_of = [&](const auto& index) {
    double sum = 0;
    for (size_t i = 0; i < means.size(); ++i) sum += means[index(i)];
    return std::exp(sum / static_cast<double>(means.size()));
  };
  figures.over_tuned = mean_of([](size_t i) { return i; });
  if (means.size() < kFewestForInterval) return;
  verifier::statistics::Stream stream(means.size());  // the same archive gives the same interval
  std::vector<double> resampled;
  for (size_t k = 0; k < kResamples; ++k) {
    resampled.push_back(mean_of([&](size_t) { return static_cast<size_t>(stream.below(means.size())); }));
  }
  std::ranges::sort(resampled);
  figures.over_tuned_interval = {*figures.over_tuned, resampled[kResamples / 40],
                                 resampled[kResamples - 1 - kResamples / 40]};
}

StrategyFigures figures_of(const std::string& strategy, const std::vector<TrialCampaign>& campaigns) {
  StrategyFigures figures;
  figures.strategy = strategy;
  std::map<std::pair<std::string, uint64_t>, SpeedUp> tuned;
  for (const TrialCampaign& one : campaigns) {
    if (one.strategy == kTuner && is_done(one)) tuned[{one.problem, one.seed}] = best_or_naive(one);
  }
  int64_t most_requests = 0, wins = 0, compared = 0;
  std::vector<int64_t> first;  // correct request; 0: none
  std::map<std::string, std::vector<double>> logs;
  for (const TrialCampaign& one : campaigns) {
    if (one.strategy != strategy) continue;
    if (!is_done(one)) {
      ++figures.unfinished;
      continue;
    }
    ++figures.campaigns;
    figures.requests += static_cast<double>(one.spend.requests);
    figures.tokens += static_cast<double>(one.spend.tokens);
    figures.dollars += one.spend.dollars;
    figures.seconds += one.record.spent_seconds;
    figures.all_priced = figures.all_priced && one.spend.all_priced;
    most_requests = std::max(most_requests, one.spend.requests);
    first.push_back(one.first_correct.value_or(0));
    const auto rival = tuned.find({one.problem, one.seed});
    if (strategy == kTuner || rival == tuned.end()) continue;
    const SpeedUp best = best_or_naive(one);
    ++compared;
    wins += best.low > rival->second.high ? 1 : 0;
    logs[one.problem].push_back(std::log(best.value / rival->second.value));
  }
  for (int64_t n = 1; n <= most_requests; ++n) {
    const auto within = std::ranges::count_if(first, [&](int64_t request) { return request > 0 && request <= n; });
    figures.correct_within.push_back(share_of(within, figures.campaigns));
  }
  figures.wins = share_of(wins, compared);
  compare_with_tuner(figures, logs);
  const auto count = static_cast<double>(std::max<int64_t>(figures.campaigns, 1));
  for (double* sum : {&figures.requests, &figures.tokens, &figures.dollars, &figures.seconds}) *sum /= count;
  return figures;
}

Json json_of(const Share& share) {
  return {{"count", share.count}, {"of", share.of}, {"share", share.value()}, {"low", share.low}, {"high", share.high}};
}
}  // namespace

Share share_of(int64_t count, int64_t of) {
  Share share{count, of};
  if (of == 0) return share;
  const auto n = static_cast<double>(of);
  const double p = share.value(), z2 = kQuantile * kQuantile;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kQuantile * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
  share.low = count == 0 ? 0 : middle - half;
  share.high = count == of ? 1 : middle + half;
  return share;
}

std::vector<StrategyFigures> strategy_figures(const std::vector<TrialCampaign>& campaigns) {
  std::vector<StrategyFigures> all;
  for (const TrialCampaign& one : campaigns) {
    const bool known = std::ranges::any_of(all, [&](const auto& of) { return of.strategy == one.strategy; });
    if (!known) all.push_back(figures_of(one.strategy, campaigns));
  }
  return all;
}

const std::vector<std::string>& strategy_definitions() {
  static const std::vector<std::string> all{
      "A campaign is one strategy, one problem and one seed. Those with models search without the shipped solutions; "
      "tune tunes the shipped solutions.",
      "correct within n: campaigns in which one of the first n replies brought a solution that was judged correct, "
      "with "
      "a 95 % interval (Wilson).",
      "wins over tuned: campaigns whose best confirmed solution has a 99 % interval above that of tune's best for the "
      "same problem and seed.",
      "over tuned: geometric mean of best over tune's best, both over naive and 1x without a win; from five "
      "problems on with a 95 % interval, by bootstrap over problems."};
  return all;
}

Json json_of(const StrategyFigures& figures) {
  Json within = Json::array();
  for (const Share& share : figures.correct_within) within.push_back(json_of(share));
  Json over;
  if (figures.over_tuned) over = {{"value", *figures.over_tuned}, {"low", Json()}, {"high", Json()}};
  if (const auto& interval = figures.over_tuned_interval) {
    over["low"] = interval->low;
    over["high"] = interval->high;
  }
  return {{"strategy", figures.strategy},
          {"campaigns", figures.campaigns},
          {"unfinished", figures.unfinished},
          {"correct_within", std::move(within)},
          {"wins_over_tuned", json_of(figures.wins)},
          {"over_tuned", std::move(over)},
          {"mean_requests", figures.requests},
          {"mean_tokens", figures.tokens},
          {"mean_dollars", figures.all_priced ? Json(figures.dollars) : Json()},
          {"mean_seconds", figures.seconds}};
}

Json json_of(const TrialCampaign& campaign) {
  return {{"campaign", campaign.record.name},
          {"status", campaign.record.status},
          {"strategy", campaign.strategy},
          {"problem", campaign.problem},
          {"seed", campaign.seed},
          {"requests", campaign.spend.requests},
          {"tokens", campaign.spend.tokens},
          {"dollars", campaign.spend.all_priced ? Json(campaign.spend.dollars) : Json()},
          {"seconds", campaign.record.spent_seconds},
          {"first_correct", campaign.first_correct ? Json(*campaign.first_correct) : Json()},
          {"best", campaign.best ? json_of(*campaign.best) : Json()}};
}

}  // namespace results::view
