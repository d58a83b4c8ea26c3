// Lets models propose solutions during a search: a strategy chooses requests, replies become trials, and results of
// trials inform the strategy and later prompts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/learning/card_choice.h"
#include "agent/learning/lessons.h"
#include "agent/learning/model_choice.h"
#include "agent/prompting/prompt_maker.h"
#include "agent/prompting/reply.h"
#include "agent/search/problem_search.h"
#include "agent/search/request_ledger.h"
#include "agent/search/strategy.h"

namespace agent::search {

struct ModelSearchSettings {
  std::string strategy = "evolve";
  int in_flight = 4;                // concurrent requests
  int lines = 2;                    // lines of descent, or islands
  int wanted = 1;                   // solutions in a reply
  int patience = 12;                // consecutive replies without a gain before the search has converged
  TunerSettings tuner{6, 0.97, 0};  // for a model's solutions
  // The ledger's models from here on do not write solutions; the first of them plans each before it is written. Without
  // it, all write, and none plans.
  std::optional<size_t> planner = std::nullopt;
  learning::Lessons lessons = {};
};

class ModelProposals : public Proposals {
 public:
  // All arguments must outlive it. Solutions that it adds have the model's name as origin; their names are `prefix` and
  // a number.
  ModelProposals(const prompting::ProblemText& problem, const prompting::DeviceText& device,
                 const prompting::PromptMaker& maker, RequestLedger& ledger, ProblemSearch& search,
                 results::archive::Recorder& archive, Progress& progress, const ModelSearchSettings& settings,
                 uint64_t seed, std::string prefix);

  ~ModelProposals() override;

  // Adds a solution known at the start. Report its judged points with judged(), so that prompts show them.
  size_t add_known(const NamedSolution& named);
  void judged(size_t member, const JudgedPoint& point);

  void tend() override;
  bool may_bring_more() const override { return requests_in_flight_ > 0 || !stopped_; }
  std::string why_ended() const override { return stopped_.value_or(""); }

  const Population& population() const { return population_; }

 private:
  // An inquiry whose solutions are not all judged yet.
  struct Running {
    Inquiry inquiry;
    size_t model = 0;  // index into the ledger's models
    prompting::MadePrompt made;
    core::Json proposal;  // the inquiry, for the archive
    Yield yield;
    double best_before = 0;  // of its line
    size_t trials = 0;       // unfinished
    bool again = false;      // the reply could not be used and was sent back
    bool planning = false;   // what it asks for is the plan
  };
  using RunningPtr = std::shared_ptr<Running>;

  // Returns a prompt that differs from every earlier one.
  prompting::MadePrompt prompt_for(const Inquiry& inquiry) const;
  prompting::KnownSolution known(size_t member) const;
  std::vector<std::string> tried() const;
  RunningPtr next_inquiry();  // null when the strategy waits
  bool plans(const Inquiry& inquiry) const;
  // The request for its plan, and the largest that a plan can make of the one that follows.
  RequestLedger::Request plan_request(const Running& running) const;
  RequestLedger::Request longest_planned(const Running& running) const;
  std::optional<std::string> why_not(const Running& running) const;
  // Asks for the solutions, or first for the plan.
  void begin(const RunningPtr& running);
  void ask(const RunningPtr& running, const models::Prompt& prompt, size_t model, const core::Json& proposal);
  void planned(const RunningPtr& running, const models::Completion& plan, int64_t reply);
  void answered(const RunningPtr& running, const models::Prompt& prompt, const Answered& answer);
  void no_completion(const models::NoCompletion& none);
  bool use(const RunningPtr& running, const models::Completion& completion, int64_t reply,
           const models::Prompt& prompt);
  void begin_trial(const RunningPtr& running, prompting::Proposal proposal, int64_t reply, const std::string& author);
  void trial_ended(const RunningPtr& running, size_t member, const TrialResult& result);
  void conclude(const RunningPtr& running);
  void describe(Member& member) const;
  double best_of_line(int line) const;

  const prompting::ProblemText& problem_;
  const prompting::DeviceText& device_;
  const prompting::PromptMaker& maker_;
  RequestLedger& ledger_;
  ProblemSearch& search_;
  results::archive::Recorder& archive_;
  Progress& progress_;
  ModelSearchSettings settings_;
  std::unique_ptr<Strategy> strategy_;
  std::string prefix_;
  Population population_;
  std::map<std::string, size_t> identities_;         // identity of each member's solution
  std::vector<std::string> unusable_;                // reasons why replies were unusable, the latest last
  std::map<int, std::set<std::string>> seen_cards_;  // by line of descent
  learning::CardChoice card_choice_;
  size_t writers_;  // the ledger's first models, which write solutions
  learning::ModelChoice model_choice_;
  size_t requests_in_flight_ = 0;
  RunningPtr postponed_;                // waits for the reserves of requests in flight
  std::set<std::string> asked_;         // hashes of prompts
  std::map<RunningPtr, Reserve> held_;  // for the solutions whose plans are in flight
  std::multiset<std::pair<prompting::Operator, std::vector<size_t>>> under_way_;  // tasks and their parents
  bool said_what_is_left_out_ = false;
  int in_vain_ = 0, failures_ = 0;  // consecutive replies
  std::optional<std::string> stopped_;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // expires with this: later replies are dropped
};

}  // namespace agent::search
