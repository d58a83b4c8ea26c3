#include "results/web/page_data.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "results/archive/exchanges.h"
#include "results/archive/lineage.h"
#include "results/archive/problems.h"
#include "results/view/attempt.h"
#include "results/view/exchange.h"
#include "results/view/exchange_texts.h"
#include "results/view/json.h"
#include "results/view/problem.h"

namespace results::web {
namespace {
using core::Json;

constexpr size_t kRowsOfBoard = 25;        // solutions per problem and device on the overview
constexpr size_t kRowsOfProblem = 25;      // solutions per problem and device on a problem's page
constexpr size_t kMostCampaigns = 100;     // on the overview, the newest
constexpr size_t kCampaignsInReport = 8;   // the newest
constexpr size_t kExchangesInReport = 20;  // the newest, in a report of one campaign
constexpr size_t kAttemptsInReport = 10;   // the newest, in a report of one campaign
constexpr size_t kSourcesInReport = 3;     // of the best solutions of each problem and device
constexpr int64_t kAttempts = 30;          // newest attempts at a solution
constexpr size_t kEvents = 50;             // newest events of a campaign
constexpr size_t kRequests = 200;          // newest requests of a campaign
constexpr size_t kSourceBytes = 1 << 20;   // shown; a download is complete
constexpr size_t kSentenceBytes = 600;
constexpr size_t kDescriptionBytes = 4000;

// The problem, if this program understands it.
std::optional<benchsuite::Problem> understood(const archive::ProblemVersion& version) {
  try {
    return benchsuite::parse_problem(version.json, version.name);
  } catch (const core::InputError&) {
    return std::nullopt;  // another version's format: show figures without the problem
  }
}

// Leaves out settings that name the user's files.
Json campaign_json(const archive::CampaignRecord& campaign) {
  Json json = view::json_of(campaign);
  json["settings"] = Json::object();
  for (const char* name : {"problems", "device", "seconds", "attempts", "seed", "proposers", "strategy"}) {
    if (campaign.settings.contains(name)) json["settings"][name] = campaign.settings[name];
  }
  return json;
}

Json plan_of(const std::string& source, const std::string& name) {
  try {
    return Json::parse(sandbox::parse_solution(source, name).header);
  } catch (const std::exception&) {
    return {};  // another version's header; the source shows it anyway
  }
}

std::optional<int64_t> number_in(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The ancestors of a solution, its parent first, with their results.
Json ancestors_of(const archive::Reader& archive, int64_t solution) {
  Json all = Json::array();
  for (const archive::LineageStep& step : archive::lineage(archive, solution)) {
    if (step.solution.id == solution) continue;
    all.push_back({{"hash", step.solution.hash},
                   {"name", step.solution.name},
                   {"origin", step.solution.origin},
                   {"model", step.descent.model},
                   {"speed_up", step.stands.empty() ? Json() : view::json_of(step.stands[0].speed_up)}});
  }
  return all;
}
}  // namespace

std::optional<Json> PageData::at(std::string_view path) {
  const archive::Moment moment(archive_);
  if (path == "overview") return view::cleaned(overview());
  if (path == "scores") return view::cleaned(scores());
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view kind = path.substr(0, slash);
  const std::string name(path.substr(slash + 1));
  if (kind == "problem") return problem(name);
  if (kind == "campaign") return campaign(name);
  if (kind == "solution") return solution(name);
  if (kind == "attempt") return attempt(name);
  if (kind == "exchange") return exchange(name);
  return std::nullopt;
}

bool PageData::in_scope(const archive::CampaignRecord& campaign) const {
  if (!scope_.campaign.empty() && campaign.name != scope_.campaign) return false;
  if (scope_.problem.empty() || !campaign.settings.contains("problems")) return true;
  const Json& problems = campaign.settings["problems"];
  return std::find(problems.begin(), problems.end(), Json(scope_.problem)) != problems.end();
}

std::vector<archive::LeaderboardRow> PageData::board() const {
  archive::LeaderboardFilter filter;
  filter.problem = scope_.problem;
  filter.device = scope_.device;
  filter.here = scope_.here;
  filter.limit = kRowsOfBoard;
  filter.unconfirmed = true;
  std::vector<archive::LeaderboardRow> rows = archive::leaderboard(archive_, filter);
  if (scope_.campaign.empty()) return rows;
  const Json problems = archive_.find_campaign(scope_.campaign).settings.value("problems", Json::array());
  std::erase_if(rows, [&](const archive::LeaderboardRow& row) {
    return std::find(problems.begin(), problems.end(), Json(row.problem)) == problems.end();
  });
  return rows;
}

Json PageData::overview() {
  Json rows = Json::array(), campaigns = Json::array(), selftests = Json::array();
  std::set<std::string> tried;
  for (const archive::LeaderboardRow& row : board()) {
    rows.push_back(view::json_of(row));
    rows.back().erase("workloads");  // many; shown on the pages of problems
    tried.insert(row.problem);
  }
  Json scores = Json::array();
  for (const view::SuiteScores& of :
       view::suite_scores(archive_, {.problems = {tried.begin(), tried.end()}}, scope_.device, scope_.here)) {
    scores.push_back(view::json_of(of));
  }
  for (const archive::CampaignRecord& campaign : archive_.campaigns()) {
    if (campaigns.size() < kMostCampaigns && in_scope(campaign)) campaigns.push_back(campaign_json(campaign));
  }
  for (const archive::SelftestRecord& selftest : archive_.newest_selftests()) {
    if (selftest.of.device.rfind(scope_.device, 0) == 0) selftests.push_back(view::json_of(selftest));
  }
  return {{"leaderboard", std::move(rows)},
          {"scores", std::move(scores)},
          {"campaigns", std::move(campaigns)},
          {"selftests", std::move(selftests)},
          {"scope", {{"campaign", scope_.campaign}, {"problem", scope_.problem}, {"device", scope_.device}}},
          {"totals",
           {{"attempts", archive_.count("attempts")},
            {"solutions", archive_.count("solutions")},
            {"campaigns", archive_.count("campaigns")}}}};
}

Json PageData::scores() const {
  Json all = Json::array();
  for (const benchsuite::Suite& suite : scope_.suites) {
    for (const view::SuiteScores& of : view::suite_scores(archive_, suite, scope_.device, scope_.here)) {
      all.push_back(view::json_of(of));
    }
  }
  return {{"scores", std::move(all)}, {"definitions", view::score_definitions()}};
}

std::optional<Json> PageData::problem(const std::string& name) {
  const std::optional<archive::ProblemVersion> version = archive::last_judged_problem(archive_, name);
  const std::optional<benchsuite::Problem> problem = version ? understood(*version) : std::nullopt;
  archive::LeaderboardFilter filter;
  filter.problem = name;
  filter.device = scope_.device;
  filter.here = scope_.here;
  filter.limit = kRowsOfProblem;
  filter.unconfirmed = true;
  std::map<std::string, std::vector<archive::LeaderboardRow>> by_device;
  for (archive::LeaderboardRow& row : archive::leaderboard(archive_, filter))
    by_device[row.device].push_back(std::move(row));
  if (!problem && by_device.empty()) return std::nullopt;
  Json devices = Json::array();
  for (const auto& [device, rows] : by_device) {
    Json of{{"device", device}, {"rows", Json::array()}, {"roofline", Json()}};
    for (const archive::LeaderboardRow& row : rows) of["rows"].push_back(view::json_of(row));
    if (problem) of["roofline"] = view::roofline_json(*problem, rows, archive_.newest_calibration(device));
    devices.push_back(std::move(of));
  }
  Json json = view::cleaned({{"name", name},
                             {"facts", problem ? view::json_of(*problem) : Json()},
                             {"older_files", version && archive::has_older_files(archive_, *version, scope_.here)},
                             {"devices", std::move(devices)}});
  if (problem) json["facts"]["description"] = core::clean_text(problem->description, kDescriptionBytes);
  return json;
}

archive::CampaignTally& PageData::tally(int64_t campaign) {
  archive::CampaignTally& tally = tallies_.try_emplace(campaign, campaign).first->second;
  tally.update(archive_);
  return tally;
}

std::optional<Json> PageData::campaign(const std::string& name) {
  if (name.empty()) return std::nullopt;
  Json json;
  int64_t id = 0;
  try {
    const archive::CampaignRecord record = archive_.find_campaign(name);
    json = campaign_json(record);
    id = record.id;
  } catch (const core::InputError&) {
    return std::nullopt;
  }
  const archive::CampaignTally& so_far = tally(id);
  json["verdicts"] = so_far.verdicts();
  json["curves"] = Json::array();
  for (const archive::Curve& curve : so_far.curves()) {
    const bool wanted =
        (scope_.problem.empty() || curve.problem == scope_.problem) && curve.device.rfind(scope_.device, 0) == 0;
    if (wanted) json["curves"].push_back(view::json_of(curve));
  }
  json["latest"] = Json::array();
  for (const int64_t attempt : so_far.latest())
    json["latest"].push_back(view::brief_json_of(archive_.attempt(attempt)));
  json["models"] = Json::array();
  for (const archive::ModelUse& use : archive_.models_of_campaign(id)) json["models"].push_back(view::json_of(use));
  json["cards"] = Json::array();
  for (const archive::CardUse& use : archive::cards_of_campaign(archive_, id))
    json["cards"].push_back(view::json_of(use));
  json["advice"] = Json::array();
  for (const archive::AdviceUse& use : archive::advice_of_campaign(archive_, id)) {
    json["advice"].push_back(view::json_of(use));
  }
  json["none_answered"] = view::or_null(archive::why_none_answered(archive_, id));
  json["requests"] = Json::array();
  for (const archive::Exchange& exchange : archive::newest_exchanges(archive_, id, kRequests)) {
    json["requests"].push_back(view::json_of(exchange));
  }
  json["events"] = Json::array();
  for (const archive::EventRecord& event : archive_.newest_events(id, kEvents)) {
    json["events"].push_back(view::json_of(event));
    json["events"].back()["details"] = core::clean_line(view::in_words(event.details), kSentenceBytes);
  }
  return view::cleaned(json);
}

std::optional<Json> PageData::solution(const std::string& hash) {
  if (hash.size() != 64) return std::nullopt;
  const auto found = archive_.find_solutions(hash);
  const auto solution = std::find_if(found.begin(), found.end(), [&](const auto& of) { return of.hash == hash; });
  if (solution == found.end()) return std::nullopt;
  archive::LeaderboardFilter filter;
  filter.problem = solution->problem;
  filter.device = scope_.device;
  filter.here = scope_.here;
  filter.unconfirmed = true;
  Json best = Json::array(), attempts = Json::array(), counters = Json::array();
  for (const archive::LeaderboardRow& row : archive::leaderboard(archive_, filter)) {
    if (row.hash != hash) continue;
    best.push_back(view::json_of(row));
    const archive::RecordedAttempt attempt = archive_.attempt(row.attempt);
    best.back()["registers"] = view::or_null(attempt.registers);
    best.back()["shared_bytes"] = view::or_null(attempt.shared_bytes);
    best.back()["spill_bytes"] = view::or_null(attempt.spill_bytes);
    if (!attempt.measurement) continue;
    for (const verifier::verdicts::Counters& launch : attempt.measurement->counters) {
      counters.push_back(verifier::verdicts::to_json(launch));
    }
  }
  for (const int64_t id : archive::newest_attempts(archive_, solution->id, kAttempts))
    attempts.push_back(view::brief_json_of(archive_.attempt(id)));
  const archive::Descent descent = archive::Descents(archive_).of(solution->id);
  Json json = view::cleaned({{"hash", hash},
                             {"name", solution->name},
                             {"problem", solution->problem},
                             {"origin", solution->origin},
                             {"descent", view::json_of(descent)},
                             {"added", solution->added},
                             {"attempts", solution->attempts},
                             {"plan", plan_of(solution->source, solution->name)},
                             {"ancestors", ancestors_of(archive_, solution->id)},
                             {"best", std::move(best)},
                             {"latest", std::move(attempts)},
                             {"counters", std::move(counters)}});
  json["source"] = core::clean_text(solution->source, kSourceBytes);
  return json;
}

std::optional<Json> PageData::attempt(const std::string& number) const {
  const std::optional<int64_t> id = number_in(number);
  if (!id || !archive_.has_attempt(*id)) return std::nullopt;
  Json json = view::attempt_json(archive_, *id);
  json["older_files"] = archive::has_older_files(archive_, archive::problem_of_attempt(archive_, *id), scope_.here);
  return json;
}

std::optional<Json> PageData::exchange(const std::string& number) const {
  const std::optional<int64_t> id = number_in(number);
  const std::optional<archive::Exchange> found = id ? archive::find_exchange(archive_, *id) : std::nullopt;
  if (!found) return std::nullopt;
  return view::full_json_of(archive_, *found);
}

std::optional<std::string> PageData::source(std::string_view hash) const {
  if (hash.size() != 64) return std::nullopt;
  for (const archive::SolutionRecord& solution : archive_.find_solutions(std::string(hash))) {
    if (solution.hash == hash) return solution.source;
  }
  return std::nullopt;
}

Json PageData::report() {
  if (!scope_.campaign.empty()) scope_.campaign = archive_.find_campaign(scope_.campaign).name;
  Json all = Json::object();
  all["overview"] = *at("overview");
  if (scope_.campaign.empty() && scope_.problem.empty()) all["scores"] = *at("scores");
  std::map<std::pair<std::string, std::string>, size_t> shown;  // solutions of each problem and device
  std::set<std::string> problems, hashes;
  for (const archive::LeaderboardRow& row : board()) {
    problems.insert(row.problem);
    if (!row.library && shown[{row.problem, row.device}]++ < kSourcesInReport) hashes.insert(row.hash);
  }
  if (!scope_.problem.empty()) problems.insert(scope_.problem);
  for (const std::string& name : problems) {
    const auto answer = at("problem/" + name);
    if (!answer) {
      throw core::InputError("report", "the archive has no problem \"" + name + "\"",
                             "kernelwright leaderboard lists its problems");
    }
    all["problem/" + name] = *answer;
  }
  size_t campaigns = 0;
  for (const Json& campaign : all["overview"]["campaigns"]) {
    if (campaigns++ == kCampaignsInReport) break;
    const std::string path = "campaign/" + campaign["campaign"].get<std::string>();
    all[path] = *at(path);
    if (scope_.campaign.empty()) continue;
    const Json& requests = all[path]["requests"];
    for (size_t i = requests.size() - std::min(requests.size(), kExchangesInReport); i < requests.size(); ++i) {
      const std::string exchange = "exchange/" + std::to_string(requests[i]["exchange"].get<int64_t>());
      all[exchange] = *at(exchange);
    }
    const Json& latest = all[path]["latest"];
    for (size_t i = 0; i < std::min(latest.size(), kAttemptsInReport); ++i) {
      const std::string attempt = "attempt/" + std::to_string(latest[i]["attempt"].get<int64_t>());
      all[attempt] = *at(attempt);
    }
  }
  for (const std::string& hash : hashes) all["solution/" + hash] = *at("solution/" + hash);
  return all;
}

}  // namespace results::web
