#include "verifier/draws/source_numbers.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "sandbox/tokens.h"

namespace verifier::draws {
namespace {
using sandbox::Token;
using sandbox::TokenKind;

constexpr int64_t kLeast = 3, kMost = int64_t{1} << 30;
constexpr size_t kMostNumbers = 64, kMostConstants = 64, kMostConditions = 128;

// 4096, 0x1000, 010000, 0b1, with quotes between digits and a suffix; none for what is no whole number.
std::optional<int64_t> whole_number(const std::string& text) {
  std::string digits = text;
  std::erase(digits, '\'');
  while (!digits.empty() && std::string_view("uUlLzZ").find(digits.back()) != std::string_view::npos) digits.pop_back();
  int base = 10;
  size_t skipped = 0;
  if (digits.size() > 1 && digits[0] == '0') {
    const char kind = digits[1];
    base = kind == 'x' || kind == 'X' ? 16 : kind == 'b' || kind == 'B' ? 2 : 8;
    skipped = base == 8 ? 1 : 2;
  }
  int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data() + skipped, end, value, base);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

// 1e-38f, .5, 0x1p-3f, FLT_MAX; 0xff7fffff as the bits of an f32; none for another token.
std::optional<double> floating_number(const Token& token) {
  if (token.is("FLT_MAX")) return std::numeric_limits<float>::max();
  if (token.is("FLT_MIN")) return std::numeric_limits<float>::min();
  if (token.kind != TokenKind::number) return std::nullopt;
  if (const auto whole = whole_number(token.text)) {
    constexpr int64_t kLeastBits = 1 << 23;
    const bool is_hex = token.text.size() > 2 && (token.text[1] == 'x' || token.text[1] == 'X');
    if (!is_hex || *whole < kLeastBits || *whole > int64_t{UINT32_MAX}) return std::nullopt;
    return std::bit_cast<float>(static_cast<uint32_t>(*whole));
  }
  std::string text = token.text;
  std::erase(text, '\'');
  while (!text.empty() && std::string_view("fFlL").find(text.back()) != std::string_view::npos) text.pop_back();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

// Does a minus stand there that has no left side?
bool is_negated(const std::vector<Token>& tokens, size_t at) {
  if (at == 0 || !tokens[at - 1].is("-")) return false;
  if (at == 1) return true;
  const Token& left = tokens[at - 2];
  return left.is("return") || (left.kind == TokenKind::punctuation && !left.is(")") && !left.is("]"));
}

// Does a comparison, a remainder or a mask stand there, or an assignment? Not where a shift or && does.
bool decides(const std::vector<Token>& tokens, size_t at) {
  if (at >= tokens.size() || tokens[at].kind != TokenKind::punctuation) return false;
  const auto is = [&](size_t i, const std::string& text) { return i < tokens.size() && tokens[i].is(text); };
  const std::string& text = tokens[at].text;
  const bool doubled = is(at + 1, text) || (at > 0 && is(at - 1, text));
  if (text == "<" || text == ">" || text == "&") return !doubled;
  return text == "%" || text == "=";
}

// The whole numbers that tokens stand for: literals, tunables, and names that are constants.
class Values {
 public:
  Values(const std::vector<Token>& tokens, const sandbox::TunableBinding& binding)
      : tokens_(tokens), of_(tokens.size()) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind == TokenKind::number) of_[i] = whole_number(tokens[i].text);
    }
    name(binding);
    // One after another: a constant may be a product of earlier ones.
    const auto define = [&](size_t at, size_t value) {
      const std::vector<int64_t> products = products_from(value);
      if (!products.empty() && constants_++ < kMostConstants) name({{tokens[at].text, products.back()}});
    };
    for (size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (tokens[i].is("define") && tokens[i].directive >= 0) define(i + 1, i + 2);
      if (!tokens[i].is("constexpr") && !tokens[i].is("const")) continue;
      for (++i; i + 2 < tokens.size() && !ends_declaration(tokens[i]); ++i) {
        const bool assigned = tokens[i + 1].is("=") && !tokens[i + 2].is("=");
        if (tokens[i].kind == TokenKind::identifier && assigned) define(i, i + 2);
      }
    }
  }

  const std::optional<int64_t>& operator[](size_t i) const { return of_[i]; }

  // Of "4 * 128 * 5" from its first token: 4, 512, 2560; of "3 << 13": 3, 24576. None where no number stands.
  std::vector<int64_t> products_from(size_t i) const {
    std::vector<int64_t> products;
    if (i >= tokens_.size() || !of_[i]) return products;
    products.push_back(*of_[i]);
    const auto value = [&](size_t at) { return at < tokens_.size() ? of_[at].value_or(0) : 0; };
    while (i + 1 < tokens_.size()) {
      const bool shifts = tokens_[i + 1].is("<") && i + 2 < tokens_.size() && tokens_[i + 2].is("<");
      if (!shifts && !tokens_[i + 1].is("*")) break;
      i += shifts ? 3 : 2;
      const int64_t by = shifts ? (value(i) > 0 && value(i) < 31 ? int64_t{1} << value(i) : 0) : value(i);
      if (by <= 0 || by > kMost || products.back() > kMost || products.back() < 0) break;
      products.push_back(products.back() * by);
    }
    return products;
  }

 private:
  void name(const sandbox::TunableBinding& values) {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const auto found = tokens_[i].kind == TokenKind::identifier ? values.find(tokens_[i].text) : values.end();
      if (found != values.end()) of_[i] = found->second;
    }
  }

  static bool ends_declaration(const Token& token) { return token.is(";") || token.is("{") || token.is(")"); }

  const std::vector<Token>& tokens_;
  std::vector<std::optional<int64_t>> of_;
  size_t constants_ = 0;
};
}  // namespace

namespace {
constexpr size_t kMostValues = 32, kMostWholeValues = 4;

void add_values(const std::vector<Token>& tokens, SourceNumbers& numbers) {
  const auto add = [&](double value) {
    if (value == 0 || !std::isfinite(value) || numbers.values.size() >= kMostValues) return;
    if (std::ranges::find(numbers.values, value) == numbers.values.end()) numbers.values.push_back(value);
  };
  for (const bool first : {true, false}) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const std::optional<double> value = floating_number(tokens[i]);
      if (!value) continue;
      const bool negated = is_negated(tokens, i);
      const size_t before = negated ? i - 1 : i;
      const bool is_argument = before > 0 && (tokens[before - 1].is("(") || tokens[before - 1].is(","));
      const bool decides_there = (before > 0 && decides(tokens, before - 1)) || decides(tokens, i + 1);
      if (first == (is_argument || decides_there)) add(negated ? -*value : *value);
    }
  }
  const std::vector<int64_t>& whole = numbers.decisive;
  for (size_t i = 0; i < std::min(whole.size(), kMostWholeValues); ++i) add(static_cast<double>(whole[i]));
}

void add_ends_of_types(const std::vector<Token>& tokens, SourceNumbers& numbers) {
  constexpr std::pair<std::string_view, int64_t> kEnds[] = {
      {"short", 1 << 15}, {"int16_t", 1 << 15}, {"short", 1 << 16}, {"uint16_t", 1 << 16}, {"ushort", 1 << 16},
      {"char", 1 << 7},   {"int8_t", 1 << 7},   {"char", 1 << 8},   {"uint8_t", 1 << 8},   {"uchar", 1 << 8},
  };
  for (const auto& of : kEnds) {
    const bool named = std::ranges::any_of(tokens, [&](const Token& token) { return token.is(of.first); });
    const bool known = std::ranges::count(numbers.ends_of_types, of.second) > 0;
    if (named && !known) numbers.ends_of_types.push_back(of.second);
  }
}

// The name on the other side of a comparison or remainder beside token `i`; "" where none is.
std::string compared_name(const std::vector<Token>& tokens, size_t i) {
  const auto name_at = [&](size_t at) {
    return at < tokens.size() && tokens[at].kind == TokenKind::identifier ? tokens[at].text : std::string();
  };
  if (i > 1 && decides(tokens, i - 1)) {  // "M > 600", "M >= 600"
    const bool has_two = i > 2 && tokens[i - 2].kind == TokenKind::punctuation;
    if (std::string name = name_at(i - (has_two ? 3 : 2)); !name.empty()) return name;
  }
  if (!decides(tokens, i + 1)) return "";
  return name_at(i + (i + 2 < tokens.size() && tokens[i + 2].is("=") ? 3 : 2));
}

// The condition on the name beside the product that begins at token `i`: "M > 600", "K % (4 * TILE) == 8", "n & 127",
// "n & (TILE - 1)". A remainder that is not compared with a number is 0. None where no name stands.
std::optional<Condition> condition_at(const std::vector<Token>& tokens, const Values& values, size_t i) {
  const auto is = [&](size_t at, const char* text) { return at < tokens.size() && tokens[at].is(text); };
  const bool grouped = i > 1 && is(i - 1, "(") && decides(tokens, i - 2);
  const size_t begin = grouped ? i - 1 : i;
  size_t end = i + 1;  // beyond the product
  while (is(end, "*") && end + 1 < tokens.size() && values[end + 1]) end += 2;
  Condition condition{compared_name(tokens, begin), Relation::least, values.products_from(i).back()};
  if (condition.name.empty() || condition.number < kLeast || condition.number > kMost) return std::nullopt;
  const bool decided = begin > 0 && decides(tokens, begin - 1);
  const bool masked = decided && is(begin - 1, "&"), divided = decided && is(begin - 1, "%");
  if (masked && !(is(end, "-") && is(end + 1, "1"))) ++condition.number;
  if (masked && !std::has_single_bit(static_cast<uint64_t>(condition.number))) return std::nullopt;
  if (masked || divided) {
    condition.relation = Relation::remainder;
    while (is(end, ")") || is(end, "-") || is(end, "1")) ++end;
    const bool compared = (is(end, "=") || is(end, "!")) && is(end + 1, "=") && end + 2 < tokens.size();
    if (compared && values[end + 2]) condition.remainder = *values[end + 2];
    return condition;
  }
  const bool with_equality = is(decided ? begin - 1 : end + 1, "=");
  const size_t sign = !decided ? end : with_equality && begin > 1 ? begin - 2 : begin - 1;
  if (is(sign, "=") || is(sign, "!")) {
    condition.relation = Relation::equal;
    return condition;
  }
  // "M > 600" and "600 < M" ask for 601 at least.
  const bool at_least = is(sign, ">") == decided;
  condition.relation = at_least ? Relation::least : Relation::most;
  if (!with_equality) condition.number += at_least ? 1 : -1;
  return condition;
}
}  // namespace

SourceNumbers numbers_of(std::string_view source, const sandbox::TunableBinding& binding) {
  const std::vector<Token> tokens = sandbox::tokenize(source);
  const Values values(tokens, binding);
  SourceNumbers numbers;
  const auto add = [&](std::vector<int64_t>& to, int64_t number) {
    const bool known = std::ranges::count(numbers.decisive, number) + std::ranges::count(numbers.others, number) > 0;
    if (number >= kLeast && number <= kMost && !known && to.size() < kMostNumbers) to.push_back(number);
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool beside = (i > 0 && decides(tokens, i - 1)) || decides(tokens, i + 1) ||
                        (i > 1 && tokens[i - 1].is("(") && decides(tokens, i - 2));
    if (!beside || !values[i]) continue;
    if (!binding.contains(tokens[i].text)) {
      for (const int64_t product : values.products_from(i)) add(numbers.decisive, product);
    }
    const std::optional<Condition> condition = condition_at(tokens, values, i);
    if (condition && numbers.conditions.size() < kMostConditions &&
        std::ranges::count(numbers.conditions, *condition) == 0) {
      numbers.conditions.push_back(*condition);
    }
  }
  add_values(tokens, numbers);
  add_ends_of_types(tokens, numbers);
  for (size_t i = 0; i < tokens.size(); ++i) {
    for (const int64_t product : values.products_from(i)) add(numbers.others, product);
  }
  for (const auto& [name, value] : binding) add(numbers.others, value);
  for (const auto& [name, value] : binding) {
    for (const auto& [other, times] : binding) {
      if (name < other && std::max(std::abs(value), std::abs(times)) <= kMost) add(numbers.others, value * times);
    }
  }
  return numbers;
}

}  // namespace verifier::draws
