// Cuts CUDA C++ source into preprocessing tokens with their places, so that rules can be applied and single tokens
// replaced while every line keeps its number. Expands nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sandbox {

enum class TokenKind {
  identifier,
  number,
  string,       // with prefix and quotes; `value` holds what is between them, escapes resolved
  character,    //
  header_name,  // of #include or __has_include, without its brackets or quotes in `value`
  punctuation,  // one character, or one of  <<<  ::  <%  %>  %:
};

struct Token {
  TokenKind kind;
  std::string text;   // line splices removed
  std::string value;  // see TokenKind
  size_t begin, end;  // bytes of the source
  int line;           // 1-based
  int directive;      // ordinal of the preprocessor directive that it belongs to, -1 outside

  bool is(std::string_view t) const { return text == t && kind != TokenKind::string && kind != TokenKind::header_name; }
};

// Skips comments. Never fails: malformed text becomes a token that the compiler will reject.
std::vector<Token> tokenize(std::string_view source);

// Whether the compilers, CUDA's headers or ours may define this name, so that a macro of that name would change them.
// For names of capitals, digits and '_'.
bool is_taken_macro(std::string_view name);

}  // namespace sandbox
