#include "verifier/draws/source/calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace verifier::draws::source {
namespace {
using sandbox::Token;
using sandbox::TokenKind;
using Tokens = std::span<const Token>;

constexpr size_t kMostOfABody = 1 << 13, kMostOfAList = 512, kMostOfAnArgument = 24;  // tokens
constexpr size_t kMostLetters = 128, kMostFunctions = 1024;

struct Parameter {
  std::string name;
  Tokens otherwise;  // its default
};
struct Function {
  std::vector<Parameter> of_template, parameters;
  Tokens body;
};
struct Functions {
  std::multimap<std::string, Function> by_name;
  std::set<const Token*> defined_at;
};

bool is_at(Tokens tokens, size_t i, std::string_view text) { return i < tokens.size() && tokens[i].is(text); }

// Where the bracket closes that opens at `begin`; the end if nowhere.
size_t closing(Tokens tokens, size_t begin, size_t most) {
  const std::string open = tokens[begin].text, close = open == "(" ? ")" : open == "[" ? "]" : "}";
  int depth = 0;
  for (size_t i = begin; i < tokens.size() && i - begin < most; ++i) {
    depth += tokens[i].is(open) - tokens[i].is(close);
    if (depth == 0) return i;
  }
  return tokens.size();
}

// Where a list of a template closes, `<128, 4>` or `<int TILE = 8>`; the end where it is none.
size_t closing_angle(Tokens tokens, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < tokens.size() && i - begin < kMostOfAList; ++i) {
    if (tokens[i].is(";") || tokens[i].is("{") || tokens[i].is("&") || tokens[i].is("|")) break;
    depth += tokens[i].is("<") - tokens[i].is(">");
    if (depth == 0) return i;
  }
  return tokens.size();
}

// Between commas, those in brackets aside.
std::vector<Tokens> listed(Tokens tokens, size_t begin, size_t end) {
  std::vector<Tokens> all;
  int depth = 0;
  for (size_t i = begin; i < end; ++i) {
    const Token& token = tokens[i];
    depth += (token.is("(") || token.is("[") || token.is("{")) - (token.is(")") || token.is("]") || token.is("}"));
    if (depth == 0 && token.is(",")) {
      all.push_back(tokens.subspan(i + 1, 0));
    } else {
      if (all.empty()) all.push_back(tokens.subspan(i, 0));
      all.back() = {all.back().data(), all.back().size() + 1};
    }
  }
  return all;
}

// The last name before its default.
std::vector<Parameter> parameters_of(Tokens tokens, size_t begin, size_t end) {
  std::vector<Parameter> all;
  for (const Tokens one : listed(tokens, begin, end)) {
    Parameter& parameter = all.emplace_back();
    size_t i = 0;
    for (; i < one.size() && !one[i].is("=") && !one[i].is("["); ++i) {
      if (one[i].kind == TokenKind::identifier && one[i].text.size() <= kMostLetters) parameter.name = one[i].text;
    }
    if (is_at(one, i, "=")) parameter.otherwise = one.subspan(i + 1);
  }
  return all;
}

Functions functions_of(Tokens tokens) {
  static const std::set<std::string_view> kKeywords = {"if",     "for",   "while",   "switch",   "return",
                                                       "sizeof", "catch", "alignas", "constexpr"};
  Functions functions;
  size_t tried = 0;
  std::vector<Parameter> of_template;  // of the declaration that goes on
  for (size_t i = 0; i + 1 < tokens.size() && tried < kMostFunctions; ++i) {
    if (tokens[i].is(";") || tokens[i].is("}")) of_template.clear();
    if (tokens[i].is("template") && tokens[i + 1].is("<")) {
      const size_t close = closing_angle(tokens, i + 1);
      if (close < tokens.size()) of_template = parameters_of(tokens, i + 2, close);
    }
    if (tokens[i].kind != TokenKind::identifier || kKeywords.contains(tokens[i].text)) continue;
    size_t list = i + 1;
    const bool is_lambda = tokens[list].is("=") && is_at(tokens, list + 1, "[");
    if (is_lambda) list = closing(tokens, list + 1, kMostOfAList) + 1;
    if (!is_at(tokens, list, "(")) continue;
    const size_t close = closing(tokens, list, kMostOfAList), begin = close + 1;
    const auto add = [&](size_t first, size_t end) {
      functions.defined_at.insert(&tokens[i]);
      functions.by_name.emplace(tokens[i].text,
                                Function{is_lambda ? std::vector<Parameter>() : of_template,
                                         parameters_of(tokens, list + 1, close), tokens.subspan(first, end - first)});
    };
    if (i > 0 && tokens[i - 1].is("define") && tokens[i].directive >= 0) {
      size_t end = begin;
      while (end < tokens.size() && tokens[end].directive == tokens[i].directive) ++end;
      if (end > begin) add(begin, end);
      continue;
    }
    for (size_t k = begin; k < std::min(begin + kMostOfAnArgument, tokens.size()); ++k) {  // "const noexcept -> int"
      const Token& token = tokens[k];
      if (token.is("{")) {
        ++tried;
        const size_t end = closing(tokens, k, kMostOfABody);
        if (end < tokens.size()) add(k + 1, end);
        break;
      }
      const bool goes_on = token.kind == TokenKind::identifier || token.is("-") || token.is(">") || token.is("*") ||
                           token.is("&") || token.is("::");
      if (!goes_on) break;
    }
  }
  return functions;
}

struct Call {
  size_t name = 0, list = 0;  // where its name is, and where the bracket of its arguments opens
  std::vector<Tokens> of_template, arguments;
};
std::vector<Call> calls_in(Tokens tokens, const Functions& some, const Functions& others) {
  std::vector<Call> calls;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const std::string& name = tokens[i].text;
    if (tokens[i].kind != TokenKind::identifier || !(some.by_name.contains(name) || others.by_name.contains(name)) ||
        some.defined_at.contains(&tokens[i]) || others.defined_at.contains(&tokens[i])) {
      continue;
    }
    Call call{i, i + 1, {}, {}};
    if (tokens[i + 1].is("<")) {
      const size_t close = closing_angle(tokens, i + 1);
      if (close == tokens.size()) continue;
      call.of_template = listed(tokens, i + 2, close);
      call.list = close + 1;
    }
    if (!is_at(tokens, call.list, "(")) continue;
    const size_t close = closing(tokens, call.list, kMostOfAList);
    if (close == tokens.size()) continue;
    call.arguments = listed(tokens, call.list + 1, close);
    calls.push_back(std::move(call));
  }
  return calls;
}

using Passed = std::map<std::string, Tokens>;

size_t letters_of(Tokens tokens) {
  size_t letters = 0;
  for (const Token& token : tokens) letters += token.text.size();
  return letters;
}

// Pairs parameters with arguments. A parameter whose argument is too long keeps its name.
Passed passed_by(const Call& call, const Function& function) {
  Passed passed;
  const auto pair = [&](const std::vector<Parameter>& parameters, const std::vector<Tokens>& arguments) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Tokens argument = i < arguments.size() ? arguments[i] : parameters[i].otherwise;
      if (!argument.empty() && argument.size() <= kMostOfAnArgument && letters_of(argument) <= kMostLetters) {
        passed[parameters[i].name] = argument;
      }
    }
  };
  pair(function.of_template, call.of_template);
  pair(function.parameters, call.arguments);
  return passed;
}

// `left`: tokens and letters, of which it takes its own. Nothing where they are too few.
std::vector<Token> body_for(Tokens body, const Passed& passed, size_t& left) {
  const auto bracket = [](const char* text) { return Token{TokenKind::punctuation, text, {}, 0, 0, 0, -1}; };
  std::vector<Token> result;
  size_t next = 0;  // of the result, to be counted
  for (size_t i = 0; i < body.size(); ++i) {
    for (; next < result.size(); ++next) left -= std::min(left, 1 + result[next].text.size());
    if (left == 0) return {};
    const bool is_member = i > 0 && (body[i - 1].is(".") || (i > 1 && body[i - 1].is(">") && body[i - 2].is("-")));
    const auto found = body[i].kind == TokenKind::identifier && !is_member ? passed.find(body[i].text) : passed.end();
    if (found == passed.end()) {
      result.push_back(body[i]);
      continue;
    }
    const Tokens argument = found->second;
    if (argument.size() > 1) result.push_back(bracket("("));
    result.insert(result.end(), argument.begin(), argument.end());
    if (argument.size() > 1) result.push_back(bracket(")"));
  }
  return result;
}

std::vector<Token> without_template_arguments(Tokens tokens, const std::vector<Call>& calls) {
  std::vector<Token> result;
  size_t next = 0;
  for (const Call& call : calls) {
    if (call.name < next) continue;  // in such arguments
    result.insert(result.end(), &tokens[next], &tokens[call.name] + 1);
    next = call.list;
  }
  result.insert(result.end(), tokens.data() + next, tokens.data() + tokens.size());
  return result;
}
}  // namespace

std::vector<CalledBody> called_bodies(const std::vector<Token>& tokens, const SourceValues& values) {
  constexpr size_t kMostBodies = 256, kMostOfAll = 1 << 19, kMostOfAName = 8;
  constexpr int kMostDepth = 4;
  std::vector<CalledBody> bodies{{"", tokens}}, results;
  for (size_t i = 0; i < tokens.size(); ++i) {
    Token& token = bodies[0].tokens[i];
    if (!values[i] || token.kind == TokenKind::number) continue;
    token.kind = TokenKind::number;
    token.text = std::to_string(*values[i]);
  }
  const Functions functions = functions_of(bodies[0].tokens);
  std::set<std::pair<const Token*, std::string>> known;
  size_t left = kMostOfAll;
  const auto add = [&](const Functions& some, const Call& call, const std::string& name) {
    auto [function, last] = some.by_name.equal_range(name);
    for (size_t i = 0; i < kMostOfAName && function != last && bodies.size() <= kMostBodies; ++i, ++function) {
      const Tokens body = function->second.body;
      if (body.empty() || call.arguments.size() > function->second.parameters.size()) continue;
      const Passed passed = passed_by(call, function->second);
      std::string key;
      for (const auto& [parameter, argument] : passed) {
        key += "," + parameter + "=";  // neither is long
        for (const Token& token : argument) key += token.text + " ";
      }
      if (!known.emplace(body.data(), std::move(key)).second) continue;
      std::vector<Token> result = body_for(body, passed, left);
      if (!result.empty()) bodies.push_back({name, std::move(result)});
    }
  };
  for (int depth = 0; depth <= kMostDepth; ++depth) {
    for (const size_t end = bodies.size(); results.size() < end;) {
      const std::string name = bodies[results.size()].name;
      const Tokens body = bodies[results.size()].tokens;
      const Functions own = results.empty() ? Functions() : functions_of(body);
      const std::vector<Call> calls = calls_in(body, own, functions);
      for (const Call& call : calls) {
        const std::string& called = body[call.name].text;
        if (depth < kMostDepth) add(own.by_name.contains(called) ? own : functions, call, called);
      }
      results.push_back({name, without_template_arguments(body, calls)});
    }
  }
  return results;
}

}  // namespace verifier::draws::source
