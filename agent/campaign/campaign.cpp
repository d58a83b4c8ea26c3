#include "agent/campaign/campaign.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <set>
#include <utility>

#include "agent/campaign/device_text.h"
#include "agent/campaign/lanes.h"
#include "agent/search/interrupt.h"
#include "agent/search/recorded_runner.h"
#include "core/error.h"
#include "core/hash.h"
#include "results/archive/database.h"

namespace agent::campaign {
namespace {
using core::Json;
constexpr std::chrono::milliseconds kTick(100);

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

// The search for one problem, with all that it needs.
struct Search {
  Search(const benchsuite::Problem& of, size_t at, search::Budget& budget, search::BudgetLeft size)
      : problem(of), index(at), share(budget, of.name, size) {}
  const benchsuite::Problem& problem;
  size_t index;  // of the problem in the campaign
  search::BudgetShare share;
  std::optional<size_t> lane;
  bool time_is_up = false;
  std::optional<search::RecordedRunner> runner;
  std::optional<search::ProblemSearch> search;
  prompting::ProblemText text;
  prompting::DeviceText device;
  std::optional<search::ModelProposals> proposals;
};

class Run {
 public:
  // `lanes`: null in a replay. All arguments must outlive the run.
  Run(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
      const CampaignSettings& settings, const core::Paths& paths,
      const std::map<std::string, benchsuite::Problem>& problems, search::Progress& progress,
      const std::vector<models::Model*>& models, search::Journal& journal, Lanes* lanes)
      : archive_(archive),
        campaign_(campaign),
        settings_(settings),
        paths_(paths),
        problems_(problems),
        progress_(progress, journal),
        journal_(journal),
        lanes_(lanes),
        budget_(settings.budget, journal.attempts_before(), campaign.spent_seconds, &journal),
        events_(journal) {
    journal.on_divergence([this](const search::Divergence& divergence) {
      progress_.warned(std::string("this version decides differently from the one that started the campaign (") +
                       divergence.what() + "); it uses the recorded results that still fit");
    });
    journal.on_finish([this] { budget_.charge_attempts(journal_.attempts_left()); });
    if (!models.empty()) {
      if (lanes != nullptr) lanes->look_closer();
      prices_.emplace(models::Prices::load(paths.prompts() / "prices.json", models::today()));
      prompts_.emplace(paths.prompts());
      ledger_.emplace(archive, campaign.id, models, *prices_, settings_.sampling, settings_.spending,
                      lanes != nullptr ? lanes->event_loop() : no_events_, journal);
    }
    if (!journal.recalls()) journal.finish();
    if (lanes != nullptr) lanes->on_trouble([&](const std::string& what) { progress_.warned(what); });
  }

  CampaignEnd run() {
    const std::set<std::string> ended = ended_problems();
    for (size_t i = 0; i < settings_.problems.size(); ++i) {
      if (!ended.contains(settings_.problems[i])) waiting_.push_back(i);
    }
    progress_.campaign_started(campaign_.name, settings_.problems.size(), budget_.left());
    while (!search::interrupted()) {
      while (may_start()) start_next();
      if (searches_.empty()) break;
      attach();
      give_lanes_back();
      if (end_one()) continue;
      attach();  // the record may have ended within a decision: with a request that was sent
      next_event();
    }
    return {!searches_.empty() || !waiting_.empty(), budget_.attempts()};
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

  // The next problem begins where the record says so, and then on each free lane.
  bool may_start() const {
    if (waiting_.empty()) return false;
    if (searches_.empty()) return true;
    if (const search::Journal::Step* const step = journal_.next()) {
      return (step->event == "problem_started" || step->event == "problem_ended") &&
             step->details.at("problem") == settings_.problems[waiting_.front()];
    }
    return lanes_ != nullptr && searches_.size() < ready_lanes();
  }

  size_t ready_lanes() const {
    size_t ready = 0;
    for (size_t lane = 0; lane < lanes_->count(); ++lane) ready += lanes_->is_ready(lane) ? 1 : 0;
    return ready;
  }

  void start_next() {
    const size_t index = waiting_.front();
    waiting_.pop_front();
    const size_t count = settings_.problems.size();
    const benchsuite::Problem& problem = problem_named(settings_.problems[index]);
    progress_.problem_started(problem.name, index, count);
    if (const std::optional<Json> start = start_of(problem, count - index)) return start_search(problem, index, *start);
    search::SearchResult result;
    result.why = journal_.recalls() ? journal_.next()->details.value("why", "") : budget_.used_up().value_or("");
    end(problem.name, result);
  }

  // Records the initial facts of a search, so that a resumed search starts from the same ones. nullopt: the budget is
  // used up.
  std::optional<Json> start_of(const benchsuite::Problem& problem, size_t problems_left) {
    if (auto recorded = journal_.take_event("problem_started", problem.name)) return recorded;
    if (const search::Journal::Step* const step = journal_.next()) {
      if (step->event == "problem_ended" && step->details.at("problem") == problem.name) return std::nullopt;
      journal_.diverge(search::describe(*step), "the search for " + problem.name + " begins");
    }
    if (lanes_ == nullptr) throw search::RecordEnded();
    if (budget_.used_up()) return std::nullopt;
    const search::BudgetLeft share = budget_.next_share(problems_left, std::min(lanes_->count(), problems_left));
    Json start{{"problem", problem.name}, {"places", slots_of_a_free_lane()}, {"entrants", Json::array()}};
    start["confirms_screened"] = true;  // earlier versions did not
    if (lanes_->confirms_beside()) start["confirms_beside"] = true;
    if (share.attempts) start["attempts"] = *share.attempts;
    for (const search::NamedSolution& named : solutions_of(problem)) {
      archive_.add_solution({&named.solution, named.name, named.origin, {}});
      start["entrants"].push_back(
          {{"solution", named.solution.hash()}, {"name", named.name}, {"origin", named.origin}});
    }
    if (ledger_) start["device"] = to_json(lanes_->device_text());
    if (ledger_ && settings_.learns) {
      start["lessons"] = to_json(learning::lessons_for(archive_, problem, lanes_->device_text(),
                                                       parse_device(settings_.device).kind(), settings_.proposers));
    }
    journal_.note("problem_started", start);
    return start;
  }

  std::set<size_t> lanes_in_use() const {
    std::set<size_t> in_use;
    for (const Search& one : searches_) {
      if (one.lane) in_use.insert(*one.lane);
    }
    return in_use;
  }

  std::optional<size_t> free_lane() const {
    for (size_t lane = 0; lane < lanes_->count(); ++lane) {
      const auto has_it = [&](const Search& one) { return one.lane == lane; };
      if (lanes_->is_ready(lane) && std::ranges::none_of(searches_, has_it)) return lane;
    }
    return std::nullopt;
  }
  size_t slots_of_a_free_lane() {
    const std::optional<size_t> lane = free_lane();
    return lane ? lanes_->runner(*lane).free_slots() : 1;
  }

  std::vector<search::NamedSolution> solutions_of(const benchsuite::Problem& problem) {
    std::vector<search::NamedSolution> solutions = user_solutions(archive_, settings_, problem);
    if (settings_.shipped) {
      for (search::NamedSolution& named : shipped_solutions(paths_, problem, settings_.device)) {
        solutions.push_back(std::move(named));
      }
    }
    std::erase_if(solutions, [&](const search::NamedSolution& named) {
      const auto why = lanes_->why_not(named.solution);
      if (why) progress_.warned(named.name + " is left out: " + *why);
      return why.has_value();
    });
    return solutions;
  }

  // Earlier versions did not record the share: they divided what was left.
  search::BudgetLeft share_of(const Json& start, size_t problems_left) const {
    const size_t at_once = lanes_ != nullptr ? std::min(lanes_->count(), problems_left) : 1;
    search::BudgetLeft share = budget_.next_share(problems_left, at_once);
    if (start.contains("attempts")) share.attempts = start.at("attempts").get<int64_t>();
    return share;
  }

  void start_search(const benchsuite::Problem& problem, size_t index, const Json& start) {
    const search::BudgetLeft share = share_of(start, settings_.problems.size() - index);
    Search& one = searches_.emplace_back(problem, index, budget_, share);
    one.runner.emplace(archive_, events_, one.share, problem, start.at("places").get<size_t>(),
                       start.value("confirms_beside", false));
    std::vector<search::NamedSolution> solutions;
    for (const Json& named : start.at("entrants")) {
      const std::string name = named.at("name");
      const results::archive::SolutionRecord found = recorded_solution(archive_, named.at("solution"));
      solutions.push_back({sandbox::parse_solution(found.source, name), name, named.at("origin")});
    }
    const uint64_t seed = seed_of(settings_.seed, problem.name);
    one.search.emplace(problem, *one.runner, one.share, progress_, seed, start.value("confirms_screened", false));
    search::ProblemSearch::TrialPlan known{std::move(solutions), tuner_settings(settings_), false, {}, {}};
    if (ledger_) {
      one.text = prompting::read_problem_text(problem);
      one.device = device_text_from_json(core::JsonView(start.at("device"), "campaign " + campaign_.name));
      search::ModelSearchSettings models = settings_.models;
      if (start.contains("lessons")) models.lessons = learning::lessons_from_json(start.at("lessons"), archive_);
      if (!settings_.planner.empty()) models.planner = settings_.proposers.size();
      one.proposals.emplace(one.text, one.device, *prompts_, *ledger_, *one.search, archive_, progress_, models, seed,
                            campaign_.name + "-");
      std::vector<size_t> members;
      for (const search::NamedSolution& named : known.solutions) members.push_back(one.proposals->add_known(named));
      known.judged = [&proposals = *one.proposals, members](size_t at, const search::JudgedPoint& point) {
        proposals.judged(members[at], point);
      };
    }
    one.search->add(std::move(known));
    one.search->begin(one.proposals ? &*one.proposals : nullptr);
  }

  // Gives lanes to searches that have none, once the record is used up, and another to those whose lane is lost.
  void attach() {
    if (lanes_ == nullptr || journal_.recalls()) return;
    for (Search& one : searches_) {
      if (one.lane && lanes_->is_ready(*one.lane)) continue;
      const std::optional<size_t> lane = free_lane();
      if (!lane) continue;
      if (one.lane) one.runner->detach();
      one.lane = lane;
      lanes_->begin_problem(*lane, one.problem);
      one.runner->attach(lanes_->runner(*lane));
    }
  }

  void give_lanes_back() {
    const size_t lanes = waiting_.size() + searches_.size();
    if (lanes_ != nullptr && lanes != std::exchange(needed_, lanes)) lanes_->need(lanes, lanes_in_use());
  }

  // Lets each search start what it may. True: one has ended, and another may take its place.
  bool end_one() {
    for (auto one = searches_.begin(); one != searches_.end(); ++one) {
      // Without models nothing but its own attempts and time can let a search go on.
      if (!ledger_ && !one->runner->take_change() && !std::exchange(one->time_is_up, false)) continue;
      if (!one->search->proceed()) continue;
      const search::SearchResult result = one->search->result();
      if (result.interrupted) return true;
      const std::string name = one->problem.name;
      searches_.erase(one);
      end(name, result);
      return true;
    }
    return false;
  }

  void end(const std::string& name, const search::SearchResult& result) {
    record_end({{"problem", name}, {"best", result.best}, {"why", result.why}});
    progress_.problem_ended(name, result.best, result.why);
  }

  void record_end(const Json& ended) {
    if (const search::Journal::Step* const step = journal_.next()) {
      if (step->event == "problem_ended" && step->details == ended) return journal_.take();
      journal_.diverge(search::describe(*step), "problem_ended " + ended.dump());
    }
    journal_.note("problem_ended", ended);
  }

  void next_event() {
    const double begin = budget_.now();
    events_.wait(kTick);
    const double waited = budget_.now() - begin;
    for (Search& one : searches_) {
      if (one.search->awaits_replies()) one.share.waited(waited);
    }
    for (Search& one : searches_) {
      one.time_is_up = one.search->take_time_up();
      if (one.time_is_up) return;
    }
    events_.serve();
  }

  results::archive::Recorder& archive_;
  const results::archive::CampaignRecord& campaign_;
  const CampaignSettings& settings_;
  const core::Paths& paths_;
  const std::map<std::string, benchsuite::Problem>& problems_;
  search::NewProgress progress_;
  search::Journal& journal_;
  Lanes* lanes_;
  search::Budget budget_;
  search::SearchEvents events_;
  search::EventLoop no_events_;
  std::optional<models::Prices> prices_;  // prices_, prompts_, ledger_: only with models
  std::optional<prompting::PromptMaker> prompts_;
  std::optional<search::RequestLedger> ledger_;
  std::deque<size_t> waiting_;  // problems whose search has not begun
  std::list<Search> searches_;  // side by side, in the order of their beginning
  size_t needed_ = 0;           // lanes, as they know
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
  return run_campaign(archive, campaign, paths, problems, progress, models,
                      [&] { return std::make_unique<LiveLanes>(archive, campaign.id, paths, settings_of(campaign)); });
}

CampaignEnd run_campaign(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
                         const core::Paths& paths, const std::map<std::string, benchsuite::Problem>& problems,
                         search::Progress& progress, const std::vector<models::Model*>& models,
                         const std::function<std::unique_ptr<Lanes>()>& make_lanes) {
  search::watch_for_interrupt();
  archive.set_campaign_status(campaign.id, "running");
  try {
    const CampaignSettings settings = settings_of(campaign);
    search::Journal journal(archive, campaign.id);
    const std::unique_ptr<Lanes> lanes = make_lanes();
    const CampaignEnd end =
        Run(archive, campaign, settings, paths, problems, progress, models, journal, lanes.get()).run();
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
  const std::vector<std::string> names = models_of(settings);
  recorded.reserve(names.size());
  std::vector<models::Model*> models;
  for (const std::string& name : names) models.push_back(&recorded.emplace_back(name));
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
