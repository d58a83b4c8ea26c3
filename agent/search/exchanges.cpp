#include "agent/search/exchanges.h"

#include <memory>
#include <utility>

#include "agent/models/tokens.h"

namespace agent {
namespace {
using core::Json;
constexpr double kEstimateMargin = 1.3;  // estimates of a prompt's tokens may be this far too low

int64_t total(const Usage& usage) { return usage.input + usage.cache_read + usage.cache_written + usage.output; }

Usage usage_of(const results::NewReply& reply) {
  return {reply.input, reply.cache_read, reply.cache_written, reply.output, reply.estimated};
}

results::NewReply record_of(int64_t request, const Answer& answer, std::optional<double> dollars) {
  results::NewReply record;
  record.request = request;
  const auto keep = [&](const auto& of) {
    record.input = of.usage.input;
    record.cache_read = of.usage.cache_read;
    record.cache_written = of.usage.cache_written;
    record.output = of.usage.output;
    record.estimated = of.usage.estimated;
    record.tries = of.tries;
    record.seconds = of.seconds;
  };
  if (const auto* completion = std::get_if<Completion>(&answer)) {
    keep(*completion);
    record.outcome = "completion";
    record.model = completion->model;
    record.reply = completion->text;
    record.complete = completion->complete;
  } else {
    const auto& none = std::get<NoCompletion>(answer);
    keep(none);
    record.outcome = std::string(name_of(none.cause));
    record.what = none.what;
  }
  record.dollars = dollars;
  return record;
}

const Usage& usage_of(const Answer& answer) {
  return std::visit([](const auto& of) -> const Usage& { return of.usage; }, answer);
}

double cost_of(const Usage& usage, std::optional<double> dollars) {
  constexpr double kLeast = 1e-6;
  return std::max(kLeast, dollars.value_or(static_cast<double>(total(usage)) / 1e6));
}

Spending::Spent spent_before(const results::Archive& archive, int64_t campaign) {
  const results::ModelSpend spend = archive.model_spend(campaign);
  return {spend.requests, spend.tokens, spend.dollars};
}
}  // namespace

Answer answer_of(const results::NewReply& reply) {
  if (reply.outcome == "completion") {
    return Completion{reply.reply, reply.model, reply.complete, usage_of(reply), reply.tries, reply.seconds};
  }
  return NoCompletion{cause_from_name(reply.outcome).value_or(NoCompletion::Cause::unreachable), reply.what,
                      usage_of(reply), reply.tries, reply.seconds};
}

Json to_json(const Prompt& prompt) {
  Json turns = Json::array();
  for (const Turn& turn : prompt.turns) {
    Json sections = Json::array();
    for (const Section& section : turn.sections) sections.push_back(section.text);
    turns.push_back(
        {{"speaker", turn.speaker == Turn::Speaker::user ? "user" : "assistant"}, {"sections", std::move(sections)}});
  }
  return {{"system", prompt.system}, {"turns", std::move(turns)}};
}

Prompt prompt_from_json(const Json& json) {
  Prompt prompt;
  prompt.system = json.at("system").get<std::string>();
  for (const Json& turn : json.at("turns")) {
    Turn& made = prompt.turns.emplace_back();
    made.speaker = turn.at("speaker") == "user" ? Turn::Speaker::user : Turn::Speaker::assistant;
    for (const Json& section : turn.at("sections")) made.sections.push_back({section.get<std::string>(), false});
  }
  return prompt;
}

Exchanges::Exchanges(results::Archive& archive, int64_t campaign, std::vector<Model*> models, const Prices& prices,
                     Sampling sampling, SpendingLimits limits, Mailbox& mailbox)
    : archive_(archive),
      campaign_(campaign),
      models_(std::move(models)),
      prices_(prices),
      sampling_(sampling),
      spending_(limits, spent_before(archive, campaign)),
      mailbox_(mailbox) {
  for (results::ExchangeRecord& record : archive.exchanges_of_campaign(campaign)) {
    if (!record.reply) continue;
    usage_ += usage_of(*record.reply);
    recorded_.emplace(std::pair(record.request.problem, record.request.number), std::move(record));
  }
}

Exchanges::~Exchanges() { withdraw(); }

void Exchanges::withdraw() {
  if (in_flight_ == 0) return;
  for (Model* model : models_) model->cancel();
}

// Everything that is sent and everything that may come back.
Reserve Exchanges::reserve_for(const Prompt& prompt, size_t model) const {
  Usage most;
  most.input = static_cast<int64_t>(static_cast<double>(estimate_tokens(prompt)) * kEstimateMargin);
  most.output = sampling_.max_output_tokens;
  Usage written = most;  // writing to a cache costs more than reading
  std::swap(written.input, written.cache_written);
  const std::string& name = models_[model]->name();
  std::optional<double> dollars = prices_.cost(most, name);
  if (const auto dearer = prices_.cost(written, name); dollars && dearer) dollars = std::max(*dollars, *dearer);
  return {total(most), dollars};
}

std::optional<std::string> Exchanges::why_not(const std::string& problem, const Prompt& prompt, size_t model) const {
  const auto asked = asked_.find(problem);
  const int64_t number = asked == asked_.end() ? 1 : asked->second + 1;
  if (recorded_.count({problem, number}) > 0) return std::nullopt;
  return spending_.why_not(reserve_for(prompt, model));
}

void Exchanges::ask(const std::string& problem, const Prompt& prompt, size_t model, const Json& proposal,
                    std::function<void(Answered)> answered) {
  const int64_t number = ++asked_[problem];
  ++in_flight_;
  if (const auto found = recorded_.find({problem, number}); found != recorded_.end()) {
    const results::NewReply& reply = *found->second.reply;
    Answered recalled{found->second.reply_id, answer_of(reply), cost_of(usage_of(reply), reply.dollars), true};
    return mailbox_.post([this, recalled, answered = std::move(answered), here = std::weak_ptr<bool>(here_)] {
      if (here.expired()) return;
      --in_flight_;
      answered(recalled);
    });
  }
  const Reserve reserve = reserve_for(prompt, model);
  const int64_t request = archive_.add_request({campaign_, problem, number, models_[model]->name(), proposal,
                                                to_json(prompt), prompt.hash(), reserve.tokens, reserve.dollars});
  spending_.reserve(reserve);
  models_[model]->ask({problem, number}, prompt, sampling_,
                      [this, request, reserve, model, answered = std::move(answered), &mailbox = mailbox_,
                       here = std::weak_ptr<bool>(here_)](Answer answer) {
                        mailbox.post([this, request, reserve, model, answered, here, answer = std::move(answer)] {
                          if (!here.expired()) arrived(request, reserve, model, answer, answered);
                        });
                      });
}

void Exchanges::arrived(int64_t request, const Reserve& reserve, size_t model, Answer answer,
                        const std::function<void(Answered)>& answered) {
  const Usage& usage = usage_of(answer);
  const std::optional<double> dollars = prices_.cost(usage, models_[model]->name());
  spending_.settle(reserve, usage, dollars);
  usage_ += usage;
  --in_flight_;
  const double cost = cost_of(usage, dollars);
  const int64_t reply = archive_.add_reply(record_of(request, answer, dollars));
  answered({reply, std::move(answer), cost, false});
}

}  // namespace agent
