#include "agent/campaign.h"

#include <algorithm>
#include <set>

#include "agent/calibrations.h"
#include "agent/devices.h"
#include "agent/interrupt.h"
#include "core/error.h"
#include "core/hash.h"

namespace agent {
namespace {
using core::Json;

std::vector<Entrant> user_entrants(const results::Archive& archive, const CampaignSettings& settings,
                                   const benchsuite::Problem& problem) {
  std::vector<Entrant> entrants;
  for (const std::string& hash : settings.solutions) {
    const auto found = archive.find_solutions(hash);
    if (found.empty()) throw core::SystemError("the archive has lost the solution " + hash);
    if (found[0].problem != problem.name) continue;
    entrants.push_back({sandbox::parse_solution(found[0].source, found[0].name), found[0].name, found[0].origin});
  }
  return entrants;
}

bool runs_on(const sandbox::Solution& solution, const std::string& device) {
  if (device.empty()) return true;
  const std::string backend = device.substr(0, device.find(':'));
  return std::find(solution.backends.begin(), solution.backends.end(), backend) != solution.backends.end();
}

// Every problem's chances are its own, so that leaving one out changes none of the others.
uint64_t seed_of(uint64_t campaign_seed, const std::string& problem) {
  return std::stoull(core::sha256_hex(std::to_string(campaign_seed) + " " + problem).substr(0, 16), nullptr, 16);
}

// Of settings alone, so that a resumed search is the same. With few attempts, few are spent on the random start.
TunerSettings tuner_settings(const CampaignSettings& settings) {
  TunerSettings tuner;
  tuner.patience = settings.patience;
  if (settings.budget.attempts) {
    const int64_t share = *settings.budget.attempts / static_cast<int64_t>(settings.problems.size());
    tuner.first_points = static_cast<int>(std::clamp<int64_t>(share / 4, 1, tuner.first_points));
  }
  return tuner;
}

// Names of the problems whose search ended before the campaign was interrupted.
std::set<std::string> ended_problems(const results::Archive& archive, int64_t campaign) {
  std::set<std::string> ended;
  for (const results::EventRecord& event : archive.events_of_campaign(campaign)) {
    if (event.kind == "problem_ended") ended.insert(event.details.at("problem").get<std::string>());
  }
  return ended;
}

class Run {
 public:
  Run(results::Archive& archive, const results::CampaignRecord& campaign, const core::Paths& paths,
      const std::map<std::string, benchsuite::Problem>& problems, Progress& progress)
      : archive_(archive),
        campaign_(campaign),
        settings_(campaign_settings_from_json(core::JsonView(campaign.settings, "campaign " + campaign.name))),
        paths_(paths),
        problems_(problems),
        progress_(progress),
        workshop_(paths, parse_device(settings_.device), settings_.hot, background_compile_workers()),
        attempts_(archive, workshop_, campaign.id,
                  newest_or_new_calibration(archive, paths, parse_device(settings_.device), workshop_.device())),
        budget_(settings_.budget, campaign.attempts, campaign.spent_seconds) {
    attempts_.on_trouble([&](const std::string& what) { progress_.warned(what); });
  }

  CampaignEnd run() {
    const std::set<std::string> ended = ended_problems(archive_, campaign_.id);
    const size_t count = settings_.problems.size();
    progress_.campaign_started(campaign_.name, count, budget_.left());
    bool stopped = false;
    for (size_t i = 0; i < count && !stopped; ++i) {
      const std::string& name = settings_.problems[i];
      if (ended.count(name) == 0) stopped = search(name, i, count);
    }
    return {stopped, budget_.attempts()};
  }

 private:
  // True when it was interrupted.
  bool search(const std::string& name, size_t index, size_t count) {
    const benchsuite::Problem& problem = find_problem(problems_, name, "campaign " + campaign_.name);
    progress_.problem_started(name, index, count);
    budget_.start_share(count - index);
    SearchResult result;
    if (auto spent = budget_.used_up()) {
      result.why = *spent;
    } else {
      std::vector<Entrant> entrants = user_entrants(archive_, settings_, problem);
      if (settings_.shipped) {
        for (Entrant& entrant : shipped_entrants(paths_, problem, settings_.device)) {
          entrants.push_back(std::move(entrant));
        }
      }
      std::erase_if(entrants, [&](const Entrant& entrant) {
        const auto why = workshop_.why_not(entrant.solution);
        if (why) progress_.warned(entrant.name + " is left out: " + *why);
        return why.has_value();
      });
      attempts_.use_problem(problem);
      ProblemSearch search(problem, attempts_, budget_, progress_, seed_of(settings_.seed, name));
      search.add({std::move(entrants), tuner_settings(settings_), false, {}});
      result = search.run();
    }
    if (result.interrupted) return true;
    archive_.add_event(campaign_.id, "problem_ended", {{"problem", name}, {"best", result.best}, {"why", result.why}});
    progress_.problem_ended(name, result.best, result.why);
    return false;
  }

  results::Archive& archive_;
  const results::CampaignRecord& campaign_;
  CampaignSettings settings_;
  const core::Paths& paths_;
  const std::map<std::string, benchsuite::Problem>& problems_;
  Progress& progress_;
  Workshop workshop_;
  Attempts attempts_;
  Budget budget_;
};
}  // namespace

Json to_json(const CampaignSettings& s) {
  return {{"problems", s.problems},
          {"device", s.device},
          {"hot", s.hot},
          {"attempts", s.budget.attempts ? Json(*s.budget.attempts) : Json()},
          {"seconds", s.budget.seconds ? Json(*s.budget.seconds) : Json()},
          {"seed", s.seed},
          {"patience", s.patience},
          {"shipped", s.shipped},
          {"solutions", s.solutions}};
}

CampaignSettings campaign_settings_from_json(const core::JsonView& json) {
  CampaignSettings s;
  for (const core::JsonView& problem : json.at("problems").items()) s.problems.push_back(problem.string());
  s.device = json.at("device").string();
  s.hot = json.has("hot") && json.at("hot").boolean();
  if (!json.at("attempts").json().is_null()) s.budget.attempts = json.at("attempts").integer(1);
  if (!json.at("seconds").json().is_null()) s.budget.seconds = json.at("seconds").number();
  s.seed = json.at("seed").json().get<uint64_t>();
  s.patience = static_cast<int>(json.at("patience").integer(0, 1'000'000));
  s.shipped = json.at("shipped").boolean();
  for (const core::JsonView& hash : json.at("solutions").items()) s.solutions.push_back(hash.string());
  return s;
}

std::vector<Entrant> shipped_entrants(const core::Paths& paths, const benchsuite::Problem& problem,
                                      const std::string& device) {
  std::vector<std::filesystem::path> files;
  std::error_code none;  // a problem may have no kernels
  for (const auto& entry : std::filesystem::directory_iterator(paths.kernels() / problem.name, none)) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Entrant> entrants;
  for (const std::filesystem::path& file : files) {
    sandbox::Solution solution = sandbox::load_solution(file);
    sandbox::validate_solution(solution, problem);
    if (runs_on(solution, device)) entrants.push_back({std::move(solution), file.stem().string(), "seed"});
  }
  return entrants;
}

CampaignEnd run_campaign(results::Archive& archive, const results::CampaignRecord& campaign, const core::Paths& paths,
                         const std::map<std::string, benchsuite::Problem>& problems, Progress& progress) {
  watch_for_interrupt();
  archive.set_campaign_status(campaign.id, "running");
  try {
    const CampaignEnd end = Run(archive, campaign, paths, problems, progress).run();
    archive.set_campaign_status(campaign.id, end.interrupted ? "interrupted" : "done");
    return end;
  } catch (const std::exception& error) {
    archive.add_event(campaign.id, "failed", {{"what", error.what()}});
    archive.set_campaign_status(campaign.id, "failed");
    throw;
  }
}

}  // namespace agent
