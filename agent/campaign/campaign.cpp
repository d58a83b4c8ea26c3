#include "agent/campaign/campaign.h"

#include <algorithm>
#include <set>

#include "agent/campaign/calibrations.h"
#include "agent/campaign/device_text.h"
#include "agent/campaign/devices.h"
#include "agent/campaign/live_runner.h"
#include "agent/search/interrupt.h"
#include "agent/search/recorded_runner.h"
#include "core/error.h"
#include "core/hash.h"
#include "results/archive/database.h"

namespace agent::campaign {
namespace {
using core::Json;

results::archive::SolutionRecord recorded_solution(const results::archive::Reader& archive, const std::string& hash) {
  const auto found = archive.find_solutions(hash);
  if (found.empty()) throw core::SystemError("the archive has lost the solution " + hash);
  return found[0];
}

std::vector<search::NamedSolution> user_solutions(const results::archive::Reader& archive,
                                                  const CampaignSettings& settings,
                                                  const benchsuite::Problem& problem) {
  std::vector<search::NamedSolution> solutions;
  for (const std::string& hash : settings.solutions) {
    const results::archive::SolutionRecord found = recorded_solution(archive, hash);
    if (found.problem != problem.name) continue;
    solutions.push_back({sandbox::parse_solution(found.source, found.name), found.name, found.origin});
  }
  return solutions;
}

bool runs_on(const sandbox::Solution& solution, const std::string& device) {
  return device.empty() || !why_not_on(parse_device(device), solution);
}

// Each problem has its own seed, so leaving one out does not change the others.
uint64_t seed_of(uint64_t campaign_seed, const std::string& problem) {
  return std::stoull(core::sha256_hex(std::to_string(campaign_seed) + " " + problem).substr(0, 16), nullptr, 16);
}

// Depends on the settings alone, so that a resumed search is the same. A small budget gets a short random start.
search::TunerSettings tuner_settings(const CampaignSettings& settings) {
  search::TunerSettings tuner;
  tuner.patience = settings.patience;
  if (settings.budget.attempts) {
    const int64_t share = *settings.budget.attempts / static_cast<int64_t>(settings.problems.size());
    tuner.first_points = static_cast<int>(std::clamp<int64_t>(share / 4, 1, tuner.first_points));
  }
  return tuner;
}

// The judging side of a live campaign; a replayed campaign has none.
struct LiveJudging {
  LiveJudging(results::archive::Recorder& archive, int64_t campaign, const core::Paths& paths,
              const CampaignSettings& settings)
      : session(paths, parse_device(settings.device), settings.hot, background_compile_workers()),
        runner(archive, session, campaign,
               newest_or_new_calibration(archive, paths, parse_device(settings.device), session.device())) {}
  DeviceSession session;
  LiveRunner runner;
};

class Run {
 public:
  // `judging`: null in a replay. All arguments must outlive the run.
  Run(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
      const CampaignSettings& settings, const core::Paths& paths,
      const std::map<std::string, benchsuite::Problem>& problems, search::Progress& progress,
      const std::vector<models::Model*>& models, search::Journal& journal, LiveJudging* judging)
      : archive_(archive),
        campaign_(campaign),
        settings_(settings),
        paths_(paths),
        problems_(problems),
        progress_(progress, journal),
        journal_(journal),
        judging_(judging),
        budget_(settings.budget, journal.attempts_before(), campaign.spent_seconds, &journal) {
    journal.on_divergence([this](const search::Divergence& divergence) {
      progress_.warned(std::string("this version decides differently from the one that started the campaign (") +
                       divergence.what() + "); it uses the recorded results that still fit");
    });
    journal.on_finish([this] { budget_.charge_attempts(journal_.attempts_left()); });
    runner_.emplace(archive, journal, budget_, judging != nullptr ? &judging->runner : nullptr);
    if (!models.empty()) {
      if (judging != nullptr) judging->runner.look_closer();
      prices_.emplace(models::Prices::load(paths.prompts() / "prices.json", models::today()));
      prompts_.emplace(paths.prompts());
      ledger_.emplace(archive, campaign.id, models, *prices_, settings_.sampling, settings_.spending,
                      judging != nullptr ? judging->session.event_loop() : no_events_, journal);
    }
    if (!journal.recalls()) journal.finish();
    if (judging != nullptr) judging->runner.on_trouble([&](const std::string& what) { progress_.warned(what); });
  }

  CampaignEnd run() {
    const std::set<std::string> ended = ended_problems();
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
  // Names of the problems whose search ended before the campaign was interrupted.
  std::set<std::string> ended_problems() const {
    std::set<std::string> ended;
    if (journal_.replays()) return ended;
    for (const results::archive::EventRecord& event : archive_.events_of_campaign(campaign_.id)) {
      if (event.kind == "problem_ended") ended.insert(event.details.at("problem").get<std::string>());
    }
    return ended;
  }

  const benchsuite::Problem& problem_named(const std::string& name) const {
    if (const auto found = problems_.find(name); found != problems_.end()) return found->second;
    throw core::InputError("campaign " + campaign_.name, "its problem " + name + " is neither here nor in the archive",
                           "name the folder that holds it with --problems");
  }

  // Returns true when interrupted.
  bool search(const std::string& name, size_t index, size_t count) {
    const benchsuite::Problem& problem = problem_named(name);
    progress_.problem_started(name, index, count);
    budget_.start_share(count - index);
    const std::optional<Json> start = start_of(problem);
    search::SearchResult result;
    if (start) {
      result = search_with(problem, *start);
    } else {
      result.why = journal_.recalls() ? journal_.next()->details.value("why", "") : budget_.used_up().value_or("");
    }
    if (result.interrupted) return true;
    end(name, result);
    progress_.problem_ended(name, result.best, result.why);
    return false;
  }

  // Records the initial facts of a search, so that a resumed search starts from the same ones. nullopt: the budget is
  // used up.
  std::optional<Json> start_of(const benchsuite::Problem& problem) {
    if (auto recorded = journal_.take_event("problem_started", problem.name)) return recorded;
    if (const search::Journal::Step* const step = journal_.next()) {
      if (step->event == "problem_ended" && step->details.at("problem") == problem.name) return std::nullopt;
      journal_.diverge(search::describe(*step), "the search for " + problem.name + " begins");
    }
    if (judging_ == nullptr) throw search::RecordEnded();
    if (budget_.used_up()) return std::nullopt;
    Json start{{"problem", problem.name}, {"places", judging_->session.judges().size()}, {"entrants", Json::array()}};
    for (const search::NamedSolution& named : solutions_of(problem)) {
      archive_.add_solution({&named.solution, named.name, named.origin, {}});
      start["entrants"].push_back(
          {{"solution", named.solution.hash()}, {"name", named.name}, {"origin", named.origin}});
    }
    if (ledger_) start["device"] = to_json(device_text(judging_->session, judging_->runner.calibration()));
    journal_.note("problem_started", start);
    return start;
  }

  std::vector<search::NamedSolution> solutions_of(const benchsuite::Problem& problem) {
    std::vector<search::NamedSolution> solutions = user_solutions(archive_, settings_, problem);
    if (settings_.shipped) {
      for (search::NamedSolution& named : shipped_solutions(paths_, problem, settings_.device)) {
        solutions.push_back(std::move(named));
      }
    }
    std::erase_if(solutions, [&](const search::NamedSolution& named) {
      const auto why = judging_->session.why_not(named.solution);
      if (why) progress_.warned(named.name + " is left out: " + *why);
      return why.has_value();
    });
    return solutions;
  }

  void end(const std::string& name, const search::SearchResult& result) {
    const Json ended{{"problem", name}, {"best", result.best}, {"why", result.why}};
    if (const search::Journal::Step* const step = journal_.next()) {
      if (step->event == "problem_ended" && step->details == ended) return journal_.take();
      journal_.diverge(search::describe(*step), "problem_ended " + ended.dump());
    }
    journal_.note("problem_ended", ended);
  }

  search::SearchResult search_with(const benchsuite::Problem& problem, const Json& start) {
    if (judging_ != nullptr) judging_->runner.use_problem(problem);
    runner_->use_problem(problem, start.at("places").get<size_t>());
    std::vector<search::NamedSolution> solutions;
    for (const Json& named : start.at("entrants")) {
      const std::string name = named.at("name");
      const results::archive::SolutionRecord found = recorded_solution(archive_, named.at("solution"));
      solutions.push_back({sandbox::parse_solution(found.source, name), name, named.at("origin")});
    }
    const uint64_t seed = seed_of(settings_.seed, problem.name);
    search::ProblemSearch search(problem, *runner_, budget_, progress_, seed);
    search::ProblemSearch::TrialPlan known{std::move(solutions), tuner_settings(settings_), false, {}, {}};
    if (!ledger_) {
      search.add(std::move(known));
      return search.run();
    }
    const prompting::ProblemText text = prompting::read_problem_text(problem);
    const prompting::DeviceText device =
        device_text_from_json(core::JsonView(start.at("device"), "campaign " + campaign_.name));
    search::ModelProposals proposals(text, device, *prompts_, *ledger_, search, archive_, progress_, settings_.models,
                                     seed, campaign_.name + "-");
    std::vector<size_t> members;
    for (const search::NamedSolution& named : known.solutions) members.push_back(proposals.add_known(named));
    known.judged = [&](size_t index, const search::JudgedPoint& point) { proposals.judged(members[index], point); };
    search.add(std::move(known));
    return search.run(&proposals);
  }

  results::archive::Recorder& archive_;
  const results::archive::CampaignRecord& campaign_;
  const CampaignSettings& settings_;
  const core::Paths& paths_;
  const std::map<std::string, benchsuite::Problem>& problems_;
  search::NewProgress progress_;
  search::Journal& journal_;
  LiveJudging* judging_;
  search::Budget budget_;
  std::optional<search::RecordedRunner> runner_;
  search::EventLoop no_events_;
  std::optional<models::Prices> prices_;  // prices_, prompts_, ledger_: only with models
  std::optional<prompting::PromptMaker> prompts_;
  std::optional<search::RequestLedger> ledger_;
};

CampaignSettings settings_of(const results::archive::CampaignRecord& campaign) {
  return campaign_settings_from_json(core::JsonView(campaign.settings, "campaign " + campaign.name));
}

// Stands for a model in a replay. It never answers: its replies are in the archive.
class RecordedModel : public models::Model {
 public:
  explicit RecordedModel(std::string name) : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  void ask(const models::Occasion&, const models::Prompt&, const models::Sampling&,
           std::function<void(models::Answer)>) override {}
  void cancel() override {}

 private:
  std::string name_;
};

void end_badly(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
               const std::string& status, const std::exception& error) {
  try {
    archive.add_event(campaign.id, status, {{"what", error.what()}});
    archive.set_campaign_status(campaign.id, status);
  } catch (const std::exception&) {
    // A campaign whose failure cannot be recorded stays "running" and can be resumed.
  }
}
}  // namespace

std::vector<search::NamedSolution> shipped_solutions(const core::Paths& paths, const benchsuite::Problem& problem,
                                                     const std::string& device) {
  std::vector<std::filesystem::path> files;
  std::error_code none;  // a problem may have no kernels
  if (!std::filesystem::equivalent(problem.folder, paths.problems() / problem.name, none)) return {};
  for (const auto& entry : std::filesystem::directory_iterator(paths.kernels() / problem.name, none)) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<search::NamedSolution> solutions;
  for (const std::filesystem::path& file : files) {
    sandbox::Solution solution = sandbox::load_solution(file);
    sandbox::validate_solution(solution, problem);
    if (runs_on(solution, device)) solutions.push_back({std::move(solution), file.stem().string(), "seed"});
  }
  return solutions;
}

CampaignEnd run_campaign(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
                         const core::Paths& paths, const std::map<std::string, benchsuite::Problem>& problems,
                         search::Progress& progress, const std::vector<models::Model*>& models) {
  search::watch_for_interrupt();
  archive.set_campaign_status(campaign.id, "running");
  try {
    const CampaignSettings settings = settings_of(campaign);
    search::Journal journal(archive, campaign.id);
    LiveJudging judging(archive, campaign.id, paths, settings);
    const CampaignEnd end =
        Run(archive, campaign, settings, paths, problems, progress, models, journal, &judging).run();
    archive.set_campaign_status(campaign.id, end.interrupted ? "interrupted" : "done");
    return end;
  } catch (const results::archive::NoRoom& error) {
    end_badly(archive, campaign, "interrupted", error);
    throw core::SystemError(std::string(error.what()) + "; then: kernelwright resume " + campaign.name);
  } catch (const std::exception& error) {
    end_badly(archive, campaign, "failed", error);
    throw;
  }
}

Replayed replay_campaign(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
                         const core::Paths& paths, const std::map<std::string, benchsuite::Problem>& problems,
                         search::Progress& progress) {
  const CampaignSettings settings = settings_of(campaign);
  search::Journal journal(archive, campaign.id, search::Journal::Purpose::replay);
  Replayed replayed;
  if (!journal.recalls()) {
    replayed.divergence =
        search::Divergence(0, "no order of events: an earlier version of kernelwright ran it", "nothing");
    return replayed;
  }
  std::vector<RecordedModel> recorded;
  recorded.reserve(settings.proposers.size());
  std::vector<models::Model*> models;
  for (const std::string& name : settings.proposers) models.push_back(&recorded.emplace_back(name));
  try {
    Run(archive, campaign, settings, paths, problems, progress, models, journal, nullptr).run();
    if (const search::Journal::Step* const step = journal.next())
      journal.diverge(search::describe(*step), "the campaign has ended");
    replayed.ended = true;
  } catch (const search::RecordEnded&) {
  } catch (const search::Divergence& divergence) {
    replayed.divergence = divergence;
  }
  replayed.steps = journal.taken();
  return replayed;
}

}  // namespace agent::campaign
