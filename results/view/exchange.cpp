#include "results/view/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "core/text.h"
#include "results/view/json.h"

namespace results::view {
namespace {
std::string task_of(const archive::NewRequest& request) {
  return request.proposal.is_object() ? request.proposal.value("operator", "") : "";
}

using core::Json;
using verifier::verdicts::Correct;

bool is_correct(const archive::Brought& brought) {
  return brought.verdict && std::holds_alternative<Correct>(*brought.verdict);
}

Json json_of_brought(const archive::Brought& brought) {
  return {{"solution", brought.name},
          {"hash", brought.hash},
          {"outcome", outcome_in_words(brought)},
          {"verdict_name", brought.verdict ? Json(name_of(*brought.verdict)) : Json()},
          {"attempt", or_null(brought.attempt)},
          {"confirmed", brought.confirmed}};
}
}  // namespace

std::string outcome_in_words(const archive::Brought& brought) {
  if (!brought.verdict) return "not judged: its turn had not come";
  if (brought.speed_up == 0) {
    const bool compiles = !std::holds_alternative<verifier::verdicts::CompileFailed>(*brought.verdict);
    return (compiles ? "" : "does not compile: ") + verifier::verdicts::sentence_for_people(*brought.verdict);
  }
  const std::string words = fmt::format("correct, {:.2f}x over {}", brought.speed_up, brought.against);
  if (brought.confirmed) return words + ", won and confirmed";
  if (!brought.refused) return words;
  return words + ", but not when it was to be confirmed: " + verifier::verdicts::sentence_for_people(*brought.refused);
}

std::string outcome_in_words(const archive::Exchange& exchange) {
  const std::optional<archive::NewReply>& reply = exchange.record.reply;
  if (!reply) return "no reply yet";
  if (!exchange.answered()) return "unanswered: " + (reply->what.empty() ? reply->outcome : reply->what);
  std::vector<std::string> outcomes;
  for (const archive::Brought& one : exchange.brought) outcomes.push_back(one.name + ": " + outcome_in_words(one));
  if (!exchange.why_nothing.empty()) {
    const bool lacks_solutions = outcomes.empty() && task_of(exchange.record.request) != "plan";
    outcomes.push_back((lacks_solutions ? "unusable: " : "") + exchange.why_nothing);
  }
  return outcomes.empty() ? "nothing new" : core::join(outcomes, "; ");
}

Json json_of(const archive::Exchange& exchange) {
  const archive::NewRequest& request = exchange.record.request;
  Json brought = Json::array();
  for (const archive::Brought& one : exchange.brought) brought.push_back(json_of_brought(one));
  return {{"exchange", exchange.record.id},
          {"number", request.number},
          {"campaign", exchange.campaign},
          {"problem", request.problem},
          {"model", request.model},
          {"task", task_of(request)},
          {"asked", exchange.record.asked},
          {"arrived", or_null(exchange.record.arrived)},
          {"answered", exchange.answered()},
          {"outcome", outcome_in_words(exchange)},
          {"good", std::ranges::any_of(exchange.brought, is_correct)},
          {"brought", std::move(brought)}};
}

Json json_of(const archive::AdviceUse& use) {
  return {{"advice", or_null(use.advice)}, {"given", use.given},   {"solutions", use.solutions},
          {"correct", use.correct},        {"faster", use.faster}, {"mean_gain", or_null(use.mean_gain)}};
}

Json json_of(const archive::ModelShare& share) {
  return {{"model", share.model},         {"first", share.first}, {"gain", share.gain},
          {"curiosity", share.curiosity}, {"won", share.won},     {"factor", share.factor}};
}

Json json_of(const archive::CardUse& use) {
  return {{"card", use.card},       {"sent", use.sent}, {"solutions", use.solutions},
          {"correct", use.correct}, {"won", use.won},   {"mean_gain", or_null(use.mean_gain)}};
}

}  // namespace results::view
