// kernelwright show [WHAT]: an attempt, a campaign or a solution in full; without argument, the campaigns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "agent/cli.h"
#include "agent/opening.h"
#include "agent/output.h"
#include "agent/table.h"
#include "agent/views.h"
#include "core/error.h"
#include "core/text.h"

namespace agent {
namespace {
using core::Json;
using Align = Table::Align;

void list_campaigns(const results::Archive& archive, bool json) {
  const auto campaigns = archive.campaigns();
  if (json) {
    Json all = Json::array();
    for (const results::CampaignRecord& campaign : campaigns) all.push_back(to_json(campaign));
    print_json(all);
    return;
  }
  Table table(
      {{"CAMPAIGN"}, {"STATUS"}, {"STARTED"}, {"ATTEMPTS", Align::right}, {"SECONDS", Align::right}, {"PROBLEMS"}});
  for (const results::CampaignRecord& c : campaigns) {
    const auto problems = c.settings.at("problems").get<std::vector<std::string>>();
    table.add_row({c.name, c.status, c.started, std::to_string(c.attempts), fmt::format("{:.0f}", c.spent_seconds),
                   problems.size() == 1 ? problems[0] : fmt::format("{} problems", problems.size())});
  }
  print("{}", table.empty() ? "No campaign yet. Start with: kernelwright run --suite quick\n" : table.text());
}

void show_attempt(const results::Archive& archive, int64_t id, bool json) {
  const results::RecordedAttempt attempt = archive.attempt(id);
  if (json) {
    print_json(to_json(attempt));
  } else {
    print("{}", attempt_text(attempt));
  }
}

void show_campaign(const results::Archive& archive, const results::CampaignRecord& campaign, bool json) {
  const auto events = archive.events_of_campaign(campaign.id);
  std::map<std::string, int64_t> verdicts;
  for (const int64_t id : archive.attempts_of_campaign(campaign.id)) {
    ++verdicts[verifier::name_of(archive.attempt(id).verdict)];
  }
  if (json) {
    Json all = to_json(campaign);
    all["verdicts"] = verdicts;
    all["events"] = Json::array();
    for (const results::EventRecord& event : events) {
      all["events"].push_back({{"made", event.made}, {"kind", event.kind}, {"details", event.details}});
    }
    print_json(all);
    return;
  }
  print("campaign {}: {}, started {}, {} attempts in {:.0f} s\n", campaign.name, campaign.status, campaign.started,
        campaign.attempts, campaign.spent_seconds);
  print("settings  {}\n", campaign.settings.dump());
  for (const auto& [verdict, count] : verdicts) print("{:>7}  {}\n", count, verdict);
  for (const results::EventRecord& event : events) {
    if (event.kind == "problem_started") continue;  // long, and for resuming
    if (event.kind == "problem_ended") {
      print("{}: best {:.2f}x over naive; {}\n", event.details.at("problem").get<std::string>(),
            event.details.at("best").get<double>(), event.details.at("why").get<std::string>());
    } else {
      print("{} {}: {}\n", event.made, event.kind, event.details.dump());
    }
  }
  if (campaign.status != "done") print("Go on with: kernelwright resume {}\n", campaign.name);
}

void show_solution(const results::Archive& archive, const results::SolutionRecord& solution, bool json) {
  if (json) {
    print_json(Json{{"solution", solution.name},
                    {"hash", solution.hash},
                    {"problem", solution.problem},
                    {"origin", solution.origin},
                    {"added", solution.added},
                    {"attempts", archive.attempts_of_solution(solution.id)},
                    {"source", solution.source}});
    return;
  }
  print("{} for {} ({}), {} attempts, hash {}\n\n{}\n", core::clean_line(solution.name), solution.problem,
        solution.origin, solution.attempts, solution.hash.substr(0, 12), solution.source);
}

void show(const std::string& what, const Shell& shell) {
  const results::Archive archive = open_existing_archive(shell);
  if (what.empty()) return list_campaigns(archive, shell.json);
  const bool number = std::all_of(what.begin(), what.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (number && what.size() < 12) return show_attempt(archive, std::stoll(what), shell.json);
  const auto solutions = archive.find_solutions(what);
  if (!solutions.empty()) {
    for (const results::SolutionRecord& solution : solutions) show_solution(archive, solution, shell.json);
    return;
  }
  show_campaign(archive, archive.find_campaign(what), shell.json);
}
}  // namespace

void add_show_command(CLI::App& app, Shell& shell) {
  auto what = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("show", "Show an attempt, a campaign or a solution in full");
  command->add_option(
      "WHAT", *what,
      "The number of an attempt, the name of a campaign or solution, or a solution's hash (default: list "
      "the campaigns)");
  command->callback([what, &shell] { show(*what, shell); });
}

}  // namespace agent
