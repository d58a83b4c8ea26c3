// The texts of a request to a model: its prompt by sections, its reply by parts, and what was told next.
//
// In full an Exchange (exchange.h) also has: tokens (of the prompt, estimated), prompt [{speaker, title, tokens,
// text}], reply {complete, answered_by, input_tokens, output_tokens, dollars, tries, seconds, parts [{code, text}]},
// why (no reply came, or nothing of it could be used), with each of brought source, parent {solution, hash} and
// difference (a unified diff to its parent), and next, an Exchange with sent_back (the reply was sent back with
// reasons) and told
// [{title, tokens, text, difference}], the sections that this prompt lacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/strict_json.h"
#include "results/archive/exchanges.h"

namespace results::view {

struct PromptSection {
  std::string speaker;  // "system", "user", "assistant"
  std::string title;    // its first heading
  int64_t tokens = 0;   // estimated
  std::string text;
};

// The parts of a prompt (archive::NewRequest::prompt), in the order in which they are sent.
std::vector<PromptSection> sections_of(const core::Json& prompt);

struct ReplyPart {
  bool code = false;  // in a fenced block
  std::string text;   // without the fence
};

// Cuts a reply at its fences. Linear in the text.
std::vector<ReplyPart> parts_of(const std::string& reply);

// Texts are cleaned and cut: fit to show.
core::Json full_json_of(const archive::Reader& archive, const archive::Exchange& exchange);

}  // namespace results::view
