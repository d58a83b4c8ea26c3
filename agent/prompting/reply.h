// Reads proposals from a model's reply. prompts/solution_format.md tells the model what it may write:
//
//   - a whole solution, from its header "/* kernelwright" on, best in a fenced block;
//   - edits of a solution that the prompt showed: a line "EDIT <name>", then one or more blocks
//
//         <<<<<<< SEARCH
//         lines of it
//         =======
//         their replacement
//         >>>>>>> REPLACE
//
// A reply may hold several of both, with prose between them. It is untrusted text: each part becomes a proposal that
// can be judged, or a reason why it cannot.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/solution.h"

namespace agent::prompting {

struct ReplyLimits {
  size_t reply_bytes = size_t{1} << 20;  // the rest is ignored
  size_t source_bytes = size_t{128} << 10;
  size_t proposals = 8;
  size_t edits = 64;  // of one solution
  size_t reasons = 8;
};

// The prompt that the reply answers.
struct Asked {
  const benchsuite::Problem* problem = nullptr;  // outlives the call
  std::string backend;                           // that a solution must support; empty: any
  // Sources that edits may name, by their names in the prompt.
  std::map<std::string, std::string, std::less<>> parents;
  bool complete = true;  // false: the reply ran into the limit of tokens
};

struct Proposal {
  sandbox::Solution solution;         // parsed and valid for the problem
  std::optional<std::string> parent;  // the solution that it edits
  size_t edits = 0;                   // number of edits
};

struct Reply {
  std::vector<Proposal> proposals;
  std::vector<std::string> reasons;  // a clean sentence for each unusable part, to send back once
};

// Never throws for any text. Without a proposal there is at least one reason.
Reply read_reply(std::string_view text, const Asked& asked, const ReplyLimits& limits = {});

}  // namespace agent::prompting
