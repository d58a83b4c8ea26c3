// Rules for the text and the plan of solutions. The walls behind them are the inspection of the binary and the jail.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sandbox/compilation.h"
#include "sandbox/solution.h"
#include "sandbox/tokens.h"

namespace sandbox::cpu::compiler {

enum class HeaderRule {
  ours,      // in sandbox/cpu/shim
  built_in,  // all of it is predefined: the line is dropped
};

// The rule for an #include of this name, or the rejection.
std::variant<HeaderRule, Rejected> header_rule(const std::string& name, int line, Dialect dialect);

// Applies all other rules to `source`, cut into `tokens`: characters, words (also those that macros could paste
// together), attributes, directives.
std::optional<Rejected> check_source(std::string_view source, const std::vector<Token>& tokens);

// The first feature that this device lacks, in one sentence; nullopt when this build of it can run the plan.
std::optional<std::string> why_not(const Solution& solution, Build build);

struct PastedWord {
  std::string word;
  int line;  // of the macro
};

// The first of `words`, or word beginning with one of `prefixes`, that a ## of this source might make of its tokens.
// Macros are not expanded: a parameter stands for any word that a call gives it, or, where calls cannot be followed,
// for any word at all. So a finding can be wrong, but a word that can be pasted is always found.
std::optional<PastedWord> find_pasted_word(const std::vector<Token>& tokens, const std::vector<std::string_view>& words,
                                           const std::vector<std::string_view>& prefixes);

}  // namespace sandbox::cpu::compiler
