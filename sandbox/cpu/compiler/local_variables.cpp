#include "sandbox/cpu/compiler/local_variables.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace sandbox::cpu::compiler {
namespace {
constexpr std::string_view kBuiltInTypes[] = {"unsigned", "signed", "long",   "short", "int",
                                              "char",     "float",  "double", "bool"};
// Words that begin no plain declaration, or one of a variable that keeps its value elsewhere.
constexpr std::string_view kOtherWords[] = {
    "return",       "goto",       "else",      "delete",   "throw",    "using",     "typedef",
    "static",       "extern",     "constexpr", "auto",     "template", "friend",    "namespace",
    "case",         "default",    "do",        "operator", "new",      "asm",       "__shared__",
    "__constant__", "__device__", "decltype",  "register", "break",    "if",        "while",
    "for",          "switch",     "this",      "sizeof",   "mutable",  "co_return", "static_assert"};
constexpr std::string_view kQualifiers[] = {"const",  "volatile", "__restrict__", "__restrict", "typename",
                                            "struct", "union",    "class",        "enum"};
constexpr std::string_view kAlignments[] = {"alignas", "__align__", "__attribute__", "__builtin_align__"};

template <size_t n>
bool among(const std::string_view (&words)[n], const std::string& word) {
  return std::ranges::find(words, word) != std::end(words);
}

class Statement {
 public:
  Statement(const std::vector<Token>& tokens, size_t begin, size_t end) : tokens_(tokens), at_(begin), end_(end) {}

  std::vector<std::string> unset() {
    std::vector<std::string> names;
    if (!skip_type()) return {};
    while (true) {
      const std::optional<std::string> name = declarator();
      if (!name) return {};
      if (at_ == end_ || is(",")) {
        names.push_back(*name);
      } else if (is("=") || is("(") || is("{")) {
        skip_initialiser();
      } else {
        return {};
      }
      if (at_ == end_) return names;
      ++at_;
    }
  }

 private:
  bool is(std::string_view text) const { return at_ < end_ && tokens_[at_].is(text); }
  bool is_word() const { return at_ < end_ && tokens_[at_].kind == TokenKind::identifier; }
  bool is_name() const {
    return is_word() && !among(kOtherWords, tokens_[at_].text) && !among(kBuiltInTypes, tokens_[at_].text);
  }

  void skip_qualifiers() {
    while (is_word()) {
      if (among(kAlignments, tokens_[at_].text)) {
        ++at_;
        skip_bracketed("(", ")");
      } else if (among(kQualifiers, tokens_[at_].text)) {
        ++at_;
      } else {
        return;
      }
    }
  }

  // From an opening bracket to behind its partner; false when there is none.
  bool skip_bracketed(std::string_view open, std::string_view close) {
    int depth = 0;
    for (; at_ < end_; ++at_) {
      while (open == "<" && is("(")) {
        if (!skip_bracketed("(", ")")) return false;
      }
      if (is(open)) ++depth;
      if (is(close) && --depth == 0) {
        ++at_;
        return true;
      }
    }
    return false;
  }

  bool skip_type() {
    skip_qualifiers();
    if (is_word() && among(kBuiltInTypes, tokens_[at_].text)) {
      while (is_word() && among(kBuiltInTypes, tokens_[at_].text)) ++at_;
    } else if (!skip_named_type()) {
      return false;
    }
    skip_qualifiers();
    return true;
  }

  // space::name<arguments>::name
  bool skip_named_type() {
    if (is("::")) ++at_;
    while (true) {
      if (!is_name()) return false;
      ++at_;
      if (is("<") && !skip_bracketed("<", ">")) return false;
      if (!is("::")) return true;
      ++at_;
    }
  }

  // *name[8][4]
  std::optional<std::string> declarator() {
    while (is("*")) {
      ++at_;
      skip_qualifiers();
    }
    if (!is_name()) return std::nullopt;
    const std::string name = tokens_[at_++].text;
    while (is("[")) {
      if (!skip_bracketed("[", "]")) return std::nullopt;
    }
    return name;
  }

  // To the comma behind it, or to the end.
  void skip_initialiser() {
    int depth = 0;
    for (; at_ < end_ && !(depth == 0 && is(",")); ++at_) {
      if (is("(") || is("[") || is("{")) ++depth;
      if (is(")") || is("]") || is("}")) --depth;
    }
  }

  const std::vector<Token>& tokens_;
  size_t at_, end_;
};
}  // namespace

std::vector<std::string> unset_variables(const std::vector<Token>& tokens, size_t begin, size_t end) {
  const bool of_a_directive =
      std::any_of(tokens.begin() + static_cast<ptrdiff_t>(begin), tokens.begin() + static_cast<ptrdiff_t>(end),
                  [](const Token& token) { return token.directive >= 0; });
  return of_a_directive ? std::vector<std::string>() : Statement(tokens, begin, end).unset();
}

}  // namespace sandbox::cpu::compiler
