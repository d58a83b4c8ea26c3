// Words that a source does not contain but that its macros could paste together (a##b).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/tokens.h"

namespace sandbox::cpu::compiler {

struct PastedWord {
  std::string word;
  int line;  // of the macro
};

// The first of `words`, or beginning of `prefixes`, that a ## of this source might make of its tokens. Macros are not
// expanded: a parameter stands for any tokens that any macro is given, so that a finding can be mistaken, but a word
// that can be pasted is always found.
std::optional<PastedWord> find_pasted_word(const std::vector<Token>& tokens, const std::vector<std::string_view>& words,
                                           const std::vector<std::string_view>& prefixes);

}  // namespace sandbox::cpu::compiler
