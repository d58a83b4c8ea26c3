// kernelwright show [WHAT]: shows an attempt, a campaign or a solution in full; without argument, lists the campaigns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "agent/actions/resolve.h"
#include "agent/campaign/startup.h"
#include "agent/cli/attempt_text.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/leaderboard_text.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/cli/solution_text.h"
#include "agent/cli/table.h"
#include "core/error.h"
#include "core/text.h"
#include "results/archive/exchanges.h"
#include "results/archive/problems.h"
#include "results/view/exchange.h"
#include "results/view/json.h"

namespace agent::cli::commands {
namespace {
using core::Json;
using Align = Table::Align;
constexpr size_t kNewestAttempts = 20, kNewestReplies = 20, kOutcomeBytes = 160;

void list_campaigns(const results::archive::Reader& archive, bool json) {
  const auto campaigns = archive.campaigns();
  if (json) {
    Json all = Json::array();
    for (const results::archive::CampaignRecord& campaign : campaigns) all.push_back(results::view::json_of(campaign));
    print_json(all);
    return;
  }
  Table table(
      {{"CAMPAIGN"}, {"STATUS"}, {"STARTED"}, {"ATTEMPTS", Align::right}, {"SECONDS", Align::right}, {"PROBLEMS"}});
  for (const results::archive::CampaignRecord& c : campaigns) {
    const auto problems = c.settings.at("problems").get<std::vector<std::string>>();
    table.add_row({c.name, c.status, c.started, std::to_string(c.attempts), fmt::format("{:.0f}", c.spent_seconds),
                   problems.size() == 1 ? problems[0] : fmt::format("{} problems", problems.size())});
  }
  print("{}", table.empty() ? "No campaign yet. Start with: kernelwright run --suite quick\n" : table.text());
}

struct Descent {
  results::archive::Descent descent;
  std::string parent_name;
};
Descent descent_of(const results::archive::Reader& archive, const results::archive::SolutionRecord& solution) {
  const std::vector<results::archive::LineageStep> steps = results::archive::lineage(archive, solution.id);
  return {steps[0].descent, steps.size() > 1 ? steps[1].solution.name : ""};
}

using FilesHere = std::map<std::string, std::string>;  // content hashes of problems, by name

void show_attempt(const results::archive::Reader& archive, int64_t id, const FilesHere& here, bool json) {
  const results::archive::RecordedAttempt attempt = archive.attempt(id);
  const results::archive::SolutionRecord solution = results::archive::solution_of_attempt(archive, id);
  const results::archive::ProblemVersion problem = results::archive::problem_of_attempt(archive, id);
  const bool older_files = results::archive::has_older_files(archive, problem, here);
  const Descent from = descent_of(archive, solution);
  if (json) {
    Json all = results::view::json_of(attempt);
    all["hash"] = solution.hash;
    all["problem_hash"] = problem.hash;
    all["older_files"] = older_files;
    all["plan"] = plan_json(attempt, problem.json);
    all["descent"] = results::view::json_of(from.descent);
    return print_json(all);
  }
  std::string facts = "solution " + solution.hash.substr(0, 12) + ", " +
                      descent_text(from.descent, solution.origin, from.parent_name) + "\n" +
                      plan_text(attempt, problem.json);
  if (older_files) facts += older_files_text(problem.name);
  if (attempt.measurement) facts += counters_text(attempt.measurement->counters);
  print("{}", attempt_text(attempt, facts));
}

std::string attempts_text(const results::archive::Reader& archive, const std::vector<int64_t>& attempts) {
  Table table({{"ATTEMPT", Align::right},
               {"PROBLEM"},
               {"SOLUTION"},
               {"EFFORT"},
               {"VERDICT"},
               {"SPEED-UP", Align::right},
               {"AGAINST"}});
  const size_t left_out = attempts.size() > kNewestAttempts ? attempts.size() - kNewestAttempts : 0;
  for (size_t i = left_out; i < attempts.size(); ++i) {
    const results::archive::RecordedAttempt a = archive.attempt(attempts[i]);
    const std::string tunables = sandbox::describe(a.binding);
    table.add_row({std::to_string(a.id), a.problem, a.solution + (tunables.empty() ? "" : " " + tunables), a.effort,
                   name_of(a.verdict), a.measurement ? format_speed_up(a.measurement->speed_up.value) : "",
                   a.measurement ? a.against : ""});
  }
  if (table.empty()) return "";
  return (left_out > 0 ? fmt::format("the last {} of {} attempts; --csv gives all\n", kNewestAttempts, attempts.size())
                       : std::string()) +
         table.text();
}

std::string models_text(const std::vector<results::archive::ModelUse>& models) {
  Table table({{"MODEL"},
               {"REQUESTS", Align::right},
               {"ANSWERED", Align::right},
               {"SOLUTIONS", Align::right},
               {"TOKENS IN", Align::right},
               {"TOKENS OUT", Align::right},
               {"COST", Align::right}});
  for (const results::archive::ModelUse& use : models) {
    const std::string cost = use.priced == 0 ? "not known" : fmt::format("${:.2f}", use.dollars);
    table.add_row({use.model, std::to_string(use.requests), std::to_string(use.completions),
                   std::to_string(use.solutions), format_tokens(use.input_tokens), format_tokens(use.output_tokens),
                   cost + (use.priced > 0 && use.priced < use.replies ? " and more" : "")});
  }
  return table.empty() ? "" : table.text();
}

// How requests were shared among several models.
std::string shares_text(const std::vector<results::archive::ModelShare>& shares) {
  if (shares.empty()) return "";
  Table table({{"MODEL"},
               {"FIRST", Align::right},
               {"FOR ITS GAIN", Align::right},
               {"TO LEARN MORE", Align::right},
               {"WON", Align::right},
               {"GAIN", Align::right}});
  for (const results::archive::ModelShare& share : shares) {
    table.add_row({core::clean_line(share.model), std::to_string(share.first), std::to_string(share.gain),
                   std::to_string(share.curiosity), std::to_string(share.won), format_speed_up(share.factor)});
  }
  return table.text() +
         "Each request went to a model that was never asked, to the one with the most gain for its cost so far, or to\n"
         "one on which too little was spent to know. Costs count in dollars; in tokens, if a model has no price.\n\n";
}

// The outcome of each request to a model.
std::string replies_text(const results::archive::Reader& archive, const results::archive::CampaignRecord& campaign,
                         const std::vector<results::archive::ModelUse>& models) {
  int64_t requests = 0;
  for (const results::archive::ModelUse& use : models) requests += use.requests;
  Table table({{"PROBLEM"}, {"REQUEST", Align::right}, {"MODEL"}, {"TASK"}, {"OUTCOME"}});
  for (const results::archive::Exchange& one :
       results::archive::newest_exchanges(archive, campaign.id, kNewestReplies)) {
    const results::archive::NewRequest& request = one.record.request;
    table.add_row({request.problem, std::to_string(request.number), request.model,
                   request.proposal.value("operator", ""),
                   core::clean_line(results::view::outcome_in_words(one), kOutcomeBytes)});
  }
  if (table.empty()) return "";
  return (requests > int64_t{kNewestReplies}
              ? fmt::format("the last {} of {} requests; kernelwright serve shows more\n", kNewestReplies, requests)
              : std::string()) +
         table.text();
}

// What came of the advice that prompts gave.
std::string advice_text(const std::vector<results::archive::AdviceUse>& advice) {
  Table table({{"ADVICE"},
               {"GIVEN", Align::right},
               {"SOLUTIONS", Align::right},
               {"CORRECT", Align::right},
               {"FASTER", Align::right},
               {"MEAN GAIN", Align::right}});
  for (const results::archive::AdviceUse& use : advice) {
    table.add_row({use.advice.empty() ? "none" : core::clean_line(use.advice), std::to_string(use.given),
                   std::to_string(use.solutions), std::to_string(use.correct), std::to_string(use.faster),
                   use.mean_gain ? format_speed_up(*use.mean_gain) : ""});
  }
  return table.empty() ? "" : table.text() + "\n";
}

// What came of prompts that showed each technique card.
std::string cards_text(const std::vector<results::archive::CardUse>& cards) {
  Table table({{"TECHNIQUE CARD"},
               {"SENT", Align::right},
               {"SOLUTIONS", Align::right},
               {"CORRECT", Align::right},
               {"WON", Align::right},
               {"MEAN GAIN", Align::right}});
  for (const results::archive::CardUse& use : cards) {
    table.add_row({core::clean_line(use.card), std::to_string(use.sent), std::to_string(use.solutions),
                   std::to_string(use.correct), std::to_string(use.won),
                   use.mean_gain ? format_speed_up(*use.mean_gain) : ""});
  }
  return table.empty() ? "" : table.text() + "\n";
}

// A line for each attempt, with a column for each tunable: the points of a sweep.
void print_attempts_csv(const results::archive::Reader& archive, const std::vector<int64_t>& ids) {
  std::vector<results::archive::RecordedAttempt> attempts;
  std::set<std::string> tunables;
  for (const int64_t id : ids) {
    attempts.push_back(archive.attempt(id));
    for (const auto& [name, value] : attempts.back().binding) tunables.insert(name);
  }
  std::vector<Json> titles{"attempt", "problem",  "device", "solution", "effort", "verdict",
                           "against", "speed_up", "low",    "high",     "time_us"};
  const size_t before_tunables = titles.size();
  titles.insert(titles.end(), tunables.begin(), tunables.end());
  print_text(csv_line(titles));
  for (const results::archive::RecordedAttempt& a : attempts) {
    std::vector<Json> row{a.id, a.problem, a.device, a.solution, a.effort, name_of(a.verdict)};
    if (a.measurement) {
      const auto& speed_up = a.measurement->speed_up;
      row.insert(row.end(),
                 {a.against, speed_up.value, speed_up.low, speed_up.high, a.measurement->workloads.at(0).candidate_us});
    }
    row.resize(before_tunables);
    for (const std::string& name : tunables) {
      const auto value = a.binding.find(name);
      row.push_back(value == a.binding.end() ? Json() : Json(value->second));
    }
    print_text(csv_line(row));
  }
}

void show_campaign(const results::archive::Reader& archive, const results::archive::CampaignRecord& campaign,
                   bool json) {
  const auto events = archive.events_of_campaign(campaign.id);
  const std::map<std::string, int64_t> verdicts = results::archive::verdicts_of_campaign(archive, campaign.id);
  const std::vector<int64_t> attempts = archive.attempts_of_campaign(campaign.id);
  const std::vector<results::archive::ModelUse> models = archive.models_of_campaign(campaign.id);
  const std::vector<results::archive::AdviceUse> advice = results::archive::advice_of_campaign(archive, campaign.id);
  const std::vector<results::archive::ModelShare> shares = results::archive::model_shares(archive, campaign.id);
  const std::vector<results::archive::CardUse> cards = results::archive::cards_of_campaign(archive, campaign.id);
  if (json) {
    Json all = results::view::json_of(campaign);
    all["verdicts"] = verdicts;
    all["attempt_numbers"] = attempts;
    all["models"] = Json::array();
    for (const results::archive::ModelUse& use : models) all["models"].push_back(results::view::json_of(use));
    all["model_shares"] = Json::array();
    for (const results::archive::ModelShare& share : shares)
      all["model_shares"].push_back(results::view::json_of(share));
    all["advice"] = Json::array();
    for (const results::archive::AdviceUse& use : advice) all["advice"].push_back(results::view::json_of(use));
    all["cards"] = Json::array();
    for (const results::archive::CardUse& use : cards) all["cards"].push_back(results::view::json_of(use));
    all["events"] = Json::array();
    for (const results::archive::EventRecord& event : events) {
      all["events"].push_back(results::view::json_of(event));
    }
    print_json(all);
    return;
  }
  print("campaign {}: {}, started {}, {} attempts in {:.0f} s\n", campaign.name, campaign.status, campaign.started,
        campaign.attempts, campaign.spent_seconds);
  print("settings  {}\n", core::clean_line(results::view::in_words(campaign.settings)));
  for (const auto& [verdict, count] : verdicts) print("{:>7}  {}\n", count, verdict);
  print("\n{}", attempts_text(archive, attempts));
  print("\n{}\n", models.empty() ? "no requests went to models\n" : models_text(models));
  print("{}", shares_text(shares));
  if (!models.empty()) print("{}\n", replies_text(archive, campaign, models));
  print("{}{}", advice_text(advice), cards_text(cards));
  for (const results::archive::EventRecord& event : events) {
    if (event.kind == "problem_started" || event.kind == results::archive::kUnusableReply) continue;  // see above
    if (event.kind == "problem_ended") {
      print("{}: best {:.2f}x over naive; {}\n", event.details.at("problem").get<std::string>(),
            event.details.at("best").get<double>(), event.details.at("why").get<std::string>());
    } else {
      print("{} {}: {}\n", event.made, event.kind, core::clean_line(results::view::in_words(event.details)));
    }
  }
  if (campaign.status != "done" && campaign.status != "running")
    print("Continue with: kernelwright resume {}\n", campaign.name);
}

// Prints a solution, or returns its JSON.
Json show_solution(const results::archive::Reader& archive, const results::archive::SolutionRecord& solution,
                   const FilesHere& here, bool json) {
  const Descent from = descent_of(archive, solution);
  const std::vector<results::archive::Stand> stands = results::archive::stands_of(archive, solution.id);
  const std::optional<int64_t> best = results::archive::best_attempt(archive, solution.id);
  const std::vector<int64_t> newest = results::archive::newest_attempts(archive, solution.id, int64_t{kNewestAttempts});
  std::optional<results::archive::RecordedAttempt> attempt;
  results::archive::ProblemVersion problem;
  if (best) {
    attempt = archive.attempt(*best);
    problem = results::archive::problem_of_attempt(archive, *best);
  }
  const bool older_files = best && results::archive::has_older_files(archive, problem, here);
  if (json) {
    Json of_stands = Json::array();
    for (const results::archive::Stand& stand : stands) of_stands.push_back(results::view::json_of(stand));
    return Json{{"solution", solution.name},
                {"hash", solution.hash},
                {"problem", solution.problem},
                {"origin", solution.origin},
                {"added", solution.added},
                {"descent", results::view::json_of(from.descent)},
                {"parent", from.parent_name.empty() ? Json() : Json(from.parent_name)},
                {"attempts", solution.attempts},
                {"newest_attempts", newest},
                {"stands", std::move(of_stands)},
                {"best_attempt", best ? Json(*best) : Json()},
                {"older_files", older_files},
                {"plan", attempt ? plan_json(*attempt, problem.json) : Json()},
                {"measurement", attempt && attempt->measurement ? to_json(*attempt->measurement) : Json()},
                {"source", solution.source}};
  }
  print("{} for {} ({}), {} attempts, hash {}\n{}\n", core::clean_line(solution.name), solution.problem,
        core::clean_line(solution.origin), solution.attempts, solution.hash.substr(0, 12),
        descent_text(from.descent, solution.origin, from.parent_name));
  print("{}", stands_text(stands));
  if (attempt && attempt->measurement) {
    print("\nits best point, attempt {}:\n{}", *best, measurement_text(*attempt->measurement, attempt->against));
    print("{}", counters_text(attempt->measurement->counters));
  }
  if (older_files) print("{}", older_files_text(problem.name));
  if (attempt) print("{}", plan_text(*attempt, problem.json));
  print("\n{}\n", solution.source);
  if (from.descent.ancestors > 0) print("Its ancestors: kernelwright lineage {}\n", solution.hash.substr(0, 12));
  return {};
}

// The attempts of a campaign, or of all solutions of a name.
std::vector<int64_t> attempts_at(const results::archive::Reader& archive, const std::string& what) {
  std::vector<int64_t> attempts;
  for (const results::archive::SolutionRecord& solution : archive.find_solutions(what)) {
    const std::vector<int64_t> more = archive.attempts_of_solution(solution.id);
    attempts.insert(attempts.end(), more.begin(), more.end());
  }
  return attempts.empty() ? archive.attempts_of_campaign(archive.find_campaign(what).id) : attempts;
}

void show_what(const std::string& what, bool csv, const Invocation& invocation) {
  const results::archive::Reader archive = campaign::open_existing_archive(invocation.archive);
  if (csv) return print_attempts_csv(archive, attempts_at(archive, what));
  if (what.empty()) return list_campaigns(archive, invocation.json);
  const FilesHere here = campaign::hashes_here(load_data(invocation).catalogue);
  if (const auto number = actions::attempt_number(what)) return show_attempt(archive, *number, here, invocation.json);
  const auto solutions = archive.find_solutions(what);
  if (!solutions.empty()) {
    Json all = Json::array();
    for (const results::archive::SolutionRecord& solution : solutions) {
      all.push_back(show_solution(archive, solution, here, invocation.json));
    }
    if (invocation.json) print_json(all.size() == 1 ? all[0] : all);
    return;
  }
  const auto campaigns = archive.campaigns();
  if (std::none_of(campaigns.begin(), campaigns.end(), [&](const auto& c) { return c.name.rfind(what, 0) == 0; })) {
    throw core::InputError("show", "there is no attempt, campaign or solution \"" + core::clean_line(what) + "\"",
                           "kernelwright show lists the campaigns, kernelwright leaderboard the best attempts");
  }
  show_campaign(archive, archive.find_campaign(what), invocation.json);
}
}  // namespace

void add_show_command(CLI::App& app, Invocation& invocation) {
  auto what = std::make_shared<std::string>();
  auto csv = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "show",
      "Show an attempt, a campaign or a solution in full: source, launch plan, figures of each workload, profile");
  command->add_option(
      "WHAT", *what,
      "An attempt's number, the name of a campaign or solution (NAME@PROBLEM), or a solution's hash (default: list "
      "the campaigns)");
  command->add_flag(
      "--csv", *csv,
      "Print all attempts of a campaign or solution as comma-separated values, a column for each tunable");
  command->callback([what, csv, &invocation] { show_what(*what, *csv, invocation); });
}

}  // namespace agent::cli::commands
