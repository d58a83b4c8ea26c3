#include "sandbox/cpu/compiler/asm_macros.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sandbox/tokens.h"

namespace sandbox::cpu::compiler {
namespace {
constexpr size_t kMostPieces = 200'000;  // of one source, after expansion

struct Piece {
  TokenKind kind;
  std::string text;
  bool apart;  // there is a blank before it

  bool is(std::string_view t) const { return text == t && kind != TokenKind::string; }
};
using Pieces = std::vector<Piece>;

struct AsmMacro {
  bool function_like = false, usable = true;
  std::vector<std::string> parameters;
  Pieces body;
  bool has_asm = false;  // one that is no statement by itself
};

bool begins_asm(const Piece& piece) { return piece.is("asm") || piece.is("__asm__") || piece.is("__asm"); }

// Past the parenthesis that closes the one at `open`; 0 if none does.
size_t past_closing(const Pieces& pieces, size_t open) {
  int depth = 0;
  for (size_t i = open; i < pieces.size(); ++i) {
    if (pieces[i].is("(")) ++depth;
    if (pieces[i].is(")") && --depth == 0) return i + 1;
  }
  return 0;
}
// The parenthesis of the assembly at `at`; 0 if there is none.
size_t opening_of_asm(const Pieces& pieces, size_t at) {
  size_t open = at + 1;
  while (open < pieces.size() && pieces[open].kind == TokenKind::identifier) ++open;  // volatile
  return open < pieces.size() && pieces[open].is("(") ? open : 0;
}
// Whether it is more than strings, colons and expressions in parentheses.
bool needs_expansion(const Pieces& pieces, size_t open, size_t past) {
  int depth = 0;
  for (size_t i = open; i < past; ++i) {
    if (pieces[i].is("(")) ++depth;
    if (pieces[i].is(")")) --depth;
    if (depth == 1 && (pieces[i].kind == TokenKind::identifier || pieces[i].is("#"))) return true;
  }
  return false;
}
bool has_incomplete_asm(const Pieces& pieces) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!begins_asm(pieces[i])) continue;
    const size_t open = opening_of_asm(pieces, i), past = open == 0 ? 0 : past_closing(pieces, open);
    if (past != 0 && needs_expansion(pieces, open, past)) return true;
  }
  return false;
}

std::string text_of(const Pieces& pieces) {
  std::string text;
  for (const Piece& piece : pieces) text += (piece.apart && !text.empty() ? " " : "") + piece.text;
  return text;
}
Piece quoted(const Pieces& argument) {
  std::string text = "\"";
  for (const char c : text_of(argument)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return {TokenKind::string, text + "\"", true};
}

// Takes pieces one after the other. What comes out of a macro stands apart from what is around it.
struct Sequence {
  Pieces all;
  bool apart = false;

  void add(Piece piece) {
    piece.apart = piece.apart || apart;
    apart = false;
    all.push_back(std::move(piece));
  }
  void add_expanded(const Pieces& pieces) {
    apart = true;
    for (const Piece& piece : pieces) add(piece);
    apart = true;
  }
};

class AsmMacros {
 public:
  explicit AsmMacros(std::string_view source) : source_(source), tokens_(tokenize(source)) {}

  std::string run() {
    for (size_t i = 0; i < tokens_.size();) {
      const bool starts = i == 0 || tokens_[i - 1].directive != tokens_[i].directive;
      if (tokens_[i].directive >= 0) {
        i = starts && tokens_[i].is("#") ? read_directive(i) : i + 1;
      } else {
        i = visit(i);
      }
    }
    if (edits_.empty()) return std::string(source_);
    std::string text;
    size_t done = 0;
    for (const Edit& edit : edits_) {
      text += source_.substr(done, edit.begin - done);
      text += edit.text;
      const std::string_view replaced = source_.substr(edit.begin, edit.end - edit.begin);
      for (auto lines = std::ranges::count(replaced, '\n'); lines > 0; --lines) {
        text += edit.in_directive ? "\\\n" : "\n";
      }
      done = edit.end;
    }
    return text += source_.substr(done);
  }

 private:
  struct Edit {
    size_t begin, end;
    std::string text;
    bool in_directive;
  };

  Pieces pieces(size_t begin, size_t end) const {
    Pieces found;
    for (size_t i = begin; i < end; ++i) {
      found.push_back({tokens_[i].kind, tokens_[i].text, i > begin && tokens_[i].begin != tokens_[i - 1].end});
    }
    return found;
  }

  size_t read_directive(size_t at) {
    size_t end = at;
    while (end < tokens_.size() && tokens_[end].directive == tokens_[at].directive) ++end;
    if (end - at < 3) return end;
    const std::string& name = tokens_[at + 2].text;
    if (tokens_[at + 1].is("undef")) macros_.erase(name);
    if (!tokens_[at + 1].is("define")) return end;
    AsmMacro macro;
    size_t body = at + 3;
    if (body < end && tokens_[body].is("(") && tokens_[body].begin == tokens_[body - 1].end) {
      macro.function_like = true;
      for (++body; body < end && !tokens_[body].is(")"); ++body) {
        if (tokens_[body].kind == TokenKind::identifier) macro.parameters.push_back(tokens_[body].text);
        if (tokens_[body].is(".")) macro.usable = false;  // any number of arguments
      }
      ++body;
    }
    if (body >= end) body = end;
    macro.body = pieces(body, end);
    for (size_t i = 0; i + 1 < macro.body.size(); ++i) {
      if (macro.body[i].is("#") && macro.body[i + 1].is("#")) macro.usable = false;
    }
    macro.has_asm = has_incomplete_asm(macro.body);
    const auto [known, fresh] = macros_.emplace(name, macro);
    if (!fresh) known->second.usable = false;  // it depends on conditions which definition holds
    if (macro.has_asm && known->second.usable) {
      edits_.push_back({tokens_[body].begin, tokens_[end - 1].end, "__nv_assembly_in_a_macro", true});
    }
    return end;
  }

  // Expands at a token of code what must be; the token to go on with.
  size_t visit(size_t at) {
    const Token& here = tokens_[at];
    if (here.kind != TokenKind::identifier) return at + 1;
    const auto found = macros_.find(here.text);
    const bool is_asm = here.is("asm") || here.is("__asm__") || here.is("__asm");
    if (!is_asm && (found == macros_.end() || !found->second.has_asm || !found->second.usable)) return at + 1;
    size_t open = at + 1;
    while (is_asm && open < tokens_.size() && tokens_[open].kind == TokenKind::identifier) ++open;
    const bool called = open < tokens_.size() && tokens_[open].is("(");
    if (!called && (is_asm || found->second.function_like)) return at + 1;
    const size_t past = called && (is_asm || found->second.function_like) ? past_parentheses(open) : at + 1;
    if (past == 0) return at + 1;
    const Pieces written = pieces(at, past);
    if (is_asm && !needs_expansion(written, open - at, written.size())) return past;
    std::set<std::string> hidden;
    const auto expanded = expand(written, hidden);
    if (!expanded) return at + 1;
    std::string text = text_of(*expanded);
    if (text.find('\n') != text.npos) return at + 1;  // of a raw string
    edits_.push_back({here.begin, tokens_[past - 1].end, std::move(text), false});
    return past;
  }

  size_t past_parentheses(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < tokens_.size() && tokens_[i].directive < 0; ++i) {
      if (tokens_[i].is("(")) ++depth;
      if (tokens_[i].is(")") && --depth == 0) return i + 1;
    }
    return 0;
  }

  // nullopt: it takes what this does not do.
  std::optional<Pieces> expand(const Pieces& given, std::set<std::string>& hidden) {
    Sequence result;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto found = given[i].kind == TokenKind::identifier ? macros_.find(given[i].text) : macros_.end();
      const bool called = i + 1 < given.size() && given[i + 1].is("(");
      if (found == macros_.end() || hidden.contains(given[i].text) || (found->second.function_like && !called)) {
        result.add(given[i]);
      } else {
        const AsmMacro& macro = found->second;
        if (!macro.usable) return std::nullopt;
        const size_t past = macro.function_like ? past_closing(given, i + 1) : i + 1;
        if (past == 0) return std::nullopt;
        auto body = macro.function_like ? substitute(macro, {given.begin() + i + 2, given.begin() + past - 1}, hidden)
                                        : std::optional(macro.body);
        if (!body) return std::nullopt;
        hidden.insert(found->first);
        auto expanded = expand(*body, hidden);
        hidden.erase(found->first);
        if (!expanded) return std::nullopt;
        result.add_expanded(*expanded);
        count_ += expanded->size();
        i = past - 1;
      }
      if (++count_ > kMostPieces) return std::nullopt;
    }
    return result.all;
  }

  std::optional<Pieces> substitute(const AsmMacro& macro, const Pieces& arguments, std::set<std::string>& hidden) {
    std::vector<Pieces> given(1);
    int depth = 0;
    for (const Piece& piece : arguments) {
      if (piece.is("(")) ++depth;
      if (piece.is(")")) --depth;
      if (depth == 0 && piece.is(",")) {
        given.emplace_back();
      } else {
        given.back().push_back(piece);
      }
    }
    if (macro.parameters.empty() && given.size() == 1 && given[0].empty()) given.clear();
    if (given.size() != macro.parameters.size()) return std::nullopt;
    std::vector<Pieces> expanded;
    for (const Pieces& argument : given) {
      auto whole = expand(argument, hidden);
      if (!whole) return std::nullopt;
      expanded.push_back(std::move(*whole));
    }
    Sequence result;
    for (size_t i = 0; i < macro.body.size(); ++i) {
      const bool quote = macro.body[i].is("#");
      if (quote) ++i;
      if (i == macro.body.size()) return std::nullopt;
      const auto parameter = std::ranges::find(macro.parameters, macro.body[i].text);
      const size_t index = static_cast<size_t>(parameter - macro.parameters.begin());
      if (macro.body[i].kind != TokenKind::identifier || parameter == macro.parameters.end()) {
        if (quote) return std::nullopt;
        result.add(macro.body[i]);
      } else if (quote) {
        result.add(quoted(given[index]));
      } else {
        result.add_expanded(expanded[index]);
        count_ += expanded[index].size();
      }
    }
    return result.all;
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::map<std::string, AsmMacro> macros_;  // those in force
  std::vector<Edit> edits_;
  size_t count_ = 0;
};
}  // namespace

std::string expand_asm_macros(std::string_view source) {
  if (source.find("asm") == source.npos) return std::string(source);
  return AsmMacros(source).run();
}

}  // namespace sandbox::cpu::compiler
