#include "sandbox/cuda/inspection/ptx_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/error.h"
#include "core/text.h"

namespace sandbox::cuda::inspection {
namespace {

[[noreturn]] void refuse_ptx(const std::string& what) { throw core::InputError("", "the PTX " + what); }

bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' || c == '%';
}
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.'; }

// Cuts text into names ("ld.global.L2::cache_hint.f32" is one), numbers, strings and single characters.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token; empty at the end.
  std::string_view next() {
    skip_space();
    if (at_ == text_.size()) return {};
    const size_t begin = at_;
    const char c = text_[at_];
    if (c == '"') {
      at_ = text_.find_first_of("\"\\\n", at_ + 1);
      if (at_ == std::string_view::npos || text_[at_] != '"') refuse_ptx("holds a string that does not end");
      ++at_;
    } else if (begins_name(c) || std::isdigit(static_cast<unsigned char>(c))) {
      for (++at_; at_ < text_.size() && (continues_name(text_[at_]) || joins(at_));) at_ += joins(at_) ? 2 : 1;
    } else if (std::string_view("{}()[]<>,;:@!|+-=*~&^").find(c) == std::string_view::npos) {
      refuse_ptx(c == '#' ? "holds a directive of the preprocessor"
                          : "holds a character that the compiler does not write");
    } else {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  std::string_view peek() {
    const size_t kept = at_;
    const std::string_view token = next();
    at_ = kept;
    return token;
  }

 private:
  // True at the :: of a modifier.
  bool joins(size_t at) const {
    return text_.substr(at, 2) == "::" && at + 2 < text_.size() && continues_name(text_[at + 2]);
  }
  void skip_space() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) refuse_ptx("holds a comment that does not end");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Refuses line ends that readers interpret differently, which would move the end of a comment.
void refuse_odd_line_ends(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && !(c == '\r' && next == '\n');
    if (control || c == 0x7f) refuse_ptx("holds a control character");
    if (c == '\\' && (next == '\n' || next == '\r')) refuse_ptx("holds a line that continues after a backslash");
  }
}

int64_t number(std::string_view token) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size()) refuse_ptx("holds a directive without a number");
  return value;
}

// True for a name with dots that is not a vector's component ("%tid.x"); operands have no dots.
bool looks_like_opcode(std::string_view token) {
  const size_t dot = token.find('.');
  if (!begins_name(token[0]) || dot == std::string_view::npos) return false;
  return dot == 0 || token.size() != dot + 2 ||
         std::string_view("xyzwrgba").find(token[dot + 1]) == std::string_view::npos;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view source) : lexer_(text), source_(source) {}

  PtxText run() {
    while (true) {
      const std::string_view token = lexer_.next();
      if (token.empty()) break;
      if (!pending_.empty() || !take_directive(token)) take(token);
    }
    if (!pending_.empty() || depth_ != 0) refuse_ptx("ends in the middle");
    resolve_lines();
    return std::move(result_);
  }

 private:
  // Directives that end without a semicolon.
  bool take_directive(std::string_view token) {
    if (token == ".version" || token == ".address_size") {
      lexer_.next();
    } else if (token == ".target") {
      lexer_.next();
      for (; lexer_.peek() == ","; lexer_.next()) lexer_.next();
    } else if (token == ".file") {
      take_file();
    } else if (token == ".loc") {
      take_location();
    } else if (token == ".section") {
      take_section();
    } else {
      return false;
    }
    return true;
  }

  void take_file() {
    const int64_t index = number(lexer_.next());
    const std::string_view name = lexer_.next();
    if (name.size() < 2 || name.front() != '"') refuse_ptx("names a file without its name");
    const std::string_view path = name.substr(1, name.size() - 2);
    const bool ours = path == source_ || (path.size() > source_.size() &&
                                          path.substr(path.size() - source_.size() - 1) == "/" + std::string(source_));
    if (ours) source_index_ = index;
    for (; lexer_.peek() == ","; number(lexer_.next())) lexer_.next();
  }

  // .loc file line column [, function_name label [+ offset], inlined_at file line column].
  void take_location() {
    std::vector<Place>& places = places_.emplace_back();
    const auto take_place = [&] {
      const int64_t file = number(lexer_.next());
      places.push_back({file, number(lexer_.next())});
      number(lexer_.next());  // the column
    };
    take_place();
    while (lexer_.peek() == ",") {
      lexer_.next();
      const std::string_view what = lexer_.next();
      if (what == "function_name") {
        lexer_.next();
        if (lexer_.peek() == "+") {
          lexer_.next();
          number(lexer_.next());
        }
      } else if (what == "inlined_at") {
        take_place();
      } else {
        refuse_ptx("holds an unnamed location");
      }
    }
  }

  // Skips a section of debugging information.
  void take_section() {
    const std::string_view name = lexer_.next();
    if (name.substr(0, 6) != ".debug" || lexer_.next() != "{") refuse_ptx("holds a section that is not for debugging");
    for (std::string_view token = lexer_.next(); token != "}"; token = lexer_.next()) {
      if (token.empty() || token == "{") refuse_ptx("holds a section that does not end");
    }
  }

  void take(std::string_view token) {
    const bool in_function = function_ >= 0;
    if (token == "{" && pending_.empty()) {
      if (!in_function) refuse_ptx("opens a scope outside of functions");
      ++depth_;
      open_scope();
    } else if (token == "{" && is_header()) {
      begin_function();
    } else if (token == "}" && pending_.empty()) {
      if (depth_ == 0) refuse_ptx("closes a scope that is not open");
      if (--depth_ == 0) function_ = -1;
      scope_ = result_.scopes[static_cast<size_t>(scope_)];
    } else if (token == ";" && braces_ == 0) {
      end_statement();
    } else if (token == ":" && pending_.size() == 1) {
      pending_.clear();  // a label
    } else {
      if (token == "{") ++braces_;
      if (token == "}" && braces_-- == 0) refuse_ptx("closes a scope that is not open");
      pending_.push_back(token);
    }
  }

  bool is_header() const {
    return std::ranges::any_of(pending_, [](auto t) { return t == ".entry" || t == ".func"; });
  }

  void begin_function() {
    if (function_ >= 0 || braces_ > 0) refuse_ptx("defines a function inside another");
    declare_function(true);
    function_ = static_cast<int>(result_.functions.size()) - 1;
    depth_ = 1;
    open_scope();
    result_.functions.back().scope = scope_;
    places_.emplace_back();
  }

  void open_scope() {
    result_.scopes.push_back(scope_);
    scope_ = static_cast<int>(result_.scopes.size()) - 1;
  }

  // [linkage] .func [(results)] name (parameters) [directives]
  void declare_function(bool defined) {
    PtxFunction function;
    function.defined = defined;
    auto at = std::ranges::find_if(pending_, [](auto t) { return t == ".entry" || t == ".func"; });
    function.entry = *at == ".entry";
    const auto names = [&](std::vector<std::string_view>& into) {
      if (at == pending_.end() || *at != "(") return;
      for (; at != pending_.end() && *at != ")"; ++at) {
        if (*at == ".reg") refuse_ptx("passes arguments in registers, as the compiler never does");
        if (is_ptx_name(*at)) into.push_back(*at);
      }
      if (at != pending_.end()) ++at;
    };
    ++at;
    if (at != pending_.end() && *at == ".noreturn") ++at;
    names(function.results);
    if (at == pending_.end() || !is_ptx_name(*at)) refuse_ptx("declares a function without a name");
    function.name = *at++;
    names(function.parameters);
    result_.functions.push_back(std::move(function));
    add_statement();
  }

  void end_statement() {
    if (pending_.empty()) return;
    if (is_header()) {
      if (function_ >= 0) refuse_ptx("declares a function inside another");
      declare_function(false);
    } else {
      add_statement();
    }
  }

  void add_statement() {
    PtxStatement statement;
    auto begin = pending_.begin();
    if (*begin == "@") {
      const size_t name = pending_.size() > 1 && pending_[1] == "!" ? 2 : 1;
      if (name + 1 >= pending_.size() || !is_ptx_name(pending_[name])) refuse_ptx("holds a predicate of nothing");
      begin += static_cast<std::ptrdiff_t>(name) + 1;
    }
    const auto starts_with_dot = [](std::string_view token) { return token[0] == '.'; };
    const auto operands =
        starts_with_dot(*begin) ? begin + 1 : std::find_if_not(begin + 1, pending_.end(), starts_with_dot);
    statement.tokens.push_back(*begin);
    statement.tokens.insert(statement.tokens.end(), operands, pending_.end());
    if (operands > begin + 1) {
      std::string& whole = result_.joined.emplace_back();
      for (auto piece = begin; piece != operands; ++piece) whole += *piece;
      statement.tokens.front() = whole;
    }
    if (!starts_with_dot(*begin)) {
      if (function_ < 0) refuse_ptx("holds an instruction outside of functions");
      if (std::any_of(operands, pending_.end(), looks_like_opcode)) refuse_ptx("holds an instruction within another");
    }
    statement.function = function_;
    statement.scope = scope_;
    statement.line =
        static_cast<int64_t>(places_.size());  // until resolve_lines(): the index of the last entry of places_
    result_.statements.push_back(std::move(statement));
    pending_.clear();
  }

  // .file directives follow the code, so the solution's file number is only known at the end.
  void resolve_lines() {
    for (PtxStatement& statement : result_.statements) {
      const auto which = static_cast<size_t>(statement.line);
      statement.line = 0;
      for (const Place& place : which > 0 ? places_[which - 1] : std::vector<Place>()) {
        if (statement.line == 0 && place.file == source_index_) statement.line = place.line;
      }
    }
  }

  struct Place {
    int64_t file, line;
  };

  Lexer lexer_;
  std::string_view source_;
  PtxText result_;
  std::vector<std::string_view> pending_;
  int function_ = -1, scope_ = -1, depth_ = 0, braces_ = 0;
  int64_t source_index_ = -1;
  std::vector<std::vector<Place>> places_;  // for each .loc: the code's line, then the lines it is inlined at
};
}  // namespace

PtxText parse_ptx(std::string_view text, std::string_view source) {
  refuse_odd_line_ends(text);
  return Parser(text, source).run();
}

std::vector<std::vector<std::string_view>> operands_of(const PtxStatement& statement) {
  std::vector<std::vector<std::string_view>> operands;
  int depth = 0;
  for (size_t i = 1; i < statement.tokens.size(); ++i) {
    const std::string_view token = statement.tokens[i];
    if (token == "(" || token == "[" || token == "{") ++depth;
    if (token == ")" || token == "]" || token == "}") --depth;
    if (operands.empty() || (token == "," && depth == 0)) operands.emplace_back();
    if (token != "," || depth != 0) operands.back().push_back(token);
  }
  return operands;
}

bool is_ptx_name(std::string_view token) {
  return !token.empty() && begins_name(token[0]) && token[0] != '.' && token != "_";
}

std::string shown_name(std::string_view name) { return core::clean_line(std::string(name), 100); }

// ".reg .b64 a, b<4>;"
void PtxScopes::declare(const PtxStatement& statement) {
  if (statement.opcode() != ".reg" && statement.opcode() != ".param") return;
  for (size_t i = 1; i < statement.tokens.size(); ++i) {
    const bool many = i + 1 < statement.tokens.size() && statement.tokens[i + 1] == "<";
    if (is_ptx_name(statement.tokens[i])) (many ? families_ : declared_).insert({statement.scope, statement.tokens[i]});
  }
}

std::optional<PtxPlace> PtxScopes::declared(const PtxStatement& statement, std::string_view name) const {
  for (int scope = statement.scope; scope >= 0; scope = ptx_.scopes[static_cast<size_t>(scope)]) {
    if (declared_.count({scope, name}) > 0) return PtxPlace{scope, name};
  }
  return std::nullopt;
}

bool PtxScopes::is_declared(const PtxStatement& statement, std::string_view name) const {
  if (declared(statement, name)) return true;
  const std::string_view family = name.substr(0, name.find_last_not_of("0123456789") + 1);
  for (int scope = statement.scope; scope >= 0 && family != name; scope = ptx_.scopes[static_cast<size_t>(scope)]) {
    if (families_.count({scope, family}) > 0) return true;
  }
  return false;
}

PtxPlace PtxScopes::place(const PtxStatement& statement, std::string_view name) const {
  const int own = ptx_.functions[static_cast<size_t>(statement.function)].scope;
  return declared(statement, name).value_or(PtxPlace{own, name});
}

}  // namespace sandbox::cuda::inspection
