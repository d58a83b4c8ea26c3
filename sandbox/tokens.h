// Cuts CUDA C++ source into preprocessing tokens with their positions. Rules apply to tokens; single tokens can be
// replaced without changing line numbers. Expands nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sandbox {

enum class TokenKind {
  identifier,
  number,
  string,       // with prefix and quotes; `value` holds the content with escapes resolved
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
  int directive;      // ordinal of its preprocessor directive; -1 outside

  bool is(std::string_view t) const { return text == t && kind != TokenKind::string && kind != TokenKind::header_name; }
};

// Skips comments. Never fails: malformed text becomes a token that the compiler rejects.
std::vector<Token> tokenize(std::string_view source);

// True if compilers, CUDA's headers or ours may define this name (of capitals, digits and '_'), so that a macro of that
// name would change them.
bool is_taken_macro(std::string_view name);

}  // namespace sandbox
