// The way of a campaign's prompts to its models and back, through the archive: a request is written down before it is
// sent, a reply before it is used. What the archive has an answer for is not asked again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/mailbox.h"
#include "agent/models/model.h"
#include "agent/models/prices.h"
#include "agent/search/spending.h"
#include "core/strict_json.h"
#include "results/archive.h"

namespace agent {

core::Json to_json(const Prompt& prompt);
Prompt prompt_from_json(const core::Json& json);

// What the archive keeps of an answer, as an answer.
Answer answer_of(const results::NewReply& reply);

// An exchange that has ended.
struct Answered {
  int64_t reply = 0;  // in the archive
  Answer answer;
  double cost = 1;        // dollars, or tokens / 1e6 where the price is not known
  bool recalled = false;  // from before the campaign was interrupted
};

class Exchanges {
 public:
  // Models outlive it. `campaign`: its answered requests are recalled by problem and number.
  Exchanges(results::Archive& archive, int64_t campaign, std::vector<Model*> models, const Prices& prices,
            Sampling sampling, SpendingLimits limits, Mailbox& mailbox);
  // Cancels what is on its way.
  ~Exchanges();
  Exchanges(const Exchanges&) = delete;
  Exchanges& operator=(const Exchanges&) = delete;

  // Why this prompt may not be sent; nullopt when it may. What the archive has an answer for may always.
  std::optional<std::string> why_not(const std::string& problem, const Prompt& prompt, size_t model) const;
  // `proposal`: why it is asked, for the archive. `answered` is told on the mailbox's thread.
  void ask(const std::string& problem, const Prompt& prompt, size_t model, const core::Json& proposal,
           std::function<void(Answered)> answered);

  // Nobody waits any more for what is on its way.
  void withdraw();

  size_t in_flight() const { return in_flight_; }
  const Spending& spending() const { return spending_; }
  std::vector<std::string> warnings() { return spending_.warnings(); }
  const Usage& usage() const { return usage_; }  // of this run and those before
  const std::string& model_name(size_t model) const { return models_[model]->name(); }
  size_t models() const { return models_.size(); }

 private:
  Reserve reserve_for(const Prompt& prompt, size_t model) const;
  void arrived(int64_t request, const Reserve& reserve, size_t model, Answer answer,
               const std::function<void(Answered)>& answered);

  results::Archive& archive_;
  int64_t campaign_;
  std::vector<Model*> models_;
  const Prices& prices_;
  Sampling sampling_;
  Spending spending_;
  Mailbox& mailbox_;
  std::map<std::string, int64_t> asked_;  // requests so far, by problem
  std::map<std::pair<std::string, int64_t>, results::ExchangeRecord> recorded_;
  size_t in_flight_ = 0;
  Usage usage_;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // for answers that come when this is gone
};

}  // namespace agent
