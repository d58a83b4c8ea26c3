#include <algorithm>
#include <map>
#include <set>

#include "sandbox/cpu/compiler/source_rules.h"

namespace sandbox::cpu::compiler {
namespace {

bool is_word(const Token& token) { return token.kind == TokenKind::identifier || token.kind == TokenKind::number; }

// The words that a place may hold, each alone or pasted together.
struct Values {
  std::set<std::string> words;
  std::set<std::string> macros;  // of these: names of macros with no parentheses behind them
  bool pasted = false;

  // Whether that adds anything.
  bool add(const Values& more) {
    const size_t before = words.size() + macros.size();
    const bool newly = more.pasted && !pasted;
    words.insert(more.words.begin(), more.words.end());
    macros.insert(more.macros.begin(), more.macros.end());
    pasted = pasted || more.pasted;
    return newly || words.size() + macros.size() != before;
  }
};

// One #define: the tokens [body, past) are its replacement.
struct Macro {
  std::string name;
  bool function_like = false;
  std::vector<std::string> parameters;  // the last one takes all further arguments
  size_t header, body, past;

  size_t parameter(const std::string& word) const {
    return static_cast<size_t>(std::ranges::find(parameters, word) - parameters.begin());
  }
  bool has(const std::string& word) const { return parameter(word) < parameters.size(); }
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
    Macro macro{tokens[i + 2].text, false, {}, i, i + 3, 0};
    if (here(macro.body) && tokens[macro.body].is("(") && tokens[macro.body].begin == tokens[i + 2].end) {
      macro.function_like = true;
      while (here(++macro.body) && !tokens[macro.body].is(")")) {
        if (is_word(tokens[macro.body])) macro.parameters.push_back(tokens[macro.body].text);
      }
      ++macro.body;
      macro.parameters.emplace_back("__VA_ARGS__");
    }
    for (macro.past = macro.body; here(macro.past);) ++macro.past;
    macros.push_back(std::move(macro));
  }
  return macros;
}

// Follows the arguments of macros to where they are used.
class Flow {
 public:
  Flow(const std::vector<Token>& tokens, const std::vector<Macro>& macros) : tokens_(tokens), macros_(macros) {
    for (size_t m = 0; m < macros.size(); ++m) by_name_[macros[m].name].push_back(m);
    for (size_t m = 0; m < macros.size(); ++m) {
      values_.emplace_back(macros[m].parameters.size());
      understood_ = understood_ && macros[m].balanced(tokens);
      scan(macros[m].body, macros[m].past, m);
    }
    size_t macro = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (macro < macros.size() && i == macros[macro].header) {
        i = macros[macro++].past - 1;
      } else {
        scan(i, i + 1, kText);
      }
    }
    everything_.pasted = true;
    constexpr int kMostRounds = 64;
    bool more = true;
    for (int round = 0; more && round < kMostRounds; ++round) more = pass_on();
    understood_ = understood_ && !more && std::ranges::none_of(names_, [&](const Name& name) { return escapes(name); });
  }

  // False where a call may be put together in a way that is not followed here: then anything may be anywhere.
  bool understood() const { return understood_; }
  const Values& of(size_t macro, size_t parameter) const { return values_[macro][parameter]; }
  // All places.
  const Values& everything() const { return everything_; }
  // From now on anything may be anywhere.
  void give_up() {
    understood_ = false;
    for (const Token& token : tokens_) add_word(everything_, token);
  }
  bool is_macro(const std::string& name) const { return by_name_.contains(name); }

 private:
  static constexpr size_t kText = SIZE_MAX;  // outside of macros

  // A word that is a macro, or that stands for one.
  struct Name {
    size_t at, within;
  };
  struct Call {
    size_t at, within;                                 // the token of its name
    std::vector<std::pair<size_t, size_t>> arguments;  // tokens [first, second)
    size_t past;
  };

  static void add_word(Values& values, const Token& token) {
    if (is_word(token)) values.words.insert(token.text);
  }
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool is_parameter(size_t at, size_t within) const { return within != kText && macros_[within].has(tokens_[at].text); }

  void scan(size_t begin, size_t end, size_t within) {
    for (size_t i = begin; i < end; ++i) {
      if (!is_word(tokens_[i]) || (!is_parameter(i, within) && !is_macro(tokens_[i].text))) continue;
      names_.push_back({i, within});
      if (is(i + 1, "(")) add_call(i, within, within == kText ? tokens_.size() : end);
    }
  }

  void add_call(size_t at, size_t within, size_t end) {
    Call call{at, within, {}, 0};
    int depth = 0;
    size_t begin = at + 2;
    for (size_t i = at + 1; i < end; ++i) {
      if (tokens_[i].is("(")) ++depth;
      if (tokens_[i].is(")")) --depth;
      if (depth == 0 || (depth == 1 && tokens_[i].is(","))) {
        call.arguments.emplace_back(begin, i);
        begin = i + 1;
      }
      if (within == kText && tokens_[i].directive != tokens_[at].directive) break;
      if (depth > 0) continue;
      call.past = i + 1;
      calls_.push_back(std::move(call));
      return;
    }
    understood_ = false;
  }

  // The macros that a word may be.
  std::vector<size_t> macros_at(size_t at, size_t within) const {
    std::vector<size_t> found;
    const auto add = [&](const std::string& name) {
      const auto macros = by_name_.find(name);
      if (macros != by_name_.end()) found.insert(found.end(), macros->second.begin(), macros->second.end());
    };
    if (is_parameter(at, within)) {
      for (const std::string& word : values_[within][macros_[within].parameter(tokens_[at].text)].macros) add(word);
    } else {
      add(tokens_[at].text);
    }
    return found;
  }

  // The words that the tokens [begin, end) may become.
  Values values_of(size_t begin, size_t end, size_t within) const {
    Values values;
    std::set<size_t> expanded;
    add_tokens(values, begin, end, within, expanded);
    return values;
  }
  void add_tokens(Values& values, size_t begin, size_t end, size_t within, std::set<size_t>& expanded) const {
    for (size_t i = begin; i < end; ++i) {
      if (is(i, "#") && is(i + 1, "#")) values.pasted = true;
      if (!is_word(tokens_[i])) continue;
      if (is_parameter(i, within)) {
        values.add(values_[within][macros_[within].parameter(tokens_[i].text)]);
      } else {
        values.words.insert(tokens_[i].text);
        const bool called = i + 1 < end && is(i + 1, "(");
        if (!called && is_macro(tokens_[i].text)) values.macros.insert(tokens_[i].text);
      }
      for (const size_t macro : macros_at(i, within)) {
        if (expanded.insert(macro).second)
          add_tokens(values, macros_[macro].body, macros_[macro].past, macro, expanded);
      }
    }
  }

  // An argument that holds macros or parameters may become several.
  bool hand_over(const Call& call, size_t argument, size_t macro) {
    std::vector<Values>& parameters = values_[macro];
    if (parameters.empty()) return false;
    const auto [begin, end] = call.arguments[argument];
    const Values given = values_of(begin, end, call.within);
    const size_t first = std::min(argument, parameters.size() - 1);
    const bool may_be_several = std::ranges::any_of(
        names_, [&, begin = begin, end = end](const Name& name) { return name.at >= begin && name.at < end; });
    bool news = parameters[first].add(given);
    for (size_t i = first + 1; may_be_several && i < parameters.size(); ++i) news = parameters[i].add(given) || news;
    return news;
  }

  // Gives each macro what its calls hand it. Whether that was anything new.
  bool pass_on() {
    bool news = false;
    for (const Call& call : calls_) {
      for (const size_t macro : macros_at(call.at, call.within)) {
        for (size_t i = 0; i < call.arguments.size(); ++i) news = hand_over(call, i, macro) || news;
      }
    }
    return news;
  }

  // Whether this macro's name may come to stand before parentheses that are not seen behind it here.
  bool escapes(const Name& name) const {
    const std::vector<size_t> macros = macros_at(name.at, name.within);
    const bool called = is(name.at + 1, "(");
    for (const size_t m : macros) {
      const bool handed_on = is(name.at + 1, ",") || is(name.at + 1, ")");
      if (macros_[m].function_like && !called && !handed_on) return true;
      if (called && !macros_[m].function_like && ends_in_macro(m)) return true;
    }
    if (!called) return false;
    const auto call = std::ranges::find_if(calls_, [&](const Call& one) { return one.at == name.at; });
    if (call == calls_.end() || !is(call->past, "(")) return false;
    return std::ranges::any_of(macros, [&](size_t m) { return ends_in_macro(m); });
  }
  bool ends_in_macro(size_t m) const {
    const Macro& macro = macros_[m];
    if (macro.past == macro.body) return false;
    return !values_of(macro.past - 1, macro.past, m).macros.empty();
  }

  const std::vector<Token>& tokens_;
  const std::vector<Macro>& macros_;
  std::map<std::string, std::vector<size_t>> by_name_;
  std::vector<std::vector<Values>> values_;  // by macro and parameter
  Values everything_;
  std::vector<Name> names_;
  std::vector<Call> calls_;
  bool understood_ = true;
};

// One a##b##c: what each operand may be.
struct Paste {
  std::vector<Values> operands;
  int line;
};

std::vector<Paste> pastes_of(const std::vector<Token>& tokens, const std::vector<Macro>& macros, const Flow& flow) {
  std::vector<Paste> pastes;
  for (size_t m = 0; m < macros.size(); ++m) {
    const Macro& macro = macros[m];
    const auto operand = [&](size_t i) {
      const bool word = i >= macro.body && i < macro.past && is_word(tokens[i]) && tokens[i].text != "__VA_OPT__";
      if (word && !macro.has(tokens[i].text)) return Values{{tokens[i].text}, {}, false};
      Values values = word && flow.understood() ? flow.of(m, macro.parameter(tokens[i].text)) : flow.everything();
      values.words.insert("");  // an argument may be empty
      return values;
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
bool gives(const Paste& paste, std::string_view word, bool prefix) {
  std::set<size_t> reached{0};  // how much of the word the operands so far may give
  bool past = false;            // or more than all of it
  const auto step = [&](size_t from, const std::string& text, std::set<size_t>& to) {
    const std::string_view rest = word.substr(from);
    if (rest.substr(0, text.size()) == text) to.insert(from + text.size());
    if (prefix && text.size() >= rest.size() && std::string_view(text).substr(0, rest.size()) == rest) past = true;
  };
  for (const Values& operand : paste.operands) {
    std::set<size_t> next;
    for (const size_t from : reached) {
      for (const std::string& text : operand.words) step(from, text, next);
    }
    for (size_t from = 0; operand.pasted && from < word.size(); ++from) {
      if (next.count(from) == 0) continue;
      for (const std::string& text : operand.words) step(from, text, next);
    }
    reached = std::move(next);
  }
  return past || reached.count(word.size()) > 0;
}

std::vector<Paste> possible_pastes(const std::vector<Token>& tokens) {
  const std::vector<Macro> macros = macros_of(tokens);
  Flow flow(tokens, macros);
  std::vector<Paste> pastes = pastes_of(tokens, macros, flow);
  // A pasted name may be that of a macro, which is then called.
  const bool makes_macros = std::ranges::any_of(pastes, [&](const Paste& paste) {
    return std::ranges::any_of(macros, [&](const Macro& macro) { return gives(paste, macro.name, false); });
  });
  if (flow.understood() && !makes_macros) return pastes;
  flow.give_up();
  return pastes_of(tokens, macros, flow);
}
}  // namespace

std::optional<PastedWord> find_pasted_word(const std::vector<Token>& tokens, const std::vector<std::string_view>& words,
                                           const std::vector<std::string_view>& prefixes) {
  for (const Paste& paste : possible_pastes(tokens)) {
    for (const std::string_view word : words) {
      if (gives(paste, word, false)) return PastedWord{std::string(word), paste.line};
    }
    for (const std::string_view prefix : prefixes) {
      if (gives(paste, prefix, true)) return PastedWord{std::string(prefix), paste.line};
    }
  }
  return std::nullopt;
}

}  // namespace sandbox::cpu::compiler
