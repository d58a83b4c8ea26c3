#include "agent/prompting/identity.h"

#include "core/error.h"
#include "core/hash.h"
#include "core/strict_json.h"
#include "sandbox/solution.h"
#include "sandbox/tokens.h"

namespace agent::prompting {
namespace {
// True for punctuation that may form one operator with its neighbour: "> >" is not ">>".
bool joins(const sandbox::Token& token) {
  return token.kind == sandbox::TokenKind::punctuation &&
         token.text.find_first_not_of("+-*/%=<>&|^!:.#~") == std::string::npos;
}

// True if white space before tokens[at] would change the meaning.
bool is_glued(const std::vector<sandbox::Token>& tokens, size_t at) {
  if (at == 0 || tokens[at - 1].end != tokens[at].begin) return false;
  // "#define f(x)" has a parameter, "#define f (x)" has none; and # copies white space into strings.
  if (tokens[at].directive >= 0) return true;
  return joins(tokens[at - 1]) && joins(tokens[at]);
}

core::Json canonical_header(const sandbox::Solution& solution) {
  core::Json header = core::parse_json(solution.header, solution.file);
  header.erase("description");
  return header;
}
}  // namespace

std::string identity_of(std::string_view source) {
  core::Hasher hasher;
  try {
    const sandbox::Solution solution = sandbox::parse_solution(std::string(source), "solution");
    hasher.field("header", canonical_header(solution).dump());
  } catch (const core::InputError&) {
    return core::Hasher().field("text", source).hex();
  }
  const std::vector<sandbox::Token> tokens = sandbox::tokenize(source);
  int directive = -1;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].directive != directive) hasher.field("line", "");  // the start or end of a directive
    directive = tokens[i].directive;
    hasher.field(is_glued(tokens, i) ? "glued" : "token", tokens[i].text);
  }
  return hasher.hex();
}

}  // namespace agent::prompting
