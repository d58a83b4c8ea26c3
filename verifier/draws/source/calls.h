// The bodies of a source's functions, each with the arguments of a call in place of its parameters.
#pragma once

#include <string>
#include <vector>

#include "sandbox/tokens.h"
#include "verifier/draws/source/values.h"

namespace verifier::draws::source {

struct CalledBody {
  std::string name;  // empty for the source itself
  std::vector<sandbox::Token> tokens;
};

// The source, then for each call of a function, a lambda or a macro with parameters that the source defines its body,
// with the arguments in place of parameters, also in place of a template's: `size % TILE == 0` becomes `K % 32 == 0`
// for `is_whole<32>(K)`. So on for the calls in there, four deep; at most 256 bodies and 2^16 tokens, none twice. Names
// of constants and tunables are their values. Calls have lost their template's arguments.
std::vector<CalledBody> called_bodies(const std::vector<sandbox::Token>& tokens, const SourceValues& values);

}  // namespace verifier::draws::source
