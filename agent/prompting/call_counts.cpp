#include "agent/prompting/call_counts.h"

#include <algorithm>
#include <set>

namespace agent::prompting {
namespace {
using sandbox::Token;
using sandbox::TokenKind;

constexpr int kMostDepth = 32;  // of nested loops; replies may nest more

// The tokens outside directives, with the ends of brackets and statements.
class Source {
 public:
  explicit Source(const std::vector<Token>& tokens) {
    for (const Token& token : tokens) {
      if (token.directive < 0) tokens_.push_back(&token);
    }
  }

  size_t size() const { return tokens_.size(); }
  bool is(size_t i, std::string_view text) const { return i < size() && tokens_[i]->is(text); }
  bool is_loop(size_t i) const { return is(i, "for") || is(i, "while") || is(i, "do"); }
  bool is_name(size_t i) const { return i < size() && tokens_[i]->kind == TokenKind::identifier; }
  bool is_call(size_t i) const { return is_name(i) && is(i + 1, "("); }
  const std::string& text(size_t i) const { return tokens_[i]->text; }

  // Index after the bracket that closes the one at `i`.
  size_t behind_bracket(size_t i) const {
    int open = 0;
    for (; i < size(); ++i) {
      if (is(i, "(") || is(i, "{") || is(i, "[")) ++open;
      if ((is(i, ")") || is(i, "}") || is(i, "]")) && --open <= 0) return i + 1;
    }
    return size();
  }

  // Index after the statement (of a loop, after its body) that begins at `i`.
  size_t behind_statement(size_t i) const {
    while (is(i, "for") || is(i, "while") || is(i, "if")) {  // "if constexpr" has one more word
      i = behind_bracket(i + (is(i + 1, "(") ? 1 : 2));
    }
    if (is(i, "do")) ++i;
    if (is(i, "{")) return behind_bracket(i);
    while (i < size() && !is(i, ";")) i = is(i, "(") || is(i, "{") || is(i, "[") ? behind_bracket(i) : i + 1;
    return std::min(i + 1, size());
  }

 private:
  std::vector<const Token*> tokens_;
};

struct Function {
  std::string name;
  bool kernel = false;
  size_t begin = 0, end = 0;  // its body
};

std::vector<Function> functions_of(const Source& source) {
  std::vector<Function> functions;
  bool kernel = false;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.is(i, "__global__")) kernel = true;
    if (source.is(i, ";")) kernel = false;
    if (!source.is_call(i)) continue;
    const size_t body = source.behind_bracket(i + 1);
    if (!source.is(body, "{")) {
      i = body - 1;
      continue;
    }
    functions.push_back({source.text(i), kernel, body, source.behind_bracket(body)});
    i = functions.back().end - 1;
    kernel = false;
  }
  return functions;
}

class Counter {
 public:
  Counter(const Source& source, const std::function<bool(const std::string&)>& is_one, const std::set<std::string>& own)
      : source_(source), is_one_(is_one), own_(own) {}

  // Counts calls in [begin, end), the body of a loop or function. Returns true if it holds a loop.
  bool count(size_t begin, size_t end, bool leaf_is_innermost, int depth = 0) {
    int here = 0;
    bool loops = false;
    for (size_t i = begin; i < end;) {
      if (source_.is_loop(i) && depth < kMostDepth) {
        loops = true;
        const size_t behind = std::min(end, source_.behind_statement(i));
        count(i + 1, behind, true, depth + 1);
        i = std::max(behind, i + 1);
        continue;
      }
      if (source_.is_call(i) && (is_one_(source_.text(i)) || own_.count(source_.text(i)) > 0)) ++here;
      ++i;
    }
    (!loops && leaf_is_innermost ? places.innermost : places.outside) += here;
    return loops;
  }

  CallCounts places;

 private:
  const Source& source_;
  const std::function<bool(const std::string&)>& is_one_;
  const std::set<std::string>& own_;
};
}  // namespace

CallCounts count_calls(const std::vector<Token>& tokens, const std::function<bool(const std::string&)>& is_one) {
  const Source source(tokens);
  const std::vector<Function> functions = functions_of(source);
  std::set<std::string> own;                    // helpers without loops: calls of them count
  for (const Function& function : functions) {  // functions precede their callers
    if (function.kernel) continue;
    Counter counter(source, is_one, own);
    const bool loops = counter.count(function.begin, function.end, false);
    if (!loops && counter.places.outside > 0) own.insert(function.name);
  }
  Counter counter(source, is_one, own);
  for (const Function& function : functions) {
    if (own.count(function.name) == 0) counter.count(function.begin, function.end, function.kernel);
  }
  return counter.places;
}

}  // namespace agent::prompting
