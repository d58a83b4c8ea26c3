#include "agent/nodes/node_runner.h"

#include <algorithm>
#include <utility>

#include "agent/nodes/health.h"
#include "agent/nodes/messages.h"
#include "benchsuite/problem.h"
#include "core/error.h"
#include "core/text.h"
#include "sandbox/naive_solution.h"

namespace agent::nodes {
namespace {
using core::Json;
using core::JsonView;
using verifier::verdicts::Effort;
constexpr size_t kTextBytes = 400;  // of what a node says, in messages
}  // namespace

NodeRunner::NodeRunner(std::string name, std::vector<std::string> command, Owner& owner)
    : name_(std::move(name)), owner_(owner) {
  process_ = std::make_unique<NodeProcess>(std::move(command), owner.event_loop,
                                           NodeProcess::Listener{[this](const Json& message) { said(message); },
                                                                 [this](const std::string& why) { lost(why); }});
}

NodeRunner::~NodeRunner() { process_.reset(); }

void NodeRunner::begin_problem(const benchsuite::Problem& problem) {
  jobs_.clear();
  sent_.clear();
  problem_ = problem;
  problem_id_ = owner_.archive.add_problem(problem, benchsuite::content_hash(problem));
  naive_solution_ = sandbox::naive_solution(problem);
  naive_ = add(naive_solution_, "naive", "naive", sandbox::default_binding(naive_solution_));
  process_->send({{"problem", to_json(problem)}});
}

search::CandidatePtr NodeRunner::add(const sandbox::Solution& solution, const std::string& name,
                                     const std::string& origin, const sandbox::TunableBinding& binding) {
  return search::add_candidate(owner_.archive, solution, name, origin, binding);
}

Json NodeRunner::id_of(const search::CandidatePtr& candidate) {
  if (is_naive(candidate)) return {};
  if (sent_.insert(candidate->id).second) process_->send({{"candidate", to_json(*candidate)}});
  return candidate->id;
}

void NodeRunner::prepare(const search::CandidatePtr& candidate, Effort effort) {
  if (is_naive(candidate) || !is_ready()) return;
  const Json id = id_of(candidate);
  process_->send({{"prepare", id}, {"effort", name_of(effort)}});
}

void NodeRunner::begin(const search::CandidatePtr& candidate, const search::CandidatePtr& incumbent, Effort effort,
                       std::function<void(search::Attempt)> done) {
  const int64_t number = ++begun_;
  jobs_[number] = {candidate, incumbent, effort, std::move(done)};
  submit(number);
}

void NodeRunner::submit(int64_t number) {
  Job& job = jobs_.at(number);
  NodeRunner* const other = job.effort == Effort::confirm ? owner_.other(*this) : nullptr;
  job.elsewhere = other != nullptr;
  if (other != nullptr) return other->visit(*this, number, job);
  if (!is_ready()) return;
  const Json candidate = id_of(job.candidate), incumbent = id_of(job.incumbent);
  process_->send(
      {{"judge", number}, {"candidate", candidate}, {"incumbent", incumbent}, {"effort", name_of(job.effort)}});
}

void NodeRunner::visit(NodeRunner& host, int64_t number, const Job& job) {
  const int64_t visit = ++begun_;
  visits_[visit] = {&host, number};
  process_->send({{"visit", visit},
                  {"problem", to_json(host.problem_.value())},
                  {"candidate", host.is_naive(job.candidate) ? Json() : to_json(*job.candidate)},
                  {"incumbent", host.is_naive(job.incumbent) ? Json() : to_json(*job.incumbent)},
                  {"effort", name_of(job.effort)}});
}

// What a node says is outside text: nonsense costs the node its place, and nothing else.
void NodeRunner::said(const Json& message) {
  if (stopped_) return;
  const JsonView view(message, name_ + "'s message");
  std::optional<Greeting> greeting;
  std::optional<Result> result;
  std::string trouble, error;
  try {
    if (view.has("protocol")) greeting = greeting_in(view);
    for (const char* kind : {"result", "visited"}) {
      if (view.has(kind)) result = result_in(view, view.at(kind));
    }
    if (view.has("trouble")) trouble = core::clean_line(view.at("trouble").string(), kTextBytes);
    if (view.has("error")) error = core::clean_text(view.at("error").string(), kTextBytes);
    if (result && !is_ready()) view.fail("comes before a greeting");
  } catch (const core::InputError& wrong) {
    return process_->give_up(std::string(kNonsense) + wrong.what());
  }
  if (greeting) return greeted(std::move(*greeting));
  if (result && view.has("result")) return finish(std::move(*result));
  if (result) {
    const auto visit = visits_.extract(result->number);
    if (visit.empty()) return;
    result->number = visit.mapped().number;
    return visit.mapped().host->finish(std::move(*result));
  }
  if (!trouble.empty()) owner_.trouble(name_ + ": " + trouble);
  if (error.empty()) return;
  if (view.has("of_input")) throw core::InputError("", name_ + ": " + error);
  owner_.trouble(name_ + ": " + error);
}

NodeRunner::Result NodeRunner::result_in(const JsonView& message, const JsonView& number) const {
  Result result{number.integer(), attempt_from_json(message.at("attempt")), "", environment_};
  if (!message.has("health")) return result;
  const bool on_gpu = greeting_ && !greeting_->gpu.empty();
  result.unfit = why_unfit(message.at("health"), result.attempt.judgement, on_gpu);
  return result;
}

Greeting NodeRunner::greeting_in(const JsonView& json) {
  Greeting greeting;
  greeting.protocol = json.at("protocol").integer();
  greeting.version = core::clean_line(json.at("version").string(), kTextBytes);
  if (greeting.protocol != kProtocol || greeting.version != KW_VERSION) return greeting;  // others say other things
  greeting.device = json.at("device").string();
  greeting.gpu = core::clean_line(json.at("gpu").string(), kTextBytes);
  greeting.slots = static_cast<size_t>(json.at("slots").integer(1, 1024));
  greeting.environment = json.at("environment").json();
  if (!greeting.environment.is_object()) json.fail("has an environment that is no object");
  greeting.text = json.at("text").json();
  return greeting;
}

void NodeRunner::greeted(Greeting greeting) {
  if (greeting.protocol != kProtocol || greeting.version != KW_VERSION) {
    throw core::SystemError(name_ + " runs kernelwright " + greeting.version + " and this is " + KW_VERSION +
                            ": install the same version on both sides");
  }
  owner_.greeted(name_, greeting);
  slots_ = greeting.slots;
  Json environment = greeting.environment;
  environment["node"] = name_;
  environment_ = owner_.archive.add_environment(environment);
  device_ = greeting.device;
  greeting_ = std::move(greeting);
  sent_.clear();
  if (looks_closer_) process_->send({{"look_closer", true}});
  if (!problem_) return;
  process_->send({{"problem", to_json(*problem_)}});
  for (const auto& [number, job] : jobs_) {
    if (!job.elsewhere) submit(number);
  }
}

void NodeRunner::lost(const std::string& why) {
  greeting_.reset();
  ++losses_;
  const std::string reason = core::clean_line(why, kTextBytes);
  why_lost_ = name_ + ": " + reason;
  owner_.trouble(name_ + " is lost: " + reason + "; it is started again, and what it judged is judged again");
  resume_visits();
}

// Confirmations that this node was making for others start again: on another node, or on the one that found the win.
void NodeRunner::resume_visits() {
  for (const auto& [number, visit] : std::exchange(visits_, {})) {
    if (visit.host->jobs_.contains(visit.number)) visit.host->submit(visit.number);
  }
}

void NodeRunner::stop() {
  stopped_ = true;
  greeting_.reset();
  process_->stop();
}

void NodeRunner::set_aside(const std::string& why) {
  owner_.archive.add_event(owner_.campaign, "set_aside", {{"node", name_}, {"why", why}});
  owner_.trouble(name_ + " is set aside: " + why + ", twice in a row; other nodes judge what it had");
  stop();
  resume_visits();
}

bool NodeRunner::is_looked_at() const {
  return std::ranges::any_of(jobs_, [](const auto& numbered) { return numbered.second.effort == Effort::control; });
}

// Naive against itself is judged again on a node that seems unfit; the second time decides.
bool NodeRunner::is_doubtful(const Result& result, Job& job) {
  if (result.unfit.empty()) return false;
  if (!job.doubted) {
    owner_.trouble(name_ + ": " + result.unfit + "; it is looked at again");
    job.doubted = true;
    return true;
  }
  if (owner_.spares(*this)) {
    set_aside(result.unfit);
    return true;
  }
  owner_.trouble(name_ + ": " + result.unfit + ", again; it goes on, as there is no other node");
  return false;
}

// Unknown numbers are of attempts that were abandoned.
void NodeRunner::finish(Result result) {
  const auto known = jobs_.find(result.number);
  if (known == jobs_.end()) return;
  if (is_doubtful(result, known->second)) return submit(result.number);
  auto found = jobs_.extract(known);
  Job& job = found.mapped();
  results::archive::NewAttempt& record = result.attempt;
  record.campaign = owner_.campaign;
  record.problem = problem_id_;
  record.environment = result.environment;
  record.candidate = job.candidate->id;
  record.device = device_;
  record.effort = job.effort;
  if (record.judgement.measurement) record.against = job.incumbent->id;
  const auto now = std::chrono::steady_clock::now();
  record.seconds = std::chrono::duration<double>(now - std::exchange(owner_.last, now)).count();
  search::Attempt attempt;
  attempt.id = owner_.archive.add_attempt(record);
  attempt.verdict = std::move(record.judgement.verdict);
  attempt.measurement = std::move(record.judgement.measurement);
  attempt.stages = record.judgement.stages;
  attempt.compile_ms = record.compile_ms;
  attempt.compile_log = std::move(record.compile_log);
  attempt.registers = record.registers;
  attempt.shared_bytes = record.shared_bytes;
  attempt.spill_bytes = record.spill_bytes;
  job.done(std::move(attempt));
}

}  // namespace agent::nodes
