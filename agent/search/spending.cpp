#include "agent/search/spending.h"

#include <fmt/format.h>

namespace agent::search {
namespace {
constexpr double kNearlyAll = 0.8;
}

models::Sampling within(const SpendingLimits& limits, models::Sampling sampling) {
  if (limits.tokens || limits.dollars) sampling.most_paid_tries = 1;
  return sampling;
}

std::optional<std::string> Spending::why_not(const Reserve& reserve) const {
  if (limits_.requests && spent_.requests + reserved_.requests + 1 > *limits_.requests) {
    return "all requests are used up";
  }
  if (limits_.tokens && spent_.tokens + reserved_.tokens + reserve.tokens > *limits_.tokens) {
    return fmt::format("the tokens left ({}) may not suffice for another request, which can take {}",
                       *limits_.tokens - spent_.tokens - reserved_.tokens, reserve.tokens);
  }
  if (!limits_.dollars) return std::nullopt;
  if (!reserve.dollars) {
    return "the model's price is unknown, so a limit in dollars cannot hold: add it to prompts/prices.json, or limit "
           "tokens instead";
  }
  if (spent_.dollars + reserved_.dollars + *reserve.dollars > *limits_.dollars) {
    return fmt::format("the money left (${:.4f}) may not suffice for another request, which can take ${:.4f}",
                       *limits_.dollars - spent_.dollars - reserved_.dollars, *reserve.dollars);
  }
  return std::nullopt;
}

void Spending::reserve(const Reserve& reserve) {
  ++reserved_.requests;
  reserved_.tokens += reserve.tokens;
  reserved_.dollars += reserve.dollars.value_or(0);
}

void Spending::release(const Reserve& reserve) {
  --reserved_.requests;
  reserved_.tokens -= reserve.tokens;
  reserved_.dollars -= reserve.dollars.value_or(0);
}

void Spending::settle(const Reserve& reserve, const models::Usage& usage, std::optional<double> dollars) {
  release(reserve);
  ++spent_.requests;
  spent_.tokens += usage.input + usage.cache_read + usage.cache_written + usage.output;
  spent_.dollars += dollars.value_or(0);
}

void Spending::lose(const Reserve& reserve) { settle(reserve, {reserve.tokens, 0, 0, 0, true}, reserve.dollars); }

std::vector<std::string> Spending::warnings() {
  std::vector<std::string> sentences;
  const auto look = [&](bool& warned, double spent, double limit, const std::string& what) {
    if (warned || limit <= 0 || spent < kNearlyAll * limit) return;
    warned = true;
    sentences.push_back(fmt::format("{:.0f} % of the {} are used up", 100 * spent / limit, what));
  };
  if (limits_.requests) {
    look(warned_requests_, static_cast<double>(spent_.requests), static_cast<double>(*limits_.requests), "requests");
  }
  if (limits_.tokens) {
    look(warned_tokens_, static_cast<double>(spent_.tokens), static_cast<double>(*limits_.tokens), "tokens");
  }
  if (limits_.dollars) look(warned_dollars_, spent_.dollars, *limits_.dollars, "dollars");
  return sentences;
}

}  // namespace agent::search
