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
  void greet();
  void take(const core::JsonView& message);
  void use_problem(const core::JsonView& problem);
  void add(const core::JsonView& candidate);
  void judge(const core::JsonView& message);
  const search::CandidatePtr& candidate(const core::JsonView& id) const;
  void say(const core::Json& message);

  core::LineStream& stream_;
  campaign::DeviceSession& session_;
  campaign::LiveRunner runner_;
  std::deque<sandbox::Solution> solutions_;             // outlive their candidates
  std::map<int64_t, search::CandidatePtr> candidates_;  // by the campaign's ids
  core::Json recorded_;                                 // of the attempt that ends now
  std::chrono::steady_clock::time_point said_;          // the last message
};

}  // namespace agent::nodes
