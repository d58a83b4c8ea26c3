#include "agent/campaign/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace agent::campaign {
namespace {
// Measured over campaigns on both devices: a reply's probe, its sweep, and occasional confirmations.
constexpr double kAttemptsPerReply = 8, kSecondsPerAttempt = 0.4;
constexpr double kLaterPrompts = 1.3, kLongestPrompt = 2;  // times the first
constexpr double kShortestReply = 0.3;                     // times the usual

struct Cost {
  double tokens = 0;
  std::optional<double> dollars = 0;
};

// Cost of one request, averaged over the models.
Cost cost_of(double prompt, const std::vector<double>& outputs, const models::Prices& prices,
             const std::vector<Habit>& habits) {
  Cost cost;
  const auto share = 1 / static_cast<double>(habits.size());
  for (size_t i = 0; i < habits.size(); ++i) {
    const models::Usage usage{std::llround(prompt), 0, 0, std::llround(outputs[i]), true};
    cost.tokens += share * (prompt + outputs[i]);
    const std::optional<double> dollars = prices.cost(usage, habits[i].model);
    cost.dollars = cost.dollars && dollars ? std::optional(*cost.dollars + share * *dollars) : std::nullopt;
  }
  return cost;
}

double mean_seconds(const std::vector<Habit>& habits) {
  double sum = 0;
  for (const Habit& habit : habits) sum += habit.seconds;
  return sum / static_cast<double>(habits.size());
}

struct Limit {
  double requests;
  std::string name;
};

// Number of usual requests that each limit leaves to one problem.
std::vector<Limit> limits_of(const CampaignSettings& settings, const Cost& usual, double seconds_per_request) {
  const double problems = static_cast<double>(settings.problems.size());
  std::vector<Limit> limits;
  const auto add = [&](const auto& limit, std::optional<double> each, const std::string& name) {
    if (limit && each && *each > 0) limits.push_back({static_cast<double>(*limit) / problems / *each, name});
  };
  add(settings.spending.requests, 1, "requests");
  add(settings.spending.tokens, usual.tokens, "tokens");
  add(settings.spending.dollars, usual.dollars, "dollars");
  add(settings.budget.attempts, kAttemptsPerReply, "attempts");
  add(settings.budget.seconds, seconds_per_request, "seconds");
  return limits;
}
}  // namespace

Habit habit_of(const results::archive::Reader& archive, const std::string& model) {
  constexpr int64_t kEnough = 20;
  Habit habit;
  habit.model = model;
  double tokens = 0, seconds = 0;
  for (const results::archive::CampaignRecord& campaign : archive.campaigns()) {
    if (habit.replies >= kEnough) break;
    for (const results::archive::RequestRecord& record : archive.requests_of_campaign(campaign.id)) {
      if (record.request.model != model || !record.reply || record.reply->outcome != "completion") continue;
      ++habit.replies;
      tokens += static_cast<double>(record.reply->output);
      seconds += record.reply->seconds;
    }
  }
  if (habit.replies == 0) return habit;
  habit.output_tokens = tokens / static_cast<double>(habit.replies);
  habit.seconds = seconds / static_cast<double>(habit.replies);
  return habit;
}

Estimate estimate(int64_t prompt_tokens, const CampaignSettings& settings, const models::Prices& prices,
                  const std::vector<Habit>& habits) {
  const auto prompt = static_cast<double>(prompt_tokens);
  std::vector<double> shortest, usual, longest;
  for (const Habit& habit : habits) {
    shortest.push_back(kShortestReply * habit.output_tokens);
    usual.push_back(habit.output_tokens);
    longest.push_back(static_cast<double>(settings.sampling.max_output_tokens));
  }
  const Cost least = cost_of(prompt, shortest, prices, habits),
             mean = cost_of(kLaterPrompts * prompt, usual, prices, habits),
             most = cost_of(kLongestPrompt * prompt, longest, prices, habits);
  const double seconds_each =
      std::max(mean_seconds(habits) / settings.models.in_flight, kAttemptsPerReply * kSecondsPerAttempt);
  const std::vector<Limit> limits = limits_of(settings, mean, seconds_each);
  const auto first = std::min_element(limits.begin(), limits.end(),
                                      [](const Limit& a, const Limit& b) { return a.requests < b.requests; });
  Estimate made;
  made.requests.most = std::max(1.0, std::floor(first->requests));
  made.requests.least = std::min(made.requests.most, static_cast<double>(settings.models.patience));
  const auto spread = [&](double low, double high, const auto& limit) {
    Range range{made.requests.least * low, made.requests.most * high};
    if (limit) range.most = std::min(range.most, static_cast<double>(*limit));
    range.least = std::min(range.least, range.most);
    return range;
  };
  made.tokens = spread(least.tokens, most.tokens, settings.spending.tokens);
  if (least.dollars && most.dollars) made.dollars = spread(*least.dollars, *most.dollars, settings.spending.dollars);
  made.seconds = spread(seconds_each, seconds_each, settings.budget.seconds);
  made.limit = fmt::format("{} run out first, after about {:.0f} requests", first->name, made.requests.most);
  if (made.requests.least < made.requests.most) {
    made.limit +=
        fmt::format("; it ends sooner when {} replies in a row make nothing faster", settings.models.patience);
  }
  return made;
}

}  // namespace agent::campaign
