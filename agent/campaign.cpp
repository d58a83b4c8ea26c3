#include "agent/campaign.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <set>

#include "agent/calibrations.h"
#include "agent/device_text.h"
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

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
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
      const std::map<std::string, benchsuite::Problem>& problems, Progress& progress, const std::vector<Model*>& models)
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
    if (!models.empty()) {
      prices_.emplace(Prices::load(paths.prompts() / "prices.json", today()));
      prompts_.emplace(paths.prompts());
      device_ = device_text(workshop_, attempts_.calibration());
      exchanges_.emplace(archive, campaign.id, models, *prices_, settings_.sampling, settings_.spending,
                         workshop_.mailbox());
    }
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
      result = search_with(problem, std::move(entrants));
    }
    if (result.interrupted) return true;
    archive_.add_event(campaign_.id, "problem_ended", {{"problem", name}, {"best", result.best}, {"why", result.why}});
    progress_.problem_ended(name, result.best, result.why);
    return false;
  }

  SearchResult search_with(const benchsuite::Problem& problem, std::vector<Entrant> entrants) {
    const uint64_t seed = seed_of(settings_.seed, problem.name);
    ProblemSearch search(problem, attempts_, budget_, progress_, seed);
    ProblemSearch::TrialPlan known{std::move(entrants), tuner_settings(settings_), false, {}, {}};
    if (!exchanges_) {
      search.add(std::move(known));
      return search.run();
    }
    const ProblemText text = read_problem_text(problem);
    ModelProposals proposals(text, device_, *prompts_, *exchanges_, search, archive_, progress_, settings_.models, seed,
                             campaign_.name + "-");
    std::vector<size_t> members;
    for (const Entrant& entrant : known.entrants) members.push_back(proposals.add_known(entrant));
    known.judged = [&](size_t entrant, const JudgedPoint& point) { proposals.judged(members[entrant], point); };
    search.add(std::move(known));
    return search.run(&proposals);
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
  std::optional<Prices> prices_;  // these, where models propose
  std::optional<PromptMaker> prompts_;
  DeviceText device_;
  std::optional<Exchanges> exchanges_;
};
}  // namespace

namespace {
template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

bool is_set(const core::JsonView& json, const char* key) { return json.has(key) && !json.at(key).json().is_null(); }

// What campaigns of earlier versions do not have.
void read_models(const core::JsonView& json, CampaignSettings& s) {
  if (!json.has("proposers")) return;
  for (const core::JsonView& name : json.at("proposers").items()) s.proposers.push_back(name.string());
  s.models.strategy = json.at("strategy").string();
  s.models.in_flight = static_cast<int>(json.at("in_flight").integer(1, 1000));
  s.models.lines = static_cast<int>(json.at("lines").integer(1, 1000));
  s.models.wanted = static_cast<int>(json.at("wanted").integer(1, 8));
  s.models.patience = static_cast<int>(json.at("model_patience").integer(1, 1'000'000));
  s.sampling.max_output_tokens = json.at("max_output_tokens").integer(1);
  s.sampling.thinking_tokens = json.at("thinking_tokens").integer(0);
  if (is_set(json, "temperature")) s.sampling.temperature = json.at("temperature").number();
  if (is_set(json, "tokens")) s.spending.tokens = json.at("tokens").integer(1);
  if (is_set(json, "requests")) s.spending.requests = json.at("requests").integer(1);
  if (is_set(json, "dollars")) s.spending.dollars = json.at("dollars").number();
}
}  // namespace

Json to_json(const CampaignSettings& s) {
  return {{"problems", s.problems},
          {"device", s.device},
          {"hot", s.hot},
          {"attempts", optional_json(s.budget.attempts)},
          {"seconds", optional_json(s.budget.seconds)},
          {"seed", s.seed},
          {"patience", s.patience},
          {"shipped", s.shipped},
          {"solutions", s.solutions},
          {"proposers", s.proposers},
          {"strategy", s.models.strategy},
          {"in_flight", s.models.in_flight},
          {"lines", s.models.lines},
          {"wanted", s.models.wanted},
          {"model_patience", s.models.patience},
          {"max_output_tokens", s.sampling.max_output_tokens},
          {"thinking_tokens", s.sampling.thinking_tokens},
          {"temperature", optional_json(s.sampling.temperature)},
          {"tokens", optional_json(s.spending.tokens)},
          {"requests", optional_json(s.spending.requests)},
          {"dollars", optional_json(s.spending.dollars)}};
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
  read_models(json, s);
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
                         const std::map<std::string, benchsuite::Problem>& problems, Progress& progress,
                         const std::vector<Model*>& models) {
  watch_for_interrupt();
  archive.set_campaign_status(campaign.id, "running");
  try {
    const CampaignEnd end = Run(archive, campaign, paths, problems, progress, models).run();
    archive.set_campaign_status(campaign.id, end.interrupted ? "interrupted" : "done");
    return end;
  } catch (const std::exception& error) {
    archive.add_event(campaign.id, "failed", {{"what", error.what()}});
    archive.set_campaign_status(campaign.id, "failed");
    throw;
  }
}

}  // namespace agent
