#include "agent/prompting/prompt_maker.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/models/model.h"
#include "agent/prompting/facts.h"
#include "agent/prompting/limits.h"
#include "benchsuite/backend.h"
#include "benchsuite/shared_headers.h"
#include "core/error.h"
#include "core/text.h"
#include "sandbox/gpu/driver/driver.h"

namespace agent::prompting {
namespace {
constexpr const char* kTemplates[] = {"system", "solution_format", "problem", "shared_headers", "techniques",
                                      "known",  "tried",           "fresh",   "improve",        "repair",
                                      "cross",  "retry",           "plan",    "planned",        "exemplar"};
constexpr size_t kMostReplyBytes = size_t{64} << 10;  // of a reply sent back to its author

size_t parents_of(Operator task) {
  switch (task) {
    case Operator::fresh:
      return 0;
    case Operator::improve:
    case Operator::repair:
      return 1;
    case Operator::cross:
      return 2;
  }
  return 0;
}

// Joins consecutive blank lines, which empty template values leave, and removes those at the end. Leaves fenced blocks
// unchanged: edits must match them.
std::string without_blank_runs(const std::string& text) {
  std::string kept;
  bool fenced = false, blank = true;
  for (const std::string& line : core::split(text, '\n')) {
    if (line.rfind("```", 0) == 0) fenced = !fenced;
    if (line.empty() && blank && !fenced) continue;
    blank = line.empty();
    kept += line + "\n";
  }
  kept.erase(kept.find_last_not_of('\n') + 1);
  return kept + "\n";
}

// The text of the cards. A card that the line of descent has seen before comes without its example, which is the
// longest part; so does one whose example solves the problem.
std::string cards_text(const std::vector<const Card*>& cards, const PromptFacts& facts) {
  std::string text;
  for (const Card* card : cards) {
    const bool seen = facts.task != Operator::fresh && facts.seen_cards.count(card->name) > 0;
    const bool shortened = seen || card->problem == facts.problem.problem.name;
    text += (text.empty() ? "## " : "\n## ") + card->title + "\n\n" +
            card->text.substr(0, shortened ? card->text.find("```") : card->text.npos);
  }
  return text;
}

// The headers for such problems that run on the device, each with its opening comment.
std::string headers_text(const std::vector<benchsuite::SharedHeader>& headers, const PromptFacts& facts) {
  const DeviceText& device = facts.device;
  const std::set<std::string> traits = traits_of(facts.problem);
  std::string text;
  for (const benchsuite::SharedHeader& header : headers) {
    if (device.backend != "cuda" || !sandbox::gpu::driver::runs_on(device.architecture, header.arch)) continue;
    const auto is_its = [&](const std::string& kind) { return traits.contains(kind); };
    if (!header.kinds.empty() && std::ranges::none_of(header.kinds, is_its)) continue;
    text += (text.empty() ? "" : "\n") + fmt::format("## <{}>\n\n{}", header.name, header.about);
  }
  return text;
}

// A solution's source as models read and edit it.
std::string shown_source(const KnownSolution& of) { return benchsuite::without_shared_headers(of.solution.source); }

std::string known_text(const PromptFacts& facts, const PromptLimits& limits) {
  std::string text;
  if (facts.naive_us) text = "- naive: 1.00x; " + time_words(*facts.naive_us) + "\n";
  for (size_t i = 0; i < std::min(facts.known.size(), limits.known); ++i) {
    const KnownSolution& known = facts.known[i];
    text += "- " + solution_line(known, facts.problem.problem, facts.device.backend) + "\n";
    if (i < limits.known_sources) text += "\n" + source_block(shown_source(known), limits.source_bytes) + "\n";
  }
  return text;
}

// Nothing for tasks that begin from a solution.
const Exemplar* exemplar_of(const PromptFacts& facts, const PromptLimits& limits) {
  return facts.task == Operator::fresh && facts.exemplar && limits.exemplar ? &*facts.exemplar : nullptr;
}

// "lanes_per_row of softmax_f16 (Softmax over rows) on cuda NVIDIA H200: 6.35x over naive [6.09, 6.68]; 134.1 us at
// bench_8192x8192; 87 % of the bound"
std::string exemplar_line(const Exemplar& exemplar) {
  const KnownSolution& winner = exemplar.winner;
  std::string text = core::clean_line(
      fmt::format("{} of {} ({}) on {}: ", winner.name, exemplar.problem, exemplar.title, exemplar.device));
  if (winner.speed_up) {
    text += fmt::format("{:.2f}x over naive [{:.2f}, {:.2f}]", winner.speed_up->value, winner.speed_up->low,
                        winner.speed_up->high);
  }
  if (winner.time_us) text += "; " + time_words(*winner.time_us) + " at " + core::clean_line(exemplar.workload);
  if (winner.share_of_bound) text += "; " + percent(*winner.share_of_bound) + " of the bound";
  if (const std::string point = sandbox::describe(winner.binding); !point.empty()) text += "; at " + point;
  return text;
}

// Drops the least important part of the prompt. Returns false if nothing is left to drop.
bool narrow(PromptLimits& limits) {
  if (limits.known_sources > 1) return limits.known_sources = 1, true;
  if (limits.tried > 4) return limits.tried = 4, true;
  if (limits.cards > 1) return limits.cards = 1, true;
  if (limits.exemplar) return limits.exemplar = false, true;
  if (limits.known > 3) return limits.known = 3, true;
  if (limits.known_sources > 0) return limits.known_sources = 0, true;
  if (limits.cards > 0) return limits.cards = 0, true;
  if (limits.headers) return limits.headers = false, true;
  if (limits.tried > 0) return limits.tried = 0, true;
  if (limits.source_bytes > 2048) return limits.source_bytes /= 2, true;
  return false;
}

// What `narrowed` leaves out of what `limits` allow.
std::vector<std::string> left_out(const PromptFacts& facts, const MadePrompt& whole, const MadePrompt& made,
                                  const PromptLimits& limits, const PromptLimits& narrowed) {
  std::vector<std::string> words;
  const auto fewer = [&](size_t all, size_t most, size_t kept, const std::string& what) {
    const size_t shown = std::min(all, most), left = std::min(all, kept);
    if (left < shown) words.push_back(fmt::format("{} of {} {}", shown - left, shown, what));
  };
  fewer(facts.known.size(), limits.known_sources, narrowed.known_sources, "sources of known solutions");
  fewer(whole.cards.size(), limits.cards, made.cards.size(), "technique cards");
  if (exemplar_of(facts, limits) != nullptr && !narrowed.exemplar) {
    words.push_back("the winner of a similar problem, " + facts.exemplar->problem);
  }
  fewer(facts.known.size(), limits.known, narrowed.known, "known solutions");
  if (limits.headers && !narrowed.headers) words.push_back("what shared headers hold");
  fewer(facts.tried.size(), limits.tried, narrowed.tried, "failed tries");
  const auto is_cut = [&](const KnownSolution& of) { return shown_source(of).size() > narrowed.source_bytes; };
  if (narrowed.source_bytes < limits.source_bytes && std::ranges::any_of(facts.parents, is_cut)) {
    words.push_back(fmt::format("the rest of sources beyond {} bytes", narrowed.source_bytes));
  }
  return words;
}
}  // namespace

PromptLimits limits_for(const models::Sampling& sampling) {
  PromptLimits limits;
  if (sampling.context_tokens > 0) {
    const int64_t left = std::max<int64_t>(0, sampling.context_tokens - sampling.max_output_tokens);
    limits.tokens = std::min(limits.tokens, left - left / 10);
    limits.is_the_models = true;
  }
  return limits;
}

PromptMaker::PromptMaker(const std::filesystem::path& folder)
    : cards_(load_cards(folder / "techniques")), headers_(benchsuite::shared_headers()) {
  std::vector<std::string> names(std::begin(kTemplates), std::end(kTemplates));
  for (const std::string& backend : benchsuite::judged_backends()) names.push_back("device_" + backend);
  for (const std::string& name : names) templates_.emplace(name, Template::load(folder / (name + ".md")));
}

std::string PromptMaker::task_text(const PromptFacts& facts, const PromptLimits& limits) const {
  const auto shown = [&](const KnownSolution& parent) {
    return source_block(shown_source(parent), limits.source_bytes) + "\n" +
           solution_line(parent, facts.problem.problem, facts.device.backend) + "\n";
  };
  const std::string diagnosis = facts.diagnosis ? facts.diagnosis->text + "\n" : "";
  const std::string wanted = wanted_words(facts.wanted), others = others_words(facts.alongside);
  switch (facts.task) {
    case Operator::fresh:
      return text("fresh").fill({{"wanted", wanted}, {"others", others}, {"diagnosis", diagnosis}});
    case Operator::improve:
      return text("improve").fill({{"wanted", wanted},
                                   {"parent", shown(facts.parents[0])},
                                   {"name", facts.parents[0].name},
                                   {"diagnosis", diagnosis},
                                   {"others", others}});
    case Operator::repair:
      return text("repair").fill({{"parent", shown(facts.parents[0])},
                                  {"name", facts.parents[0].name},
                                  {"diagnosis", diagnosis},
                                  {"others", others}});
    case Operator::cross: {
      const auto found = [&](size_t parent, const std::optional<Diagnosis>& of) {
        return of ? "Findings about " + facts.parents[parent].name + ":\n\n" + of->text + "\n\n" : "";
      };
      const std::string findings = found(0, facts.diagnosis) + found(1, facts.second_diagnosis);
      return text("cross").fill({{"wanted", wanted},
                                 {"first", shown(facts.parents[0])},
                                 {"first_name", facts.parents[0].name},
                                 {"second", shown(facts.parents[1])},
                                 {"second_name", facts.parents[1].name},
                                 {"findings", findings},
                                 {"others", others}});
    }
  }
  return "";
}

MadePrompt PromptMaker::assemble(const PromptFacts& facts, const PromptLimits& limits) const {
  MadePrompt made;
  const std::string& backend = facts.device.backend;
  made.prompt.system = text("system").fill({});
  models::Turn turn;
  const auto add = [&](const std::string& section, bool stable) {
    turn.sections.push_back({without_blank_runs(section) + "\n", stable});
  };
  add(text("solution_format").fill({}), true);
  add(text("problem").fill(problem_values(facts.problem, backend)), true);
  add(text("device_" + backend).fill({{"facts", device_words(facts.device)}}), true);
  if (const std::string headers = headers_text(headers_, facts); limits.headers && !headers.empty()) {
    add(text("shared_headers").fill({{"headers", headers}}), true);
  }

  CardWish wish{backend, facts.device.architecture, traits_of(facts.problem), {}, facts.seen_cards, facts.card_worths};
  if (facts.diagnosis) wish.bottlenecks = facts.diagnosis->bottlenecks;
  // No cards for a repair: they would distract from the fault.
  const size_t most_cards = facts.task == Operator::repair ? 0 : limits.cards;
  const std::vector<const Card*> cards = choose_cards(cards_, wish, most_cards);
  // Not stable: cards change with the bottleneck, so caching them would rarely pay.
  if (!cards.empty()) add(text("techniques").fill({{"cards", cards_text(cards, facts)}}), false);
  for (const Card* card : cards) made.cards.push_back(card->name);

  if (const Exemplar* exemplar = exemplar_of(facts, limits)) {
    add(text("exemplar")
            .fill({{"why", exemplar->why},
                   {"figures", exemplar_line(*exemplar)},
                   {"source", source_block(shown_source(exemplar->winner), limits.source_bytes)}}),
        false);
    made.exemplar = exemplar->problem;
  }
  if (const std::string known = known_text(facts, limits); !known.empty()) {
    add(text("known").fill({{"solutions", known}}), false);
  }
  if (!facts.tried.empty() && limits.tried > 0) {
    add(text("tried").fill({{"tries", bullets(facts.tried, limits.tried)}}), false);
  }
  turn.sections.push_back({without_blank_runs(task_text(facts, limits)), false});
  made.prompt.turns.push_back(std::move(turn));

  const auto may_be_edited = [&](const KnownSolution& of) {
    const std::string source = shown_source(of);
    if (source.size() <= limits.source_bytes) made.parents[of.name] = source;
  };
  for (const KnownSolution& parent : facts.parents) may_be_edited(parent);
  for (size_t i = 0; i < std::min({facts.known.size(), limits.known, limits.known_sources}); ++i) {
    may_be_edited(facts.known[i]);
  }
  made.tokens = models::estimate_tokens(made.prompt);
  return made;
}

MadePrompt PromptMaker::make(const PromptFacts& facts, const PromptLimits& limits) const {
  if (facts.parents.size() != parents_of(facts.task)) {
    throw core::SystemError("a prompt to " + std::string(name_of(facts.task)) + " has " +
                            std::to_string(facts.parents.size()) + " parents instead of " +
                            std::to_string(parents_of(facts.task)));
  }
  PromptLimits narrowed = limits;
  const MadePrompt whole = assemble(facts, limits);
  MadePrompt made = whole;
  while (made.tokens > limits.tokens && narrow(narrowed)) made = assemble(facts, narrowed);
  if (made.tokens > limits.tokens && limits.is_the_models) {
    throw core::InputError(facts.problem.problem.name,
                           fmt::format("its smallest prompt takes about {} tokens, and the model has room for {}",
                                       made.tokens, limits.tokens),
                           "give the model a larger context (--context), or its replies less of it (--max-output)");
  }
  made.left_out = left_out(facts, whole, made, limits, narrowed);
  return made;
}

models::Prompt PromptMaker::plan(const models::Prompt& before) const {
  models::Prompt prompt = before;
  prompt.turns.back().sections.push_back({"\n" + text("plan").fill({}), false});
  return prompt;
}

models::Prompt PromptMaker::planned(const models::Prompt& before, const std::string& plan) const {
  models::Prompt prompt = before;
  const std::string shown(core::trimmed(core::clean_text(plan, kMostPlanBytes)));
  prompt.turns.back().sections.push_back({"\n" + text("planned").fill({{"plan", shown}}), false});
  return prompt;
}

models::Prompt PromptMaker::retry(const models::Prompt& before, const std::string& reply,
                                  const std::vector<std::string>& reasons) const {
  models::Prompt prompt = before;
  // Providers refuse empty turns.
  const std::string shown = core::clean_text(reply, kMostReplyBytes);
  prompt.turns.push_back({models::Turn::Speaker::assistant, {{shown.empty() ? "(nothing)" : shown, false}}});
  prompt.turns.push_back(
      {models::Turn::Speaker::user, {{text("retry").fill({{"reasons", bullets(reasons, reasons.size())}}), false}}});
  return prompt;
}

}  // namespace agent::prompting
