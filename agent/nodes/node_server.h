// A node: judges the candidates of a campaign that runs elsewhere. It holds no archive of results, no key of a model,
// and no seed before it judges.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "agent/campaign/device_session.h"
#include "agent/campaign/live_runner.h"
#include "agent/nodes/messages.h"
#include "core/line_stream.h"

namespace agent::nodes {

class NodeServer {
 public:
  // `scratch`: an archive for what a judgement needs to remember, thrown away afterwards. All must outlive it.
  NodeServer(core::LineStream& stream, campaign::DeviceSession& session, results::archive::Recorder& scratch,
             std::optional<verifier::verdicts::Calibration> calibration);

  // Greets, and serves until the campaign is gone. Errors are told to it, and then thrown.
  void serve();

 private:
  // A judgement for the search of another node.
  struct Visit {
    int64_t number = 0;
    benchsuite::Problem problem;
    std::optional<search::CandidatePtr> candidate, incumbent;  // nullopt: naive
    verifier::verdicts::Effort effort;
  };

  void greet();
  void take(const core::JsonView& message);
  void use_problem(const core::JsonView& problem);
  void add(const core::JsonView& candidate);
  void judge(const core::JsonView& message);
  void add_visit(const core::JsonView& message);
  void take_turns();
  void begin(const Visit& visit);
  void give(core::Json answer);  // with the attempt
  search::CandidatePtr candidate_in(const core::JsonView& json);
  const search::CandidatePtr& candidate(const core::JsonView& id) const;
  void say(const core::Json& message);

  core::LineStream& stream_;
  campaign::DeviceSession& session_;
  campaign::LiveRunner runner_;
  std::deque<sandbox::Solution> solutions_;             // outlive their candidates
  std::map<int64_t, search::CandidatePtr> candidates_;  // by the campaign's ids
  core::Json recorded_;                                 // of the attempt that ends now
  std::optional<benchsuite::Problem> problem_;          // of the node's own search
  std::deque<core::Json> held_;                 // what its own search wants judged, while visits have their turn
  std::deque<Visit> visits_;                    // not begun
  bool visiting_ = false;                       // the judges have another's problem
  std::chrono::steady_clock::time_point said_;  // the last message
};

}  // namespace agent::nodes
