// Has the attempts of a search made on a node.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/nodes/node_process.h"
#include "agent/search/attempt_runner.h"
#include "benchsuite/problem.h"

namespace agent::nodes {

// What a node says of itself.
struct Greeting {
  int64_t protocol = 0;
  std::string version, device, gpu;  // gpu: of one device in the world; empty: a processor
  size_t slots = 0;
  core::Json environment, text;
};

class NodeRunner : public search::AttemptRunner {
 public:
  struct Owner {
    results::archive::Recorder& archive;
    int64_t campaign;
    search::EventLoop& event_loop;
    // Throws when this node cannot take part.
    std::function<void(const std::string& name, const Greeting&)> greeted;
    std::function<void(const std::string&)> trouble;
    // A node with another device, which can judge what this one found; null: there is none.
    std::function<NodeRunner*(const NodeRunner&)> other;
    // Can the campaign do without this node?
    std::function<bool(const NodeRunner&)> spares;
    std::chrono::steady_clock::time_point last;  // an attempt ended
  };
  // `name`: for messages, "node 2". `owner` outlives it.
  NodeRunner(std::string name, std::vector<std::string> command, Owner& owner);
  ~NodeRunner() override;

  bool is_ready() const { return greeting_.has_value(); }
  bool is_stopped() const { return stopped_; }
  size_t visits() const { return visits_.size(); }
  // Is it being looked at, by naive against itself?
  bool is_looked_at() const;
  const Greeting& greeting() const { return greeting_.value(); }
  const std::string& name() const { return name_; }
  int64_t losses() const { return losses_; }
  const std::string& why_lost() const { return why_lost_; }  // "node 2: it ended with exit code 127"
  void begin_problem(const benchsuite::Problem& problem);
  void look_closer() { looks_closer_ = true; }
  // Ends the node for good; its destructor waits for that.
  void stop();

  size_t free_slots() const override { return slots_ > jobs_.size() ? slots_ - jobs_.size() : 0; }
  size_t in_progress() const override { return jobs_.size(); }
  size_t slots() const override { return slots_; }
  void prepare(const search::CandidatePtr& candidate, verifier::verdicts::Effort effort) override;
  void begin(const search::CandidatePtr& candidate, const search::CandidatePtr& incumbent,
             verifier::verdicts::Effort effort, std::function<void(search::Attempt)> done) override;
  void wait(std::chrono::milliseconds at_most) override { owner_.event_loop.wait(at_most); }
  void serve() override { owner_.event_loop.serve(); }
  void abandon() override { jobs_.clear(); }
  search::CandidatePtr naive() const override { return naive_; }
  search::CandidatePtr add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                           const sandbox::TunableBinding& binding) override;

 private:
  struct Job {
    search::CandidatePtr candidate, incumbent;
    verifier::verdicts::Effort effort;
    std::function<void(search::Attempt)> done;
    bool elsewhere = false;  // another node judges it
    bool doubted = false;    // it is judged again, since the node seemed unfit
  };
  // A judgement for the search that another node has.
  struct Visit {
    NodeRunner* host;
    int64_t number;  // of the host's job
  };
  struct Result {
    int64_t number = 0;
    results::archive::NewAttempt attempt;
    std::string unfit;  // why the node's device may be
    int64_t environment = 0;
  };
  static Greeting greeting_in(const core::JsonView& message);
  void said(const core::Json& message);
  void lost(const std::string& why);
  void greeted(Greeting greeting);
  Result result_in(const core::JsonView& message, const core::JsonView& number) const;
  void finish(Result result);
  // Judged here, or elsewhere if it confirms a win.
  void submit(int64_t number);
  void visit(NodeRunner& host, int64_t number, const Job& job);
  bool is_doubtful(const Result& result, Job& job);
  void set_aside(const std::string& why);
  void resume_visits();
  core::Json id_of(const search::CandidatePtr& candidate);  // sends it before its first mention
  bool is_naive(const search::CandidatePtr& candidate) const { return candidate->id == naive_->id; }

  std::string name_, why_lost_;
  std::string device_;  // once it has greeted
  Owner& owner_;
  std::optional<Greeting> greeting_;  // while the node is there
  bool looks_closer_ = false, stopped_ = false;
  size_t slots_ = 1;
  int64_t environment_ = 0, problem_id_ = 0, begun_ = 0, losses_ = 0;
  std::optional<benchsuite::Problem> problem_;
  sandbox::Solution naive_solution_;
  search::CandidatePtr naive_;
  std::set<int64_t> sent_;       // candidates that the node knows
  std::map<int64_t, Job> jobs_;  // by number
  std::map<int64_t, Visit> visits_;
  std::unique_ptr<NodeProcess> process_;
};

}  // namespace agent::nodes
