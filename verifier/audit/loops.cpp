#include "verifier/audit/loops.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "sandbox/tokens.h"

namespace verifier::audit {
namespace {
using sandbox::Token;
using sandbox::TokenKind;

constexpr std::array<std::string_view, 9> kJumps{"break",  "return", "goto",          "while",     "do",
                                                 "switch", "asm",    "__syncthreads", "__syncwarp"};
constexpr std::array<std::string_view, 6> kExtremes{"fmaxf", "fminf", "fmax", "fmin", "max", "min"};

template <typename Names>
bool among(const Names& names, const std::string& text) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

class Finder {
 public:
  explicit Finder(std::string_view source) : source_(source), tokens_(sandbox::tokenize(source)) {}

  std::vector<Loop> run() {
    std::vector<Loop> loops;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (!tokens_[i].is("for") || tokens_[i].directive >= 0) continue;
      if (auto loop = loop_at(i)) loops.push_back(std::move(*loop));
    }
    return loops;
  }

 private:
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool name(size_t i) const { return i < tokens_.size() && tokens_[i].kind == TokenKind::identifier; }
  bool joined(size_t i) const { return i + 1 < tokens_.size() && tokens_[i].end == tokens_[i + 1].begin; }
  std::string text(size_t first, size_t last) const {  // tokens [first, last)
    return std::string(source_.substr(tokens_[first].begin, tokens_[last - 1].end - tokens_[first].begin));
  }
  // The token after the bracket that closes the one at `open`; size() if there is none.
  size_t past(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < tokens_.size(); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if ((is(i, ")") || is(i, "]") || is(i, "}")) && --depth == 0) return i + 1;
    }
    return tokens_.size();
  }
  // The first `wanted` outside brackets in [first, last); `last` if there is none.
  size_t find_level(size_t first, size_t last, std::string_view wanted) const {
    for (size_t i = first; i < last; ++i) {
      if (is(i, wanted)) return i;
      if (is(i, "(") || is(i, "[") || is(i, "{")) i = past(i) - 1;
    }
    return last;
  }
  // The token after the statement at `i`.
  size_t past_statement(size_t i) const {
    if (is(i, "{")) return past(i);
    if (is(i, "for") || is(i, "if")) {
      size_t end = past_statement(past(i + 1));
      if (is(i, "if") && is(end, "else")) end = past_statement(end + 1);
      return end;
    }
    return std::min(find_level(i, tokens_.size(), ";") + 1, tokens_.size());
  }

  std::optional<Loop> loop_at(size_t at) const {
    if (!is(at + 1, "(")) return std::nullopt;
    const size_t end = past(at + 1);  // after the header
    const size_t close = end - 1;
    const size_t first = find_level(at + 2, close, ";"), second = find_level(first + 1, close, ";");
    if (end >= tokens_.size() || first >= close || second >= close) return std::nullopt;
    Loop loop;
    const bool whole = is(at + 2, "int") || is(at + 2, "long") || is(at + 2, "size_t") || is(at + 2, "unsigned");
    const size_t equals = find_level(at + 2, first, "=");
    if (!whole || equals >= first || !name(equals - 1) || equals - 1 == at + 2 || equals + 1 == first)
      return std::nullopt;
    if (find_level(at + 2, first, ",") < first) return std::nullopt;
    loop.type = text(at + 2, equals - 1);
    loop.variable = tokens_[equals - 1].text;
    loop.start = text(equals + 1, first);
    // variable < limit
    if (!is(first + 1, loop.variable) || !is(first + 2, "<") || joined_operator(first + 2) || first + 3 >= second) {
      return std::nullopt;
    }
    for (size_t i = first + 3; i < second; ++i) {
      if (is(i, "&") || is(i, "|") || is(i, loop.variable)) return std::nullopt;
    }
    loop.limit = text(first + 3, second);
    loop.limit_begin = tokens_[first + 3].begin;
    loop.limit_end = tokens_[second - 1].end;
    if (!step_of(second + 1, close, loop)) return std::nullopt;
    const size_t past_body = past_statement(end);
    if (past_body > tokens_.size() || past_body == end) return std::nullopt;
    loop.line = tokens_[at].line;
    loop.begin = tokens_[at].begin;
    loop.header_end = tokens_[close].end;
    loop.end = tokens_[past_body - 1].end;
    look_into(end, past_body, loop);
    return loop;
  }

  // True if the character at `i` is part of a longer operator such as <= or <<.
  bool joined_operator(size_t i) const { return joined(i) && (is(i + 1, "=") || is(i + 1, "<")); }

  bool step_of(size_t first, size_t last, Loop& loop) const {
    const size_t count = last - first;
    const auto plus_plus = [&](size_t i) { return is(i, "+") && joined(i) && is(i + 1, "+"); };
    if (count == 3 &&
        ((plus_plus(first) && is(first + 2, loop.variable)) || (is(first, loop.variable) && plus_plus(first + 1)))) {
      loop.step = "1";
      return true;
    }
    if (count < 4 || !is(first, loop.variable) || !is(first + 1, "+") || !joined(first + 1) || !is(first + 2, "=") ||
        find_level(first, last, ",") < last) {
      return false;
    }
    loop.step = text(first + 3, last);
    return true;
  }

  // The variables and arrays that a body writes.
  struct Writes {
    bool known = true;  // false: some statement was not understood
    bool extremes = false;
    std::set<std::string> declared;
  };

  size_t uses(const std::string& variable, size_t first, size_t last) const {
    return static_cast<size_t>(std::count_if(
        tokens_.begin() + static_cast<std::ptrdiff_t>(first), tokens_.begin() + static_cast<std::ptrdiff_t>(last),
        [&](const Token& t) { return t.kind == TokenKind::identifier && t.text == variable; }));
  }

  void look_into(size_t first, size_t last, Loop& loop) const {
    Writes writes;
    loop.innermost = true;
    for (size_t i = first; i < last; ++i) {
      if (is(i, "for")) loop.innermost = false;
      if (among(kJumps, tokens_[i].text) || tokens_[i].directive >= 0) writes.known = false;
      // A taken address, or a member function that may have side effects.
      if (is(i, "&") && (is(i - 1, "(") || is(i - 1, ",") || is(i - 1, "="))) writes.known = false;
      if (name(i) && (tokens_[i].text.rfind("atomic", 0) == 0 || tokens_[i].text.rfind("__shfl", 0) == 0)) {
        writes.known = false;
      }
      if (is(i, "=")) assignment(i, first, last, loop, writes);
      if ((is(i, "+") || is(i, "-")) && joined(i) && tokens_[i + 1].is(tokens_[i].text)) {
        const size_t target = name(i - 1) ? i - 1 : i + 2;
        if (!name(target) || writes.declared.count(tokens_[target].text) == 0) writes.known = false;
        ++i;
      }
    }
    if (uses(loop.variable, first, last) > 0) {
      for (size_t i = first; i < last; ++i) {
        if (is(i, loop.variable) && is(i + 1, "=") && !is(i + 2, "=")) writes.known = false;
      }
    }
    loop.any_order = writes.known;
    loop.only_sums = writes.known && !loop.stores && !writes.extremes && !loop.sums.empty();
  }

  void assignment(size_t at, size_t first, size_t last, Loop& loop, Writes& writes) const {
    const bool after = joined(at) && is(at + 1, "=");  // ==
    const bool before = at > first && tokens_[at - 1].end == tokens_[at].begin;
    if (after) return;
    if (before && (is(at - 1, "=") || is(at - 1, "!") || is(at - 1, "<") || is(at - 1, ">"))) return;
    const bool compound =
        before && tokens_[at - 1].kind == TokenKind::punctuation && !is(at - 1, "]") && !is(at - 1, ")");
    size_t target = at - (compound ? 2 : 1);
    if (is(target, "]")) {
      while (is(target, "]")) {  // backwards over subscripts
        int depth = 0;
        do {
          if (is(target, "]")) ++depth;
          if (is(target, "[")) --depth;
          --target;
        } while (depth > 0 && target > first);
      }
      if (!name(target) || is(target - 1, ".") || uses(tokens_[target].text, first, last) != 1) writes.known = false;
      loop.stores = true;
      return;
    }
    if (!name(target) || target < first) {
      writes.known = false;
      return;
    }
    const std::string& variable = tokens_[target].text;
    if (!compound && target > first && (name(target - 1) || is(target - 1, "*") || is(target - 1, ">"))) {
      // A declaration, or a store through a pointer, which begins a statement.
      const bool store = is(target - 1, "*") && !(target >= 2 && name(target - 2));
      writes.known = writes.known && !store;
      writes.declared.insert(variable);
      return;
    }
    if (writes.declared.count(variable) > 0) return;
    const bool begins = target == first || is(target - 1, "{") || is(target - 1, "}") || is(target - 1, ";") ||
                        is(target - 1, ")") || is(target - 1, "else");
    if (compound && is(at - 1, "+") && begins && uses(variable, first, last) == 1) {
      const size_t semicolon = find_level(at, last, ";");
      if (semicolon < last) {
        loop.sums.push_back({variable, tokens_[target].begin, tokens_[semicolon].end, tokens_[at + 1].begin,
                             tokens_[semicolon - 1].end});
        return;
      }
    }
    const bool extreme = !compound && begins && name(at + 1) && among(kExtremes, tokens_[at + 1].text) &&
                         is(at + 2, "(") && is(at + 3, variable) && is(at + 4, ",") && uses(variable, first, last) == 2;
    writes.extremes = writes.extremes || extreme;
    writes.known = writes.known && extreme;
  }

  std::string_view source_;
  std::vector<Token> tokens_;
};
}  // namespace

std::vector<Loop> find_loops(std::string_view source) { return Finder(source).run(); }

}  // namespace verifier::audit
