// Makes prompts from facts, templates and technique cards.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/models/model.h"
#include "agent/prompting/cards.h"
#include "agent/prompting/facts.h"
#include "agent/prompting/templates.h"
#include "benchsuite/shared_headers.h"

namespace agent::prompting {

struct PromptLimits {
  int64_t tokens = 32'000;                 // estimated, of the whole prompt; drops the least important parts first
  bool is_the_models = false;              // its context ends there: a prompt that cannot be shorter is refused
  size_t source_bytes = size_t{48} << 10;  // of one solution; cuts longer ones with a note
  size_t known_sources = 1;                // known solutions shown in full; the others get a line
  size_t known = 8;
  size_t tried = 12;
  size_t cards = 2;
  bool exemplar = true;  // shows the winner of a similar problem
  bool headers = true;   // says what the shared headers hold
};

inline constexpr size_t kMostPlanBytes = size_t{8} << 10;  // of a plan; a longer one is cut

// For a model of a small context: what a reply of full length leaves of it, less a tenth, since tokenizers differ.
PromptLimits limits_for(const models::Sampling& sampling);

struct MadePrompt {
  models::Prompt prompt;
  int64_t tokens = 0;                 // estimated
  std::vector<std::string> cards;     // names of the included cards
  std::string exemplar;               // the problem whose winner it shows; empty: none
  std::vector<std::string> left_out;  // what the limit of tokens allows no room for, in words
  // Sources that a reply may edit, by name, without cut ones.
  std::map<std::string, std::string, std::less<>> parents;
};

class PromptMaker {
 public:
  // Reads every template and card of the folder (core::Paths::prompts). Throws core::InputError.
  explicit PromptMaker(const std::filesystem::path& folder);

  // Starts with stable sections, equal throughout a campaign: format, problem, device. Cards follow, then the parts
  // that change from prompt to prompt. Throws core::InputError if a template's placeholders differ from the values, or
  // the facts do not fit the task, or if the smallest prompt takes more tokens than the model.
  MadePrompt make(const PromptFacts& facts, const PromptLimits& limits = {}) const;

  // The prompt, which asks for a plan in place of its solutions, and the prompt with that plan.
  models::Prompt plan(const models::Prompt& before) const;
  models::Prompt planned(const models::Prompt& before, const std::string& plan) const;

  // The prompt followed by the unusable reply and the reasons. Send it at most once.
  models::Prompt retry(const models::Prompt& before, const std::string& reply,
                       const std::vector<std::string>& reasons) const;

  const std::vector<Card>& cards() const { return cards_; }

 private:
  const Template& text(const std::string& name) const { return templates_.at(name); }
  std::string task_text(const PromptFacts& facts, const PromptLimits& limits) const;
  MadePrompt assemble(const PromptFacts& facts, const PromptLimits& limits) const;

  std::map<std::string, Template> templates_;
  std::vector<Card> cards_;
  std::vector<benchsuite::SharedHeader> headers_;
};

}  // namespace agent::prompting
