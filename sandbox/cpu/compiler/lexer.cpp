#include "sandbox/cpu/compiler/lexer.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "sandbox/cpu/compiler/asm_macros.h"
#include "sandbox/cpu/compiler/inline_ptx.h"
#include "sandbox/cpu/compiler/local_variables.h"
#include "sandbox/cpu/compiler/source_rules.h"
#include "sandbox/tokens.h"

namespace sandbox::cpu::compiler {
namespace {

struct Edit {
  size_t begin, end;  // bytes of the source; equal for an insertion
  std::string text;
  bool in_directive = false;
};

std::set<std::string> names_of_macros(const std::vector<Token>& tokens) {
  std::set<std::string> names;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].directive >= 0 && tokens[i].is("define")) names.insert(tokens[i + 1].text);
  }
  return names;
}

enum class Brace { name_space, c_linkage, type, code };

class Lexer {
 public:
  Lexer(std::string_view source, Dialect dialect)
      : source_(source), dialect_(dialect), tokens_(tokenize(source)), macros_(names_of_macros(tokens_)) {}

  std::variant<LexedSource, Rejected> run() {
    if (auto rejected = check_source(source_, tokens_)) return *rejected;
    while (at_ < tokens_.size()) {
      if (auto rejected = visit()) return *rejected;
    }
    result_.text = edited();
    if (uses_dynamic_) result_.text += "\nKW_DYNAMIC_SHARED\n";
    return std::move(result_);
  }

 private:
  const Token& token() const { return tokens_[at_]; }
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }

  // Handles the current token and advances.
  std::optional<Rejected> visit() {
    const Token& here = token();
    if (here.is("#") && here.directive >= 0 && is(at_ + 1, "include") && tokens_[at_ + 1].directive == here.directive) {
      return visit_include();
    }
    if (here.is("asm") || here.is("__asm__") || here.is("__asm")) return visit_asm();
    if (here.is("__shared__")) return visit_shared();
    if (here.directive < 0) {
      if (here.is("__global__")) visit_global();
      visit_structure();
    } else if (at_ + 1 == tokens_.size() || tokens_[at_ + 1].directive != here.directive) {
      if (parentheses_ == 0) statement_ = at_ + 1;  // a declaration may begin behind a directive
    }
    ++at_;
    return std::nullopt;
  }

  std::optional<Rejected> visit_include() {
    const Token& hash = token();
    const size_t name = at_ + 2;
    if (name >= tokens_.size() || tokens_[name].kind != TokenKind::header_name) {
      return Rejected{Rejection::forbidden, "#include of a computed name", hash.line, ""};
    }
    const auto rule = header_rule(tokens_[name].value, hash.line, dialect_);
    if (const auto* rejected = std::get_if<Rejected>(&rule)) return *rejected;
    if (std::get<HeaderRule>(rule) == HeaderRule::built_in) replace(at_, name, "");
    at_ = name + 1;
    return std::nullopt;
  }

  std::optional<Rejected> visit_asm() {
    const bool in_code = std::ranges::find(braces_, Brace::code) != braces_.end();
    if (!in_code && token().directive < 0) {
      return Rejected{Rejection::forbidden, "inline assembly outside a function", token().line, ""};
    }
    if (dialect_ != Dialect::cuda) {
      return Rejected{Rejection::unsupported,
                      "inline assembly in HIP is unsupported on the cpu device; builtin functions are supported",
                      token().line, ""};
    }
    auto translated = translate_asm(tokens_, at_);
    if (auto* rejected = std::get_if<Rejected>(&translated)) return std::move(*rejected);
    const auto& call = std::get<PtxCall>(translated);
    replace(at_, call.past - 1, call.text);
    result_.headers.insert(call.headers.begin(), call.headers.end());
    at_ = call.past;
    return std::nullopt;
  }

  // __shared__ T x;  becomes  static __thread T x;  for extern __shared__ see kw_abi.h.
  std::optional<Rejected> visit_shared() {
    const Token& here = token();
    const auto find_near = [&](std::string_view word) -> std::optional<size_t> {
      for (size_t i = statement_; i < at_; ++i) {
        if (is(i, word) && tokens_[i].directive == here.directive) return i;
      }
      return is(at_ + 1, word) ? std::optional(at_ + 1) : std::nullopt;
    };
    if (const auto linkage = find_near("extern")) {
      if (here.directive >= 0) {
        return Rejected{Rejection::unsupported, "extern __shared__ inside a macro is unsupported on the cpu device",
                        here.line, ""};
      }
      place_dynamic(*linkage);
    } else {
      if (const auto redundant = find_near("static")) replace(*redundant, *redundant, "");
      // "used": the compiler must not take what no thread writes for zero.
      const std::string storage = "__attribute__((used)) static __thread";
      if (is(at_ + 1, "alignas")) {  // g++ wants it before all else
        replace(at_, at_, "");
        insert(tokens_[past_parentheses(at_ + 2) - 1].end, " " + storage);
      } else {
        replace(at_, at_, storage);
      }
      if (here.directive < 0 && parentheses_ == 0) add_gap();
    }
    ++at_;
    return std::nullopt;
  }

  void add_gap() {
    insert(tokens_[statement_].begin,
           "__attribute__((used)) static __thread char __kw_pad_" + std::to_string(gaps_++) + "[128]; ");
  }

  void place_dynamic(size_t linkage) {
    uses_dynamic_ = true;
    const bool in_code = std::ranges::find(braces_, Brace::code) != braces_.end();
    replace(at_, at_, in_code ? "" : "__thread");
    if (in_code) replace(linkage, linkage, "");
    int depth = 0;
    size_t name = 0;  // of the declarator in progress; 0 when it is closed
    for (size_t i = at_ + 1; i < tokens_.size(); ++i) {
      const bool ends = depth == 0 && (is(i, ",") || is(i, ";"));
      if (depth == 0 && tokens_[i].kind == TokenKind::identifier && !is(i + 1, "(") && !is(i, "extern")) name = i;
      if (in_code && name != 0 && depth == 0 && (is(i, "[") || ends)) {
        insert(tokens_[name].begin, "(&");
        insert(tokens_[name].end, ")");
        name = 0;
      }
      if (is(i, "(") || is(i, "[") || is(i, "<") || is(i, "{")) ++depth;
      if (is(i, ")") || is(i, "]") || is(i, ">") || is(i, "}")) --depth;
      if (!ends) continue;
      insert(tokens_[i].begin, in_code ? " = __kw_dynamic_place()" : " __asm__(\"__kw_dynamic\")");
      if (is(i, ";")) return;
    }
  }

  // Remembers the kernel whose declaration begins here, to export it after its body.
  void visit_global() {
    bool in_c = std::ranges::find(braces_, Brace::c_linkage) != braces_.end();
    for (size_t i = statement_; i < at_; ++i) {
      if (tokens_[i].is("extern") && i + 1 < at_ && tokens_[i + 1].value == "C") in_c = true;
      if (tokens_[i].is("template")) return;
    }
    if (!in_c) return;
    for (size_t i = at_ + 1; i + 1 < tokens_.size() && !is(i, ";") && !is(i, "{"); ++i) {
      if (tokens_[i].kind != TokenKind::identifier || !is(i + 1, "(")) continue;
      const size_t past = past_parentheses(i + 1);
      if (tokens_[i].text.rfind("__", 0) != 0) {  // not __launch_bounds__(...) and the like
        if (is(past, "{")) pending_kernel_ = tokens_[i].text;
        return;
      }
      i = past - 1;
    }
  }

  size_t past_parentheses(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < tokens_.size(); ++i) {
      if (is(i, "(")) ++depth;
      if (is(i, ")") && --depth == 0) return i + 1;
    }
    return tokens_.size();
  }

  void visit_structure() {
    const Token& here = token();
    if (here.is("(")) ++parentheses_;
    if (here.is(")") && parentheses_ > 0) --parentheses_;
    if (here.is("{")) {
      braces_.push_back(kind_of_brace());
      kernels_.push_back(parentheses_ == 0 ? std::exchange(pending_kernel_, "") : "");
      saved_parentheses_.push_back(std::exchange(parentheses_, 0));
    } else if (here.is("}") && !braces_.empty()) {
      if (!kernels_.back().empty()) {
        insert(here.end, " KW_EXPORT(" + kernels_.back() + ")");
        result_.kernels.push_back(kernels_.back());
      }
      braces_.pop_back();
      kernels_.pop_back();
      parentheses_ = saved_parentheses_.back();
      saved_parentheses_.pop_back();
    }
    if (here.is(";") && parentheses_ == 0 && !braces_.empty() && braces_.back() == Brace::code) fill_locals();
    if ((here.is(";") || here.is("{") || here.is("}")) && parentheses_ == 0) statement_ = at_ + 1;
  }

  // Behind the declaration that ends here. A macro may be anything but a type.
  void fill_locals() {
    if (statement_ >= at_ || macros_.count(tokens_[statement_].text) > 0) return;
    std::string calls;
    for (const std::string& name : unset_variables(tokens_, statement_, at_)) calls += " __kw_fill(" + name + ");";
    if (!calls.empty()) insert(token().end, calls);
  }

  Brace kind_of_brace() const {
    if (at_ > 0 && is(at_ - 1, ")") && !follows_alignment()) return Brace::code;
    for (size_t i = statement_; i < at_; ++i) {
      if (tokens_[i].directive >= 0) continue;
      if (tokens_[i].is("namespace")) return Brace::name_space;
      if (tokens_[i].is("struct") || tokens_[i].is("class") || tokens_[i].is("union") || tokens_[i].is("enum")) {
        return Brace::type;
      }
    }
    const bool linkage = at_ > 1 && tokens_[at_ - 1].kind == TokenKind::string && is(at_ - 2, "extern");
    return linkage ? Brace::c_linkage : Brace::code;
  }

  // struct __align__(16) {
  bool follows_alignment() const {
    size_t open = at_ - 1;
    for (int depth = 0; open > statement_; --open) {
      if (is(open, ")")) ++depth;
      if (is(open, "(") && --depth == 0) break;
    }
    return open > statement_ && (is(open - 1, "__align__") || is(open - 1, "alignas") || is(open - 1, "__attribute__"));
  }

  void insert(size_t at, std::string text) { edits_.push_back({at, at, std::move(text)}); }
  void replace(size_t first, size_t last, std::string text) {
    edits_.push_back({tokens_[first].begin, tokens_[last].end, std::move(text), tokens_[first].directive >= 0});
  }

  std::string edited() {
    // Insertions at a place precede the replacement of the token there.
    std::ranges::stable_sort(
        edits_, [](const Edit& a, const Edit& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    std::string text;
    size_t done = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < done) continue;  // within something that was replaced as a whole
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

  std::string_view source_;
  Dialect dialect_;
  std::vector<Token> tokens_;
  std::set<std::string> macros_;
  size_t at_ = 0;
  size_t statement_ = 0;  // the first token of the statement or declaration here
  int parentheses_ = 0;   // open since the innermost brace
  std::vector<Brace> braces_;
  std::vector<std::string> kernels_;    // by brace: the kernel whose body it opens, usually ""
  std::vector<int> saved_parentheses_;  // by brace
  std::string pending_kernel_;
  int gaps_ = 0;
  bool uses_dynamic_ = false;
  std::vector<Edit> edits_;
  LexedSource result_;
};
}  // namespace

std::variant<LexedSource, Rejected> lex(std::string_view source, Dialect dialect) {
  const std::string expanded = dialect == Dialect::cuda ? expand_asm_macros(source) : std::string(source);
  if (expanded != source) {
    if (auto rejected = check_source(source, tokenize(source))) return *rejected;
  }
  return Lexer(expanded, dialect).run();
}

}  // namespace sandbox::cpu::compiler
