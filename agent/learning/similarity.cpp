#include "agent/learning/similarity.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "core/text.h"
#include "sandbox/tokens.h"

namespace agent::learning {
namespace {
using sandbox::Token;
using sandbox::TokenKind;
constexpr size_t kRunTokens = 4;

// Python as the tokenizer reads it: without comments, long quotes, and the functions that make inputs at the end.
std::string python_as_tokens(const std::string& source) {
  std::string kept;
  for (const std::string& line : core::split(source, '\n')) {
    if (line.rfind("def get_inputs", 0) == 0) break;
    std::string code = line.substr(0, line.find('#'));
    for (const char* quotes : {"\"\"\"", "'''"}) {
      for (size_t at = code.find(quotes); at != code.npos; at = code.find(quotes)) code.replace(at, 3, " ");
    }
    kept += code + "\n";
  }
  return kept;
}

std::vector<Token> tokens_of(const prompting::ProblemText& text) {
  return sandbox::tokenize(text.problem.pytorch() ? python_as_tokens(text.reference) : text.reference);
}

bool is_call(const std::vector<Token>& tokens, size_t at) {
  return tokens[at].kind == TokenKind::identifier && at + 1 < tokens.size() && tokens[at + 1].is("(");
}

bool is_member(const std::vector<Token>& tokens, size_t at) {
  return at > 0 && (tokens[at - 1].is(".") || tokens[at - 1].is("::"));
}

// Functions and classes that the source itself defines: a type, "def" or "class" stands before their name.
std::set<std::string> own_names(const std::vector<Token>& tokens) {
  std::set<std::string> names;
  for (size_t i = 1; i < tokens.size(); ++i) {
    const bool defines = tokens[i - 1].kind == TokenKind::identifier && tokens[i - 1].text != "return";
    if (defines && is_call(tokens, i)) names.insert(tokens[i].text);
  }
  return names;
}

// The tokens with own names replaced by their order. Members and functions of others keep theirs: they say what is
// computed.
std::vector<std::string> renamed(const std::vector<Token>& tokens) {
  const std::set<std::string> own = own_names(tokens);
  std::map<std::string, size_t> order;
  std::vector<std::string> words;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool others = is_member(tokens, i) || (is_call(tokens, i) && !own.contains(token.text));
    if (token.kind == TokenKind::string) continue;
    if (token.kind == TokenKind::number) {
      words.emplace_back("0");
    } else if (token.kind == TokenKind::identifier && !others) {
      words.push_back("name " + std::to_string(order.emplace(token.text, order.size()).first->second));
    } else {
      words.push_back(token.text);
    }
  }
  return words;
}

// Calls of functions whose choice changes the values. Largest and least are left out: references find them by
// comparisons as well.
std::set<std::string> mathematics(const prompting::ProblemText& text, const std::vector<Token>& tokens) {
  static const std::set<std::string> kFunctions{"exp",  "exp2", "expm1", "log", "log2", "log1p", "erf",
                                                "erfc", "tanh", "sin",   "cos", "pow",  "sqrt",  "rsqrt"};
  std::set<std::string> called;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!is_call(tokens, i)) continue;
    if (text.problem.pytorch() ? is_member(tokens, i) : kFunctions.contains(tokens[i].text))
      called.insert(tokens[i].text);
  }
  return called;
}

// "5 * 0 * 1": axes by their order.
std::string operations(const benchsuite::Problem& problem) {
  std::string words;
  for (const Token& token : sandbox::tokenize(problem.cost.flops.text())) {
    const auto axis = std::ranges::find(problem.axes, token.text, &benchsuite::Axis::name);
    words += axis == problem.axes.end() ? token.text : "axis " + std::to_string(axis - problem.axes.begin());
    words += " ";
  }
  return words;
}

bool same_tensors(const std::vector<benchsuite::Tensor>& a, const std::vector<benchsuite::Tensor>& b) {
  return std::ranges::equal(a, b, [](const benchsuite::Tensor& one, const benchsuite::Tensor& other) {
    return one.dtype == other.dtype && one.shape.size() == other.shape.size();
  });
}
}  // namespace

std::set<std::string> token_runs(std::string_view source) {
  const std::vector<Token> tokens = sandbox::tokenize(source);
  std::set<std::string> runs;
  for (size_t i = 0; i + kRunTokens <= tokens.size(); ++i) {
    std::string run;
    for (size_t k = i; k < i + kRunTokens; ++k) {
      run += (tokens[k].kind == TokenKind::number ? "0" : tokens[k].text) + " ";
    }
    runs.insert(std::move(run));
  }
  return runs;
}

double likeness(const std::set<std::string>& a, const std::set<std::string>& b) {
  const auto shared =
      static_cast<double>(std::ranges::count_if(a, [&](const std::string& run) { return b.contains(run); }));
  const double all = static_cast<double>(a.size() + b.size()) - shared;
  return all > 0 ? shared / all : 0;
}

bool same_computation(const prompting::ProblemText& a, const prompting::ProblemText& b) {
  if (a.problem.kind != b.problem.kind || a.problem.pytorch() != b.problem.pytorch()) return false;
  if (!same_tensors(a.problem.inputs, b.problem.inputs) || !same_tensors(a.problem.outputs, b.problem.outputs))
    return false;
  const std::vector<Token> first = tokens_of(a), second = tokens_of(b);
  if (renamed(first) == renamed(second)) return true;
  return operations(a.problem) == operations(b.problem) && mathematics(a, first) == mathematics(b, second);
}

}  // namespace agent::learning
