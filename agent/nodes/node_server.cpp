#include "agent/nodes/node_server.h"

#include <utility>

#include "agent/campaign/device_text.h"
#include "core/error.h"

namespace agent::nodes {
namespace {
using core::Json;
using core::JsonView;
using verifier::verdicts::Effort;
constexpr std::chrono::milliseconds kServeTick{5};

Effort effort_of(const JsonView& message) { return message.at("effort").one_of<Effort>("efforts"); }
}  // namespace

NodeServer::NodeServer(core::LineStream& stream, campaign::DeviceSession& session, results::archive::Recorder& scratch,
                       std::optional<verifier::verdicts::Calibration> calibration)
    : stream_(stream), session_(session), runner_(scratch, session, std::nullopt, std::move(calibration)) {
  runner_.on_trouble([this](const std::string& what) { say({{"trouble", what}}); });
  runner_.on_record([this](const results::archive::NewAttempt& attempt) { recorded_ = to_json(attempt); });
}

void NodeServer::say(const Json& message) {
  stream_.send(line_of(message));
  said_ = std::chrono::steady_clock::now();
}

void NodeServer::greet() {
  say({{"protocol", kProtocol},
       {"version", KW_VERSION},
       {"device", session_.device()},
       {"gpu", session_.gpu()},
       {"slots", session_.judges().size()},
       {"environment", session_.environment()},
       {"text", campaign::to_json(campaign::device_text(session_, runner_.calibration()))}});
}

void NodeServer::serve() {
  greet();
  try {
    while (!stream_.has_ended()) {
      while (const auto line = stream_.next(std::chrono::milliseconds(0))) {
        const Json message = message_of(line->text);
        take(JsonView(message, "a campaign's message"));
      }
      take_turns();
      runner_.wait(kServeTick);
      runner_.serve();
      if (std::chrono::steady_clock::now() - said_ > kSignOfLife) say({{"alive", true}});
    }
  } catch (const core::InputError& error) {
    say({{"error", error.what()}, {"of_input", true}});
    throw;
  } catch (const std::exception& error) {
    say({{"error", error.what()}});
    throw;
  }
}

void NodeServer::take(const JsonView& message) {
  if (message.has("visit")) return add_visit(message);
  if (message.has("problem")) return use_problem(message.at("problem"));
  if (message.has("judge")) return held_.push_back(message.json());
  if (message.has("candidate")) return add(message.at("candidate"));
  if (message.has("prepare")) return runner_.prepare(candidate(message.at("prepare")), effort_of(message));
  if (message.has("look_closer")) return runner_.look_closer();
  message.fail("is no message that this version knows");
}

void NodeServer::use_problem(const JsonView& problem) {
  problem_ = problem_from_json(problem);
  held_.clear();
  if (!visiting_) {
    runner_.abandon_judging();
    runner_.begin_problem(*problem_);
  }
  candidates_.clear();
}

void NodeServer::add_visit(const JsonView& message) {
  Visit visit{message.at("visit").integer(), problem_from_json(message.at("problem")), {}, {}, effort_of(message)};
  const auto made = [&](const char* side) {
    const JsonView json = message.at(side);
    return json.json().is_null() ? std::nullopt : std::optional(candidate_in(json));
  };
  visit.candidate = made("candidate");
  visit.incumbent = made("incumbent");
  visits_.push_back(std::move(visit));
}

// Visits come before the node's own search, once the device is done with what is under way.
void NodeServer::take_turns() {
  const bool busy = runner_.judging() > 0;
  if (!visits_.empty()) {
    if (busy) return;
    begin(visits_.front());
    return visits_.pop_front();
  }
  if (visiting_) {
    if (busy) return;
    visiting_ = false;
    if (problem_) runner_.begin_problem(*problem_);
  }
  for (const Json& message : std::exchange(held_, {})) judge(JsonView(message, "a campaign's message"));
}

void NodeServer::begin(const Visit& visit) {
  visiting_ = true;
  runner_.begin_problem(visit.problem);
  runner_.begin(visit.candidate.value_or(runner_.naive()), visit.incumbent.value_or(runner_.naive()), visit.effort,
                [this, number = visit.number](const search::Attempt&) {
                  give({{"visited", number}});
                });
}

void NodeServer::give(Json answer) {
  answer["attempt"] = std::exchange(recorded_, Json());
  say(answer);
}

search::CandidatePtr NodeServer::candidate_in(const JsonView& json) {
  const std::string name = json.at("name").string();
  const sandbox::Solution& solution =
      solutions_.emplace_back(sandbox::parse_solution(json.at("source").string(), name));
  sandbox::TunableBinding binding;
  for (const auto& [tunable, value] : json.at("binding").members()) binding[tunable] = value.integer();
  return runner_.add(solution, name, "campaign", binding);
}

void NodeServer::add(const JsonView& json) { candidates_[json.at("id").integer()] = candidate_in(json); }

const search::CandidatePtr& NodeServer::candidate(const JsonView& id) const {
  const auto found = candidates_.find(id.integer());
  if (found == candidates_.end()) id.fail("is no candidate that was sent");
  return found->second;
}

void NodeServer::judge(const JsonView& message) {
  const int64_t number = message.at("judge").integer();
  const auto named = [&](const char* side) {
    const JsonView id = message.at(side);
    return id.json().is_null() ? runner_.naive() : candidate(id);
  };
  const Effort effort = effort_of(message);
  runner_.begin(named("candidate"), named("incumbent"), effort, [this, number, effort](const search::Attempt&) {
    Json answer{{"result", number}};
    if (effort == Effort::control) {
      answer["health"] = session_.judges().with_first([](verifier::judging::Judge& judge) { return judge.health(); });
    }
    give(std::move(answer));
  });
}

}  // namespace agent::nodes
