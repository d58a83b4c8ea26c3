// What a model's reply proposes. prompts/solution_format.md tells the model what it may write:
//
//   - a whole solution, from its header "/* kernelwright" on, best in a fenced block;
//   - edits of a solution that the prompt showed: a line "EDIT <name>", then one or more blocks
//
//         <<<<<<< SEARCH
//         lines of it
//         =======
//         what takes their place
//         >>>>>>> REPLACE
//
// Several of either may stand in one reply, with prose between them. A reply is untrusted text: whatever it holds ends
// as a proposal that can be judged or as a reason.
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
  size_t reply_bytes = size_t{1} << 20;  // what is beyond is not read
  size_t source_bytes = size_t{128} << 10;
  size_t proposals = 8;
  size_t edits = 64;  // of one solution
  size_t reasons = 8;
};

// What the prompt was about.
struct Asked {
  const benchsuite::Problem* problem = nullptr;  // outlives the call
  std::string backend;                           // of the device: a solution must name it; empty: any will do
  // The solutions that edits may name, by the name that the prompt gave them.
  std::map<std::string, std::string, std::less<>> parents;
  bool complete = true;  // false: the reply ran into the limit of tokens
};

struct Proposal {
  sandbox::Solution solution;         // parsed and valid for the problem; `solution.source` is all of it
  std::optional<std::string> parent;  // that it was made from by edits
  size_t edits = 0;                   // then how many
};

struct Reply {
  std::vector<Proposal> proposals;
  std::vector<std::string> reasons;  // a clean sentence for each thing that could not be used; to be sent back once
};

// Never throws for what the reply holds. No proposal and no reason never happens: then a reason says that there was
// nothing.
Reply read_reply(std::string_view text, const Asked& asked, const ReplyLimits& limits = {});

}  // namespace agent::prompting
