#include "sandbox/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

namespace sandbox {
namespace {

bool starts_identifier(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || (c & 0x80) != 0;
}
bool continues_identifier(char c) { return starts_identifier(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : source_(source) { skip_splices(); }

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      if (skip_blank()) continue;
      next_token();
    }
    return std::move(tokens_);
  }

 private:
  // Length of a backslash and the following line end (blanks may stand between, as in compilers); 0 if there is none.
  size_t splice_at(size_t at) const {
    if (at >= source_.size() || source_[at] != '\\') return 0;
    size_t i = at + 1;
    while (i < source_.size() && source_[i] != '\n' && std::isspace(static_cast<unsigned char>(source_[i])) != 0) ++i;
    return i < source_.size() && source_[i] == '\n' ? i + 1 - at : 0;
  }
  void skip_splices() {
    while (const size_t length = splice_at(at_)) {
      at_ += length;
      ++line_;
    }
  }
  char peek() const { return at_ < source_.size() ? source_[at_] : '\0'; }
  char peek_second() const {
    size_t i = at_ + 1;
    while (const size_t length = splice_at(i)) i += length;
    return i < source_.size() ? source_[i] : '\0';
  }
  // Returns the current character and advances.
  char take() {
    const char c = source_[at_++];
    if (c == '\n') ++line_;
    skip_splices();
    return c;
  }

  bool skip_blank() {
    const char c = peek();
    if (c == '\n') {
      directive_ = -1;
      line_is_blank_ = true;
      take();
      return true;
    }
    if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\0') {
      take();
      return true;
    }
    if (c == '/' && peek_second() == '/') {
      while (at_ < source_.size() && peek() != '\n') take();
      return true;
    }
    if (c == '/' && peek_second() == '*') {
      take();
      take();
      while (at_ < source_.size() && !(peek() == '*' && peek_second() == '/')) take();
      for (int i = 0; i < 2 && at_ < source_.size(); ++i) take();
      return true;
    }
    return false;
  }

  void next_token() {
    Token token{TokenKind::punctuation, "", "", at_, at_, line_, directive_};
    const char c = peek();
    if (c == '#' && line_is_blank_) token.directive = directive_ = directives_++;
    if (wants_header_name() && (c == '<' || c == '"')) {
      header_name(token);
    } else if (starts_identifier(c)) {
      identifier(token);
    } else if (is_digit(c) || (c == '.' && is_digit(peek_second()))) {
      number(token);
    } else if (c == '"' || c == '\'') {
      quoted(token);
    } else {
      punctuation(token);
    }
    line_is_blank_ = false;
    tokens_.push_back(std::move(token));
  }

  bool wants_header_name() const {
    const size_t n = tokens_.size();
    if (n < 2) return false;
    const Token& last = tokens_[n - 1];
    const Token& before = tokens_[n - 2];
    if (last.directive >= 0 && last.directive == directive_ && before.is("#")) {
      if (n > 2 && tokens_[n - 3].directive == directive_) return false;  // the # of a macro's body
      return last.is("include") || last.is("include_next") || last.is("import") || last.is("embed");
    }
    return last.is("(") && (before.is("__has_include") || before.is("__has_include_next") || before.is("__has_embed"));
  }

  void header_name(Token& token) {
    token.kind = TokenKind::header_name;
    const char close = peek() == '<' ? '>' : '"';
    token.text += take();
    while (at_ < source_.size() && peek() != close && peek() != '\n') token.value += take();
    if (peek() == close) take();
    token.text += token.value + close;
    token.end = at_;
  }

  void identifier(Token& token) {
    token.kind = TokenKind::identifier;
    while (at_ < source_.size() && continues_identifier(peek())) token_take(token);
    static constexpr std::array<std::string_view, 5> kPrefixes{"R", "LR", "uR", "UR", "u8R"};
    static constexpr std::array<std::string_view, 4> kPlainPrefixes{"L", "u", "U", "u8"};
    const auto among = [&](const auto& names) { return std::ranges::find(names, token.text) != names.end(); };
    if (peek() == '"' && among(kPrefixes)) return raw_string(token);
    if ((peek() == '"' || peek() == '\'') && among(kPlainPrefixes)) quoted(token);
  }

  void number(Token& token) {
    token.kind = TokenKind::number;
    while (at_ < source_.size()) {
      const char c = peek();
      const char last = token.text.empty() ? '\0' : token.text.back();
      const bool exponent_sign = (c == '+' || c == '-') && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
      const bool separator = c == '\'' && continues_identifier(peek_second());
      if (!continues_identifier(c) && c != '.' && !exponent_sign && !separator) break;
      token_take(token);
    }
  }

  void quoted(Token& token) {
    const char quote = peek();
    token.kind = quote == '"' ? TokenKind::string : TokenKind::character;
    token_take(token);
    while (at_ < source_.size() && peek() != quote && peek() != '\n') {
      const char c = token_take(token);
      if (c != '\\' || at_ >= source_.size()) {
        token.value += c;
        continue;
      }
      const char escaped = token_take(token);
      token.value += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    }
    if (peek() == quote) token_take(token);
  }

  // Splices inside a raw string are part of it.
  void raw_string(Token& token) {
    token.kind = TokenKind::string;
    const size_t open = source_.find('(', at_);
    const size_t end = open == std::string_view::npos ? open : source_.find(")" + delimiter(open) + "\"", open);
    const size_t past = end == std::string_view::npos ? source_.size() : end + (open - at_) + 1;
    if (end != std::string_view::npos) token.value = source_.substr(open + 1, end - open - 1);
    token.text += source_.substr(at_, past - at_);
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<ptrdiff_t>(at_),
                                         source_.begin() + static_cast<ptrdiff_t>(past), '\n'));
    at_ = token.end = past;
    skip_splices();
  }
  std::string delimiter(size_t open) const { return std::string(source_.substr(at_ + 1, open - at_ - 1)); }

  void punctuation(Token& token) {
    const char first = token_take(token);
    const auto extend = [&](char expected) {
      if (peek() != expected) return false;
      token_take(token);
      return true;
    };
    if (first == ':') extend(':');
    if (first == '%' && !extend(':')) extend('>');
    if (first == '<') {
      if (peek() == '<' && peek_second() == '<') {
        token_take(token);
        token_take(token);
      } else {
        extend('%');
      }
    }
  }

  char token_take(Token& token) {
    token.end = at_ + 1;
    token.text += peek();
    return take();
  }

  std::string_view source_;
  size_t at_ = 0;
  int line_ = 1, directive_ = -1, directives_ = 0;
  bool line_is_blank_ = true;
  std::vector<Token> tokens_;
};
}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Tokenizer(source).run(); }

namespace {
constexpr std::string_view kNames[] = {
    "NAN",     "INFINITY", "NULL",       "NDEBUG",    "EOF",     "SIZE_MAX", "HUGE_VAL", "HUGE_VALF",
    "M_PI",    "M_PI_2",   "M_PI_4",     "M_1_PI",    "M_2_PI",  "M_E",      "M_LN2",    "M_LN10",
    "M_LOG2E", "M_LOG10E", "M_2_SQRTPI", "M_SQRT1_2", "M_SQRT2", "CHAR_BIT", "RAND_MAX", "EXCLUDE_FROM_RTC"};
constexpr std::string_view kPrefixes[] = {"KW_", "CUDA", "FLT_", "DBL_", "LDBL_", "NVCC"};
// INT8_MAX, UINT_MAX, LLONG_MIN, ...
constexpr std::string_view kIntegers[] = {"CHAR",   "SCHAR", "SHRT",  "INT",   "LONG",  "LLONG",   "INTMAX",
                                          "INTPTR", "INT8",  "INT16", "INT32", "INT64", "PTRDIFF", "WCHAR"};
constexpr std::string_view kLimits[] = {"_MAX", "_MIN"};

bool is_limit(std::string_view name) {
  for (const std::string_view limit : kLimits) {
    if (!name.ends_with(limit)) continue;
    std::string_view type = name.substr(0, name.size() - limit.size());
    const auto known = [&] { return std::ranges::count(kIntegers, type) > 0; };
    if (known()) return true;
    if (!type.starts_with("U")) continue;
    type.remove_prefix(1);
    if (known()) return true;
  }
  return false;
}
}  // namespace

bool is_taken_macro(std::string_view name) {
  return std::ranges::count(kNames, name) > 0 || is_limit(name) ||
         std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

}  // namespace sandbox
