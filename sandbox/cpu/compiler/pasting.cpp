#include "sandbox/cpu/compiler/source_rules.h"

#include <algorithm>
#include <set>

namespace sandbox::cpu::compiler {
namespace {

bool is_word(const Token& token) { return token.kind == TokenKind::identifier || token.kind == TokenKind::number; }

// One #define: the tokens [body, past) are its replacement.
struct Macro {
  std::string name;
  std::set<std::string> parameters;
  size_t body, past;

  bool balanced(const std::vector<Token>& tokens) const {
    int depth = 0;
    for (size_t i = body; i < past && depth >= 0; ++i) depth += tokens[i].is("(") ? 1 : tokens[i].is(")") ? -1 : 0;
    return depth == 0;
  }
};

std::vector<Macro> macros_of(const std::vector<Token>& tokens) {
  std::vector<Macro> macros;
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    const bool first = i == 0 || tokens[i - 1].directive != tokens[i].directive;
    if (tokens[i].directive < 0 || !first || !tokens[i].is("#") || !tokens[i + 1].is("define")) continue;
    const auto here = [&](size_t k) { return k < tokens.size() && tokens[k].directive == tokens[i].directive; };
    Macro macro{tokens[i + 2].text, {}, i + 3, 0};
    if (here(macro.body) && tokens[macro.body].is("(") && tokens[macro.body].begin == tokens[i + 2].end) {
      while (here(++macro.body) && !tokens[macro.body].is(")")) macro.parameters.insert(tokens[macro.body].text);
      ++macro.body;
      macro.parameters.insert("__VA_ARGS__");
    }
    for (macro.past = macro.body; here(macro.past);) ++macro.past;
    macros.push_back(std::move(macro));
  }
  return macros;
}

// Words that a parameter may become: words in macros, and words in parentheses behind a macro's name.
std::set<std::string> arguments_of(const std::vector<Token>& tokens, const std::vector<Macro>& macros) {
  std::set<std::string> names, words;
  bool anywhere = false;  // a call's parentheses may be put together from several macros
  for (const Macro& macro : macros) {
    names.insert(macro.name);
    anywhere = anywhere || !macro.balanced(tokens);
    for (size_t i = macro.body; i < macro.past; ++i) {
      if (is_word(tokens[i]) && macro.parameters.count(tokens[i].text) == 0) words.insert(tokens[i].text);
    }
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (anywhere && is_word(tokens[i])) words.insert(tokens[i].text);
    if (i + 1 >= tokens.size() || !tokens[i + 1].is("(") || names.count(tokens[i].text) == 0) continue;
    if (tokens[i].directive >= 0 && i > 0 && tokens[i - 1].is("define")) continue;
    int depth = 0;
    for (size_t k = i + 1; k < tokens.size(); ++k) {
      depth += tokens[k].is("(") ? 1 : tokens[k].is(")") ? -1 : 0;
      if (depth == 0) break;
      if (is_word(tokens[k])) words.insert(tokens[k].text);
    }
  }
  return words;
}

// One a##b##c: the operands, empty where anything may stand.
struct Paste {
  std::vector<std::string> operands;
  int line;
};

std::vector<Paste> pastes_of(const std::vector<Token>& tokens, const std::vector<Macro>& macros) {
  std::vector<Paste> pastes;
  for (const Macro& macro : macros) {
    const auto operand = [&](size_t i) {
      const bool fixed = i >= macro.body && i < macro.past && is_word(tokens[i]) && tokens[i].text != "__VA_OPT__" &&
                         macro.parameters.count(tokens[i].text) == 0;
      return fixed ? tokens[i].text : std::string();
    };
    for (size_t i = macro.body; i + 1 < macro.past; ++i) {
      if (!tokens[i].is("#") || !tokens[i + 1].is("#")) continue;
      const bool goes_on = !pastes.empty() && i >= macro.body + 3 && tokens[i - 2].is("#") && tokens[i - 3].is("#");
      if (!goes_on) pastes.push_back({{operand(i - 1)}, tokens[i].line});
      pastes.back().operands.push_back(operand(i + 2));
      ++i;
    }
  }
  return pastes;
}

// Whether the operands can make `word`, or a word that begins with it.
bool gives(const Paste& paste, std::string_view word, bool prefix, const std::set<std::string>& arguments) {
  std::set<size_t> reached{0};  // how much of the word the operands so far may give
  bool past = false;            // or more than all of it
  const auto step = [&](size_t from, const std::string& text, std::set<size_t>& to) {
    const std::string_view rest = word.substr(from);
    if (rest.substr(0, text.size()) == text) to.insert(from + text.size());
    if (prefix && text.size() >= rest.size() && std::string_view(text).substr(0, rest.size()) == rest) past = true;
  };
  for (const std::string& operand : paste.operands) {
    std::set<size_t> next;
    if (!operand.empty()) {
      for (const size_t from : reached) step(from, operand, next);
    } else {
      next = reached;  // an argument may be empty, and may itself have been pasted
      for (size_t from = 0; from < word.size(); ++from) {
        if (next.count(from) == 0) continue;
        for (const std::string& text : arguments) step(from, text, next);
      }
    }
    reached = std::move(next);
  }
  return past || reached.count(word.size()) > 0;
}
}  // namespace

std::optional<PastedWord> find_pasted_word(const std::vector<Token>& tokens, const std::vector<std::string_view>& words,
                                           const std::vector<std::string_view>& prefixes) {
  const std::vector<Macro> macros = macros_of(tokens);
  const std::vector<Paste> pastes = pastes_of(tokens, macros);
  if (pastes.empty()) return std::nullopt;
  const std::set<std::string> arguments = arguments_of(tokens, macros);
  for (const Paste& paste : pastes) {
    for (const std::string_view word : words) {
      if (gives(paste, word, false, arguments)) return PastedWord{std::string(word), paste.line};
    }
    for (const std::string_view prefix : prefixes) {
      if (gives(paste, prefix, true, arguments)) return PastedWord{std::string(prefix), paste.line};
    }
  }
  return std::nullopt;
}

}  // namespace sandbox::cpu::compiler
