// Sends a campaign's prompts to its models and records both ways: a request before it is sent, a reply before it is
// used. A request with a recorded reply is not sent again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/models/model.h"
#include "agent/models/prices.h"
#include "agent/search/event_loop.h"
#include "agent/search/journal.h"
#include "agent/search/spending.h"
#include "core/strict_json.h"
#include "results/archive/recorder.h"

namespace agent::search {

core::Json to_json(const models::Prompt& prompt);
models::Prompt prompt_from_json(const core::Json& json);

// A recorded reply as an answer.
models::Answer answer_of(const results::archive::NewReply& reply);

// A request that has ended.
struct Answered {
  int64_t reply = 0;  // in the archive
  models::Answer answer;
  double cost = 1;  // dollars; millions of tokens, of all models alike, if the price of one is unknown
};

class RequestLedger {
 public:
  // All arguments must outlive it. Recorded requests are neither sent nor paid for again. A request left unanswered by
  // a kill keeps its maximum cost and is sent once more.
  RequestLedger(results::archive::Recorder& archive, int64_t campaign, std::vector<models::Model*> models,
                const models::Prices& prices, models::Sampling sampling, SpendingLimits limits, EventLoop& event_loop,
                Journal& journal);
  // Cancels requests in flight.
  ~RequestLedger();
  RequestLedger(const RequestLedger&) = delete;
  RequestLedger& operator=(const RequestLedger&) = delete;

  // A prompt and its model.
  struct Request {
    models::Prompt prompt;
    size_t model = 0;
  };
  // Returns why this prompt may not be sent, as a sentence; nullopt: it may. `then`: a request that follows its reply,
  // which must be affordable, too; keep its reserve with hold() until then.
  std::optional<std::string> why_not(const std::string& problem, const models::Prompt& prompt, size_t model,
                                     const Request* then = nullptr) const;
  Reserve hold(const Request& request);
  void release(const Reserve& held) { spending_.release(held); }
  // `proposal`: the reason for the request, for the archive. Calls `answered` on the event loop's thread.
  void ask(const std::string& problem, const models::Prompt& prompt, size_t model, const core::Json& proposal,
           std::function<void(Answered)> answered);
  // Records that a reply proposed a solution.
  void brought(int64_t reply, int64_t solution);
  // Records why a reply proposed nothing new. `reply`: in the archive.
  void brought_nothing(int64_t reply, const std::string& why);

  // Drops the callbacks of requests in flight, and cancels them.
  void withdraw();

  size_t in_flight() const { return in_flight_; }
  const Spending& spending() const { return spending_; }
  std::vector<std::string> warnings() { return spending_.warnings(); }
  const models::Usage& usage() const { return usage_; }  // of this run and earlier ones
  const std::string& model_name(size_t model) const { return models_[model]->name(); }
  const models::Sampling& sampling() const { return sampling_; }
  size_t models() const { return models_.size(); }
  // The unit of costs: dollars if every model has a price, else millions of tokens.
  bool counts_dollars() const { return counts_dollars_; }
  // Of a request of the usual size, as far as its price tells.
  double usual_cost(size_t model) const;

 private:
  using Callback = std::function<void(Answered)>;
  // A recorded request without a reply yet.
  struct Waiting {
    std::string problem;
    int64_t number = 0;
    size_t model = 0;
    core::Json proposal;
    models::Prompt prompt;
    Reserve reserve;
    Callback answered;  // empty: nothing waits for it
  };

  double cost_of(const models::Usage& usage, std::optional<double> dollars) const;
  Reserve reserve_for(const models::Prompt& prompt, size_t model) const;
  const results::archive::RequestRecord& recorded(int64_t request) const { return records_.at(request); }
  bool is_next(const std::string& problem, int64_t number) const;
  std::string difference(const results::archive::RequestRecord& was, const Waiting& now) const;
  void send(Waiting request);
  // Gives a recorded request to its model.
  void hand_over(int64_t request, Waiting asked);
  void arrived(int64_t request, Waiting& asked, models::Answer answer);
  void take(const Journal::Step& step);
  void take_again(const results::archive::RequestRecord& record);
  void take_reply(const results::archive::RequestRecord& record, Waiting waiting);
  void take_left();
  bool post_left(const Waiting& asked);
  bool ask_again();

  results::archive::Recorder& archive_;
  int64_t campaign_;
  std::vector<models::Model*> models_;
  const models::Prices& prices_;
  const bool counts_dollars_;
  models::Sampling sampling_;
  Spending spending_;
  EventLoop& event_loop_;
  Journal& journal_;
  std::map<std::string, int64_t> asked_;                        // requests so far, by problem
  std::map<int64_t, results::archive::RequestRecord> records_;  // by request
  std::map<int64_t, Waiting> waiting_;                          // awaiting a recorded reply, by request
  std::map<std::pair<std::string, int64_t>, int64_t> left_;     // requests with a reply but without a recorded order
  size_t in_flight_ = 0;
  models::Usage usage_;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // expires with this: later answers are dropped
};

}  // namespace agent::search
