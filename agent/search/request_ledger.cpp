#include "agent/search/request_ledger.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "agent/models/model.h"

namespace agent::search {
namespace {
using core::Json;
using Kind = results::archive::StepRecord::Kind;
constexpr int64_t kUsualPrompt = 8'000, kUsualReply = 4'000;  // tokens
constexpr double kEstimateMargin = 1.3;                       // a prompt's estimated tokens may be low by this factor

int64_t total(const models::Usage& usage) {
  return usage.input + usage.cache_read + usage.cache_written + usage.output;
}

models::Usage usage_of(const results::archive::NewReply& reply) {
  return {reply.input, reply.cache_read, reply.cache_written, reply.output, reply.estimated};
}

results::archive::NewReply record_of(int64_t request, const models::Answer& answer, std::optional<double> dollars) {
  results::archive::NewReply record;
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
  if (const auto* completion = std::get_if<models::Completion>(&answer)) {
    keep(*completion);
    record.outcome = "completion";
    record.model = completion->model;
    record.reply = completion->text;
    record.complete = completion->complete;
  } else {
    const auto& none = std::get<models::NoCompletion>(answer);
    keep(none);
    record.outcome = std::string(name_of(none.cause));
    record.what = none.what;
  }
  record.dollars = dollars;
  return record;
}

const models::Usage& usage_of(const models::Answer& answer) {
  return std::visit([](const auto& of) -> const models::Usage& { return of.usage; }, answer);
}

// A proposal without what its prompt names and shows, which earlier versions did not record and which may change with
// the wording of prompts.
Json task_of(Json proposal) {
  if (!proposal.is_object()) return proposal;
  for (const char* field : {"advice", "limit", "exemplar", "cards", "model_reason"}) proposal.erase(field);
  return proposal;
}

Reserve reserve_of(const results::archive::NewRequest& request) {
  return {request.reserved_tokens, request.reserved_dollars};
}
}  // namespace

models::Answer answer_of(const results::archive::NewReply& reply) {
  if (reply.outcome == "completion") {
    return models::Completion{reply.reply, reply.model, reply.complete, usage_of(reply), reply.tries, reply.seconds};
  }
  return models::NoCompletion{core::enum_from_name<models::NoCompletion::Cause>(reply.outcome)
                                  .value_or(models::NoCompletion::Cause::unreachable),
                              reply.what, usage_of(reply), reply.tries, reply.seconds};
}

Json to_json(const models::Prompt& prompt) {
  Json turns = Json::array();
  for (const models::Turn& turn : prompt.turns) {
    Json sections = Json::array();
    for (const models::Section& section : turn.sections) sections.push_back(section.text);
    turns.push_back({{"speaker", turn.speaker == models::Turn::Speaker::user ? "user" : "assistant"},
                     {"sections", std::move(sections)}});
  }
  return {{"system", prompt.system}, {"turns", std::move(turns)}};
}

models::Prompt prompt_from_json(const Json& json) {
  models::Prompt prompt;
  prompt.system = json.at("system").get<std::string>();
  for (const Json& turn : json.at("turns")) {
    models::Turn& made = prompt.turns.emplace_back();
    made.speaker = turn.at("speaker") == "user" ? models::Turn::Speaker::user : models::Turn::Speaker::assistant;
    for (const Json& section : turn.at("sections")) made.sections.push_back({section.get<std::string>(), false});
  }
  return prompt;
}

RequestLedger::RequestLedger(results::archive::Recorder& archive, int64_t campaign, std::vector<models::Model*> models,
                             const models::Prices& prices, models::Sampling sampling, SpendingLimits limits,
                             EventLoop& event_loop, Journal& journal)
    : archive_(archive),
      campaign_(campaign),
      models_(std::move(models)),
      prices_(prices),
      counts_dollars_(std::ranges::all_of(
          models_, [&](const models::Model* model) { return prices.find(model->name()) != nullptr; })),
      sampling_(within(limits, sampling)),
      spending_(limits, {}),
      event_loop_(event_loop),
      journal_(journal) {
  for (results::archive::RequestRecord& record : archive.requests_of_campaign(campaign)) {
    const int64_t id = record.id;
    records_.emplace(id, std::move(record));
  }
  for (const Journal::Step& step : journal.before()) {
    if (step.kind == Kind::request) {
      const results::archive::NewRequest& request = recorded(step.id).request;
      spending_.reserve(reserve_of(request));
      waiting_[step.id] = {request.problem, request.number, 0, {}, {}, reserve_of(request), {}};
    } else if (step.kind == Kind::reply) {
      take_reply(recorded(step.id), std::move(waiting_.extract(step.id).mapped()));
    }
  }
  journal_.on_model_step([this](const Journal::Step& step) { take(step); });
  journal_.on_finish([this] { take_left(); });
  journal_.on_unanswered([this] { return ask_again(); });
}

RequestLedger::~RequestLedger() { withdraw(); }

void RequestLedger::withdraw() {
  for (auto& waiting : waiting_) {
    if (std::exchange(waiting.second.answered, {})) --in_flight_;
  }
  if (in_flight_ == 0) return;
  for (models::Model* model : models_) model->cancel();
}

// The most that the request can cost: the whole prompt and the longest reply.
Reserve RequestLedger::reserve_for(const models::Prompt& prompt, size_t model) const {
  models::Usage most;
  most.input = static_cast<int64_t>(static_cast<double>(models::estimate_tokens(prompt)) * kEstimateMargin);
  most.output = sampling_.max_output_tokens;
  models::Usage written = most;  // writing to a cache costs more than reading
  std::swap(written.input, written.cache_written);
  const std::string& name = models_[model]->name();
  std::optional<double> dollars = prices_.cost(most, name);
  if (const auto dearer = prices_.cost(written, name); dollars && dearer) dollars = std::max(*dollars, *dearer);
  return {total(most), dollars};
}

double RequestLedger::cost_of(const models::Usage& usage, std::optional<double> dollars) const {
  constexpr double kLeast = 1e-6;
  const double millions = static_cast<double>(total(usage)) / 1e6;
  return std::max(kLeast, counts_dollars_ ? dollars.value_or(millions) : millions);
}

double RequestLedger::usual_cost(size_t model) const {
  const models::Usage usual{kUsualPrompt, 0, 0, kUsualReply, true};
  return cost_of(usual, prices_.cost(usual, models_[model]->name()));
}

bool RequestLedger::is_next(const std::string& problem, int64_t number) const {
  const Journal::Step* const step = journal_.next();
  if (step == nullptr || step->kind != Kind::request) return false;
  const results::archive::NewRequest& request = recorded(step->id).request;
  return request.problem == problem && request.number == number;
}

std::optional<std::string> RequestLedger::why_not(const std::string& problem, const models::Prompt& prompt,
                                                  size_t model, const Request* then) const {
  const auto asked = asked_.find(problem);
  if (is_next(problem, asked == asked_.end() ? 1 : asked->second + 1)) return std::nullopt;
  const Reserve first = reserve_for(prompt, model);
  std::optional<std::string> why = spending_.why_not(first);
  if (why || then == nullptr) return why;
  Spending with_first = spending_;
  with_first.reserve(first);
  return with_first.why_not(reserve_for(then->prompt, then->model));
}

Reserve RequestLedger::hold(const Request& request) {
  const Reserve held = reserve_for(request.prompt, request.model);
  spending_.reserve(held);
  return held;
}

void RequestLedger::ask(const std::string& problem, const models::Prompt& prompt, size_t model, const Json& proposal,
                        std::function<void(Answered)> answered) {
  const int64_t number = ++asked_[problem];
  Waiting request{problem, number, model, proposal, prompt, {}, std::move(answered)};
  if (is_next(problem, number)) {
    const results::archive::RequestRecord& record = recorded(journal_.next()->id);
    const std::string difference = this->difference(record, request);
    if (!difference.empty()) {
      journal_.diverge("request " + std::to_string(number) + " of " + problem + " " + record.request.proposal.dump() +
                           ", prompt " + record.request.prompt_hash.substr(0, 12),
                       proposal.dump() + ", prompt " + prompt.hash().substr(0, 12) + ": " + difference);
    } else {
      journal_.take();
      request.reserve = reserve_of(record.request);
      spending_.reserve(request.reserve);
      ++in_flight_;
      waiting_[record.id] = std::move(request);
      return;
    }
  } else if (const Journal::Step* const step = journal_.next()) {
    journal_.diverge(describe(*step),
                     "request " + std::to_string(number) + " of " + problem + " " + proposal.dump() + " is sent");
  }
  send(std::move(request));
}

// Compares a request with the recorded one. A different prompt matters only in a replay; the recorded reply remains
// usable.
std::string RequestLedger::difference(const results::archive::RequestRecord& was, const Waiting& now) const {
  if (task_of(was.request.proposal) != task_of(now.proposal)) return "another task or other parents";
  if (was.request.model != models_[now.model]->name()) return "another model";
  if (journal_.replays() && was.request.prompt_hash != now.prompt.hash()) return "another prompt";
  return "";
}

void RequestLedger::brought(int64_t reply, int64_t solution) {
  const auto record = std::find_if(records_.begin(), records_.end(),
                                   [&](const auto& numbered) { return numbered.second.reply_id == reply; });
  if (journal_.recalls() && record != records_.end()) {
    const std::vector<int64_t>& known = record->second.solutions;
    if (std::find(known.begin(), known.end(), solution) == known.end()) {
      journal_.diverge("the reply to request " + std::to_string(record->first) + " did not propose solution " +
                           std::to_string(solution),
                       "it does");
    }
  }
  archive_.add_proposed(reply, solution);
}

void RequestLedger::brought_nothing(int64_t reply, const std::string& why) {
  if (!journal_.is_recalling() && !journal_.replays()) {
    archive_.add_event(campaign_, std::string(results::archive::kUnusableReply), {{"reply", reply}, {"why", why}});
  }
}

void RequestLedger::send(Waiting asked) {
  ++in_flight_;
  if (post_left(asked)) return;
  asked.reserve = reserve_for(asked.prompt, asked.model);
  spending_.reserve(asked.reserve);
  if (journal_.replays()) return;  // a replay has no models to answer
  const int64_t request =
      archive_.add_request({campaign_, asked.problem, asked.number, models_[asked.model]->name(), asked.proposal,
                            to_json(asked.prompt), asked.prompt.hash(), asked.reserve.tokens, asked.reserve.dollars});
  hand_over(request, std::move(asked));
}

void RequestLedger::hand_over(int64_t request, Waiting asked) {
  auto kept = std::make_shared<Waiting>(std::move(asked));
  models_[kept->model]->ask(
      {kept->problem, kept->number}, kept->prompt, sampling_,
      [this, request, kept, &event_loop = event_loop_, here = std::weak_ptr<bool>(here_)](models::Answer answer) {
        event_loop.post([this, request, kept, here, answer = std::move(answer)] {
          if (!here.expired()) arrived(request, *kept, answer);
        });
      });
}

void RequestLedger::arrived(int64_t request, Waiting& asked, models::Answer answer) {
  const models::Usage& usage = usage_of(answer);
  const std::optional<double> dollars = prices_.cost(usage, models_[asked.model]->name());
  spending_.settle(asked.reserve, usage, dollars);
  usage_ += usage;
  --in_flight_;
  const double cost = cost_of(usage, dollars);
  const int64_t reply = archive_.add_reply(record_of(request, answer, dollars));
  asked.answered({reply, std::move(answer), cost});
}

// Takes the next recorded step.
void RequestLedger::take(const Journal::Step& step) {
  const results::archive::RequestRecord& record = recorded(step.id);
  if (step.kind == Kind::request) {
    const auto before = asked_.find(record.request.problem);
    if (before == asked_.end() || record.request.number > before->second) {
      return journal_.diverge(describe(step) + " " + record.request.proposal.dump() + " is sent", "it is not");
    }
    journal_.take();
    return take_again(record);
  }
  auto waiting = waiting_.extract(step.id);
  if (waiting.empty()) return journal_.diverge(describe(step), "it was not asked");
  journal_.take();
  take_reply(record, std::move(waiting.mapped()));
}

// The campaign was resumed here: the earlier request still counts, but no reply to it will come.
void RequestLedger::take_again(const results::archive::RequestRecord& record) {
  for (auto waiting = waiting_.begin(); waiting != waiting_.end(); ++waiting) {
    if (waiting->second.number != record.request.number || waiting->second.problem != record.request.problem) continue;
    Waiting again = std::move(waiting->second);
    waiting_.erase(waiting);
    spending_.lose(again.reserve);
    again.reserve = reserve_of(record.request);
    spending_.reserve(again.reserve);
    waiting_[record.id] = std::move(again);
    return;
  }
}

void RequestLedger::take_reply(const results::archive::RequestRecord& record, Waiting waiting) {
  const results::archive::NewReply& reply = *record.reply;
  const models::Usage usage = usage_of(reply);
  spending_.settle(waiting.reserve, usage, reply.dollars);
  usage_ += usage;
  if (!waiting.answered) return;
  --in_flight_;
  journal_.recall([&] { waiting.answered({record.reply_id, answer_of(reply), cost_of(usage, reply.dollars)}); });
}

// Earlier versions recorded no order: charges recorded replies at once and hands each over when it is requested.
void RequestLedger::take_left() {
  using Step = Journal::Step;
  while (const auto left = journal_.take_left([](const Step& step) { return step.kind == Kind::reply; })) {
    const results::archive::RequestRecord& record = recorded(left->id);
    const auto waiting = waiting_.extract(record.id);
    const Reserve reserve = waiting.empty() ? reserve_of(record.request) : waiting.mapped().reserve;
    if (waiting.empty()) spending_.reserve(reserve);
    spending_.settle(reserve, usage_of(*record.reply), record.reply->dollars);
    usage_ += usage_of(*record.reply);
    left_[{record.request.problem, record.request.number}] = record.id;
    if (!waiting.empty()) post_left(std::move(waiting.mapped()));
  }
  while (const auto left = journal_.take_left([](const Step& step) { return step.kind == Kind::request; })) {
    const results::archive::RequestRecord& record = recorded(left->id);
    if (record.reply) continue;
    spending_.reserve(reserve_of(record.request));
    spending_.lose(reserve_of(record.request));
  }
}

bool RequestLedger::post_left(const Waiting& asked) {
  const auto left = left_.extract(std::pair(asked.problem, asked.number));
  if (left.empty()) return false;
  const results::archive::RequestRecord& record = recorded(left.mapped());
  event_loop_.post([this, &record, answered = asked.answered, here = std::weak_ptr<bool>(here_)] {
    if (here.expired()) return;
    --in_flight_;
    const results::archive::NewReply& reply = *record.reply;
    journal_.recall([&] { answered({record.reply_id, answer_of(reply), cost_of(usage_of(reply), reply.dollars)}); });
  });
  return true;
}

// Sends one request at a time and awaits its result, or hands over all that their models keep.
bool RequestLedger::ask_again() {
  bool handed_over = false;
  while (!waiting_.empty()) {
    auto lost = waiting_.extract(waiting_.begin());
    Waiting& request = lost.mapped();
    if (request.answered && models_[request.model]->keeps_requests()) {
      hand_over(lost.key(), std::move(request));
      handed_over = true;
      continue;
    }
    spending_.lose(request.reserve);
    if (!request.answered) continue;
    --in_flight_;
    const auto why = spending_.why_not(reserve_for(request.prompt, request.model));
    if (!why) {
      send(std::move(request));
      return true;
    }
    models::NoCompletion none;
    none.cause = models::NoCompletion::Cause::cancelled;
    none.what = "the campaign was interrupted before the answer came, and the request cannot be sent again: " + *why;
    none.usage = {request.reserve.tokens, 0, 0, 0, true};
    const int64_t reply = archive_.add_reply(record_of(lost.key(), none, request.reserve.dollars));
    request.answered({reply, none, cost_of(none.usage, request.reserve.dollars)});
    return true;
  }
  return handed_over;
}

}  // namespace agent::search
