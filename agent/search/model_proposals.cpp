#include "agent/search/model_proposals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/prompting/code_facts.h"
#include "agent/prompting/identity.h"
#include "core/text.h"
#include "verifier/verdicts/verdict_words.h"

namespace agent::search {
namespace {
using core::Json;
constexpr size_t kBacklog = 2;    // waiting trials per slot, beside those in progress
constexpr int kMostFailures = 5;  // consecutive requests without a usable answer
constexpr size_t kMostUnusable = 6;
constexpr size_t kAuthorBytes = 80;
constexpr size_t kLineBytes = 240;  // per line of the list of failures

std::string_view kind_word(const prompting::CodeFacts& facts) {
  if (facts.tensor_cores) return "tensor";
  if (facts.tma || facts.async_copies) return "async";
  if (facts.shared) return "shared";
  if (facts.shuffles > 0) return "warp";
  return facts.vector_bytes >= 16 || facts.explicit_vectors || facts.wide_struct ? "vector" : "plain";
}

// For the archive, with what the prompt shows. Of a solution to improve also what it names: the limit, and the advice
// against it. v_cards and v_advice relate them to the outcome.
Json to_json(const Inquiry& inquiry, const Population& population, const prompting::MadePrompt& made) {
  Json parents = Json::array();
  for (const size_t parent : inquiry.parents) parents.push_back(population[parent].name);
  Json json{{"operator", name_of(inquiry.task)}, {"parents", parents}, {"line", inquiry.line}};
  if (!made.exemplar.empty()) json["exemplar"] = made.exemplar;
  if (!made.cards.empty()) json["cards"] = made.cards;
  if (inquiry.task != prompting::Operator::improve) return json;
  const std::optional<prompting::Diagnosis>& diagnosis = population[inquiry.parents.front()].diagnosis;
  if (!diagnosis || diagnosis->bottlenecks.empty()) return json;
  json["limit"] = name_of(diagnosis->bottlenecks.front());
  if (diagnosis->advice) json["advice"] = name_of(*diagnosis->advice);
  return json;
}

// Costs are in the ledger's unit.
std::vector<learning::KnownModel> known_models(const RequestLedger& ledger, const learning::Lessons& lessons,
                                               size_t models) {
  std::vector<learning::KnownModel> known;
  for (size_t i = 0; i < models; ++i) {
    learning::KnownModel& model = known.emplace_back();
    model.usual_cost = ledger.usual_cost(i);
    const auto found = lessons.models.find(ledger.model_name(i));
    if (found == lessons.models.end()) continue;
    const results::archive::ModelRecord& record = found->second;
    if (ledger.counts_dollars() && !record.dollars) continue;
    model.requests = static_cast<double>(record.requests);
    model.gain = record.gain;
    model.cost = ledger.counts_dollars() ? *record.dollars : static_cast<double>(record.tokens) / 1e6;
  }
  return known;
}
}  // namespace

ModelProposals::ModelProposals(const prompting::ProblemText& problem, const prompting::DeviceText& device,
                               const prompting::PromptMaker& maker, RequestLedger& ledger, ProblemSearch& search,
                               results::archive::Recorder& archive, Progress& progress,
                               const ModelSearchSettings& settings, uint64_t seed, std::string prefix)
    : problem_(problem),
      device_(device),
      maker_(maker),
      ledger_(ledger),
      search_(search),
      archive_(archive),
      progress_(progress),
      settings_(settings),
      strategy_(make_strategy(settings.strategy, {seed, settings.lines})),
      prefix_(std::move(prefix)),
      card_choice_(settings.lessons.cards),
      writers_(settings.planner.value_or(ledger.models())),
      model_choice_(writers_, known_models(ledger, settings.lessons, writers_)) {}

ModelProposals::~ModelProposals() {
  for (const auto& [running, reserve] : held_) ledger_.release(reserve);
  ledger_.withdraw();
}

size_t ModelProposals::add_known(const NamedSolution& named) {
  Member member;
  member.name = "s" + std::to_string(population_.size() + 1);
  member.solution = named.solution;
  member.origin = named.origin;
  member.line = kEveryLine;
  const size_t index = population_.add(std::move(member));
  identities_.emplace(prompting::identity_of(named.solution.source), index);
  return index;
}

void ModelProposals::judged(size_t index, const JudgedPoint& point) {
  Member& member = population_[index];
  if (!point.speed_up || *point.speed_up <= member.speed_up()) return;
  member.best = point;
  describe(member);
}

// Sets the member's bottleneck and, from it, its niche.
void ModelProposals::describe(Member& member) const {
  const JudgedPoint& point = member.best ? *member.best : member.probe.value();
  member.diagnosis =
      prompting::diagnose(facts_of(point.attempt, member.solution, point.binding, "the best so far", device_),
                          problem_.problem, device_.backend);
  const benchsuite::Workload* bench = prompting::first_bench(problem_.problem, device_.backend);
  if (bench == nullptr || !member.best) return;
  const prompting::CodeFacts facts = prompting::facts_of(member.solution, point.binding, bench->axes, problem_.problem);
  const auto& limits = member.diagnosis->bottlenecks;
  member.niche = std::string(kind_word(facts)) + "/" + (limits.empty() ? "" : std::string(name_of(limits.front())));
}

double ModelProposals::best_of_line(int line) const {
  const std::vector<size_t> ranked = population_.ranked(line);
  return ranked.empty() ? 0 : population_[ranked.front()].speed_up();
}

prompting::KnownSolution ModelProposals::known(size_t index) const {
  const Member& member = population_[index];
  prompting::KnownSolution known;
  known.name = member.name;
  known.solution = member.solution;
  const JudgedPoint* point = member.best ? &*member.best : member.probe ? &*member.probe : nullptr;
  known.binding = point != nullptr ? point->binding : sandbox::default_binding(member.solution);
  if (point == nullptr) return known;
  known.registers = point->attempt.registers;
  known.shared_bytes = point->attempt.shared_bytes;
  known.spill_bytes = point->attempt.spill_bytes;
  if (!member.best || !point->attempt.measurement) return known;
  const verifier::verdicts::Measurement& measured = *point->attempt.measurement;
  const double scale = member.speed_up() / measured.speed_up.value;  // from the incumbent to naive
  known.speed_up =
      verifier::statistics::SpeedUp{member.speed_up(), measured.speed_up.low * scale, measured.speed_up.high * scale};
  if (!measured.workloads.empty()) {
    known.time_us = measured.workloads.front().candidate_us;
    known.share_of_bound = measured.workloads.front().share_of_bound();
  }
  return known;
}

// The latest failures first: wrong or slow solutions, and unreadable replies.
std::vector<std::string> ModelProposals::tried() const {
  std::vector<std::string> lines(unusable_.rbegin(), unusable_.rend());
  const std::vector<size_t> ranked = population_.ranked();
  const double best = ranked.empty() ? 0 : population_[ranked.front()].speed_up();
  const std::set<size_t> shown(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                    ranked.size(), prompting::PromptLimits().known)));
  for (size_t i = population_.size(); i-- > 0;) {
    if (shown.count(i) > 0) continue;  // among the best solutions, with its figures
    const Member& member = population_[i];
    const std::string what = member.solution.description.empty() ? "" : " (\"" + member.solution.description + "\")";
    if (member.correct() && member.speed_up() < best) {
      lines.push_back(core::clean_line(
          fmt::format("{}{}: correct, but only {:.2f}x over naive", member.name, what, member.speed_up()), kLineBytes));
    } else if (member.probe && !member.correct()) {
      lines.push_back(core::clean_line(
          member.name + what + ": " + verifier::verdicts::sentence_for_people(member.probe->attempt.verdict),
          kLineBytes));
    }
  }
  return lines;
}

prompting::MadePrompt ModelProposals::prompt_for(const Inquiry& inquiry) const {
  prompting::PromptFacts facts;
  facts.problem = problem_;
  facts.device = device_;
  facts.task = inquiry.task;
  for (const size_t parent : inquiry.parents) facts.parents.push_back(known(parent));
  for (const size_t index : population_.ranked()) {
    if (std::find(inquiry.parents.begin(), inquiry.parents.end(), index) == inquiry.parents.end()) {
      facts.known.push_back(known(index));
    }
  }
  facts.tried = tried();
  if (!inquiry.parents.empty()) facts.diagnosis = population_[inquiry.parents.front()].diagnosis;
  if (inquiry.parents.size() > 1) facts.second_diagnosis = population_[inquiry.parents[1]].diagnosis;
  facts.alongside = under_way_.count({inquiry.task, inquiry.parents});
  facts.naive_us = search_.naive_us();
  if (const auto seen = seen_cards_.find(inquiry.line); seen != seen_cards_.end()) facts.seen_cards = seen->second;
  facts.wanted = settings_.wanted;
  facts.exemplar = settings_.lessons.exemplar;
  facts.card_worths = card_choice_.worths(maker_.cards());
  const prompting::PromptLimits limits = prompting::limits_for(ledger_.sampling());
  prompting::MadePrompt made = maker_.make(facts, limits);
  for (; asked_.count(made.prompt.hash()) > 0; made = maker_.make(facts, limits)) ++facts.alongside;
  return made;
}

// A repair has its plan: the fault.
bool ModelProposals::plans(const Inquiry& inquiry) const {
  return settings_.planner && inquiry.task != prompting::Operator::repair;
}

RequestLedger::Request ModelProposals::plan_request(const Running& running) const {
  return {maker_.plan(running.made.prompt), *settings_.planner};
}

RequestLedger::Request ModelProposals::longest_planned(const Running& running) const {
  const std::string longest(prompting::kMostPlanBytes, 'x');
  return {maker_.planned(running.made.prompt, longest), running.model};
}

ModelProposals::RunningPtr ModelProposals::next_inquiry() {
  const std::optional<Inquiry> inquiry = strategy_->next(population_);
  if (!inquiry) return nullptr;
  auto running = std::make_shared<Running>();
  running->inquiry = *inquiry;
  const learning::ModelChoice::Choice choice = model_choice_.choose();
  running->model = choice.model;
  running->made = prompt_for(*inquiry);
  running->proposal = to_json(*inquiry, population_, running->made);
  if (writers_ > 1) running->proposal["model_reason"] = name_of(choice.reason);
  if (!running->made.left_out.empty() && !said_what_is_left_out_) {
    said_what_is_left_out_ = true;
    progress_.warned(fmt::format("{}: to fit the model's context, prompts leave out: {}", problem_.problem.name,
                                 core::join(running->made.left_out, ", ")));
  }
  running->best_before = best_of_line(inquiry->line);
  running->yield.cost = 0;
  return running;
}

void ModelProposals::tend() {
  const size_t slots = 1 + search_.side_by_side();
  while (!stopped_ && requests_in_flight_ < static_cast<size_t>(settings_.in_flight) &&
         search_.trials() < kBacklog * slots + slots) {
    if (in_vain_ >= settings_.patience) {
      stopped_ = fmt::format("converged: {} replies in a row made nothing faster", in_vain_);
      return;
    }
    const RunningPtr running = postponed_ ? std::exchange(postponed_, nullptr) : next_inquiry();
    if (!running) {
      if (requests_in_flight_ == 0 && search_.trials() == 0) stopped_ = "";  // the tuner says why
      return;
    }
    const Inquiry& inquiry = running->inquiry;
    if (auto why = why_not(*running)) {
      if (requests_in_flight_ > 0) {
        postponed_ = running;  // requests in flight may release enough of their reserves
      } else {
        stopped_ = std::move(why);
      }
      return;
    }
    seen_cards_[inquiry.line].insert(running->made.cards.begin(), running->made.cards.end());
    card_choice_.sent(running->made.cards);
    asked_.insert(running->made.prompt.hash());
    under_way_.emplace(inquiry.task, inquiry.parents);
    for (const size_t parent : inquiry.parents) ++population_[parent].asked;
    begin(running);
  }
}

std::optional<std::string> ModelProposals::why_not(const Running& running) const {
  const std::string& problem = problem_.problem.name;
  if (!plans(running.inquiry)) return ledger_.why_not(problem, running.made.prompt, running.model);
  const RequestLedger::Request plan = plan_request(running), then = longest_planned(running);
  return ledger_.why_not(problem, plan.prompt, plan.model, &then);
}

void ModelProposals::begin(const RunningPtr& running) {
  running->planning = plans(running->inquiry);
  if (!running->planning) return ask(running, running->made.prompt, running->model, running->proposal);
  // Without the limit and the advice: whether they help, only a solution shows (v_advised).
  Json proposal{{"operator", "plan"}, {"for", running->proposal.at("operator")}};
  for (const char* field : {"parents", "line"}) proposal[field] = running->proposal.at(field);
  held_[running] = ledger_.hold(longest_planned(*running));
  const RequestLedger::Request plan = plan_request(*running);
  ask(running, plan.prompt, plan.model, proposal);
}

void ModelProposals::ask(const RunningPtr& running, const models::Prompt& prompt, size_t model, const Json& proposal) {
  ++requests_in_flight_;
  ledger_.ask(problem_.problem.name, prompt, model, proposal,
              [this, running, prompt, here = std::weak_ptr<bool>(here_)](const Answered& answer) {
                if (here.expired()) return;  // the search of its problem has ended
                --requests_in_flight_;
                answered(running, prompt, answer);
              });
}

void ModelProposals::answered(const RunningPtr& running, const models::Prompt& prompt, const Answered& answer) {
  running->yield.cost += answer.cost;
  ReplyReport report;
  report.problem = problem_.problem.name;
  report.model = ledger_.model_name(running->planning ? *settings_.planner : running->model);
  report.task = std::string(running->planning ? "plan" : name_of(running->inquiry.task));
  report.usage = ledger_.usage();
  report.dollars = ledger_.spending().spent().dollars;
  report.requests = ledger_.spending().spent().requests;
  report.in_flight = ledger_.in_flight();
  if (const auto* none = std::get_if<models::NoCompletion>(&answer.answer)) report.failed = none->what;
  for (const std::string& warning : ledger_.warnings()) progress_.warned(warning);
  progress_.answered(report);
  if (const auto held = held_.extract(running)) ledger_.release(held.mapped());
  if (const auto* none = std::get_if<models::NoCompletion>(&answer.answer)) {
    no_completion(*none);
    return conclude(running);
  }
  failures_ = 0;
  if (running->planning) return planned(running, std::get<models::Completion>(answer.answer), answer.reply);
  if (use(running, std::get<models::Completion>(answer.answer), answer.reply, prompt)) return;
  if (running->trials == 0) conclude(running);
}

void ModelProposals::planned(const RunningPtr& running, const models::Completion& plan, int64_t reply) {
  running->planning = false;
  ledger_.brought_nothing(reply, "a plan, for the next request");
  const models::Prompt prompt = maker_.planned(running->made.prompt, plan.text);
  if (stopped_ || ledger_.why_not(problem_.problem.name, prompt, running->model)) return conclude(running);
  ask(running, prompt, running->model, running->proposal);
}

// Retrying some failures would only cost again.
void ModelProposals::no_completion(const models::NoCompletion& none) {
  using Cause = models::NoCompletion::Cause;
  ++failures_;
  const bool for_good = none.cause == Cause::unauthorized || none.cause == Cause::bad_request ||
                        none.cause == Cause::exhausted || none.cause == Cause::cancelled;
  if (for_good || failures_ >= kMostFailures) stopped_ = "no more replies: " + none.what;
}

// Returns true if the reply was sent back to its author.
bool ModelProposals::use(const RunningPtr& running, const models::Completion& completion, int64_t reply,
                         const models::Prompt& prompt) {
  prompting::Asked asked{&problem_.problem, device_.backend, running->made.parents, completion.complete};
  prompting::Reply read = prompting::read_reply(completion.text, asked);
  const std::string& asked_model = ledger_.model_name(running->model);
  const std::string& author = completion.model.empty() ? asked_model : completion.model;
  for (prompting::Proposal& proposal : read.proposals) begin_trial(running, std::move(proposal), reply, author);
  if (!read.proposals.empty()) return false;
  const std::string why = core::clean_line(read.reasons.front(), kLineBytes);
  ledger_.brought_nothing(reply, why);
  progress_.noted("a reply of " + core::clean_line(author, kAuthorBytes) + " is unusable: " + why);
  if (!running->again && !stopped_) {
    models::Prompt again = maker_.retry(prompt, completion.text, read.reasons);
    if (!ledger_.why_not(problem_.problem.name, again, running->model)) {
      running->again = true;
      ask(running, again, running->model, running->proposal);
      return true;
    }
  }
  unusable_.push_back(core::clean_line("an unusable reply: " + why, kLineBytes));
  if (unusable_.size() > kMostUnusable) unusable_.erase(unusable_.begin());
  return false;
}

void ModelProposals::begin_trial(const RunningPtr& running, prompting::Proposal proposal, int64_t reply,
                                 const std::string& author) {
  const std::string identity = prompting::identity_of(proposal.solution.source);
  if (const auto same = identities_.find(identity); same != identities_.end()) {
    const std::string& known = population_[same->second].name;
    unusable_.push_back("the same solution as " + known + " once more");
    ledger_.brought_nothing(reply, "the same solution as " + prefix_ + known + " once more");
    progress_.noted(core::clean_line(author, kAuthorBytes) + " proposed " + prefix_ + known +
                    " again: it is known and not judged again");
    if (unusable_.size() > kMostUnusable) unusable_.erase(unusable_.begin());
    return;
  }
  Member member;
  member.name = "s" + std::to_string(population_.size() + 1);
  member.solution = proposal.solution;
  member.origin = core::clean_line(author, kAuthorBytes);
  member.parents = running->inquiry.parents;
  member.line = running->inquiry.line;
  const size_t index = population_.add(std::move(member));
  identities_.emplace(identity, index);
  ++running->trials;

  NamedSolution named{std::move(proposal.solution), prefix_ + population_[index].name, population_[index].origin};
  std::optional<int64_t> parent;
  if (!running->inquiry.parents.empty()) {
    const Member& first = population_[running->inquiry.parents.front()];
    parent = archive_.add_solution({&first.solution, first.name, first.origin, {}});
  }
  ledger_.brought(reply, archive_.add_solution({&named.solution, named.name, named.origin, parent}));
  ProblemSearch::TrialPlan plan;
  plan.solutions.push_back(std::move(named));
  plan.tuner = settings_.tuner;
  plan.probe = true;
  plan.ended = [this, running, index](const TrialResult& result) { trial_ended(running, index, result); };
  search_.add(std::move(plan));
}

void ModelProposals::trial_ended(const RunningPtr& running, size_t index, const TrialResult& result) {
  Member& member = population_[index];
  member.probe = result.probe;
  member.best = result.best;
  member.new_best = result.new_best;
  if (member.probe || member.best) describe(member);
  running->yield.members.push_back(index);
  if (--running->trials == 0) conclude(running);
}

void ModelProposals::conclude(const RunningPtr& running) {
  under_way_.erase(under_way_.find({running->inquiry.task, running->inquiry.parents}));
  const double before = std::max(1.0, running->best_before), now = best_of_line(running->inquiry.line);
  running->yield.gain = std::max(0.0, std::log(std::max(now, 1.0) / before));
  const bool better = std::any_of(running->yield.members.begin(), running->yield.members.end(),
                                  [&](size_t member) { return population_[member].new_best; });
  in_vain_ = better ? 0 : in_vain_ + 1;
  if (better) card_choice_.won(running->made.cards);
  model_choice_.learn(running->model, running->yield.gain, running->yield.cost);
  strategy_->learned(running->inquiry, population_, running->yield);
}

}  // namespace agent::search
