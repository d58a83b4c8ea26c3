// Requests to models with the fate of what their replies brought.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/archive/reader.h"
#include "verifier/verdicts/verdict.h"

namespace results::archive {

// A solution that a reply brought, and how it fared in its campaign.
struct Brought {
  int64_t solution = 0;
  std::string name, hash;
  std::optional<int64_t> parent;                       // the solution it was made from
  std::optional<int64_t> attempt;                      // its best one, else the last; absent: not judged yet
  std::optional<verifier::verdicts::Verdict> verdict;  // of that attempt
  double speed_up = 0;                                 // over `against`; 0: never timed
  std::string against;                                 // the name of the incumbent
  bool confirmed = false;                              // won again in fresh processes
  std::optional<verifier::verdicts::Verdict> refused;  // when it was to be confirmed
};

struct Exchange {
  RequestRecord record;
  std::string campaign;
  std::string why_nothing;  // the reason that no solution came of the reply, or of a part of it
  std::vector<Brought> brought;

  bool answered() const { return record.reply && record.reply->outcome == "completion"; }
};

// The newest `limit` requests of a campaign, in the order of sending, without prompts.
std::vector<Exchange> newest_exchanges(const Reader& archive, int64_t campaign, size_t limit);

// With its prompt; nullopt if there is no such request.
std::optional<Exchange> find_exchange(const Reader& archive, int64_t request);

// The request that came next in the same line of the search, or sent this one's reply back with reasons.
std::optional<Exchange> following_exchange(const Reader& archive, const Exchange& exchange);

// The first request whose reply proposed a solution, one of this campaign before others; nullopt: no reply did.
std::optional<int64_t> proposing_request(const Reader& archive, int64_t solution, std::optional<int64_t> campaign);

// The first `limit` requests of a campaign that asked to change this solution, in the order of sending, without
// prompts.
std::vector<Exchange> exchanges_made_from(const Reader& archive, int64_t solution, int64_t campaign, size_t limit);

// What came of one advised change in a campaign (v_advice).
struct AdviceUse {
  std::string advice;  // empty: prompts that advised nothing
  int64_t given = 0, solutions = 0, correct = 0, faster = 0;
  std::optional<double> mean_gain;  // over the solutions they were made from; absent: none was timed
};
// The most often given first.
std::vector<AdviceUse> advice_of_campaign(const Reader& archive, int64_t campaign);

// What came of the prompts that showed one technique card (v_cards).
struct CardUse {
  std::string card;
  int64_t sent = 0, solutions = 0, correct = 0, won = 0;
  std::optional<double> mean_gain;  // absent: none was timed
};
// The most often sent first.
std::vector<CardUse> cards_of_campaign(const Reader& archive, int64_t campaign);

// How often prompts of a kind of device ("cpu", "cuda") showed each card, and how often their replies won, in all
// campaigns that do not hold their problems out.
struct CardRecord {
  int64_t sent = 0, won = 0;
};
std::map<std::string, CardRecord> card_records(const Reader& archive, const std::string& device);

// What the answered requests to a model brought, on a kind of device, in all campaigns that do not hold their problems
// out.
struct ModelRecord {
  int64_t requests = 0;
  double gain = 0;  // log of the factors by which its wins were faster than before (v_outcomes), summed
  int64_t tokens = 0;
  std::optional<double> dollars;  // absent: the price of a reply was not known
};
std::map<std::string, ModelRecord> model_records(const Reader& archive, const std::string& device);

// How a campaign with several models shared its requests among them.
struct ModelShare {
  std::string model;
  int64_t first = 0, gain = 0, curiosity = 0;  // requests by the reason to choose this model (learning::ModelReason)
  int64_t won = 0;                             // requests whose reply won
  double factor = 1;                           // by which its wins were faster than before, multiplied
};
// In order of name; empty with one model.
std::vector<ModelShare> model_shares(const Reader& archive, int64_t campaign);

// The reason for the last failure, if the campaign sent requests and none was answered.
std::optional<std::string> why_none_answered(const Reader& archive, int64_t campaign);

}  // namespace results::archive
