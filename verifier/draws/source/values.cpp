#include "verifier/draws/source/values.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/expr.h"

namespace verifier::draws::source {
using sandbox::Token;
using sandbox::TokenKind;

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

bool decides(const std::vector<Token>& tokens, size_t at) {
  if (at >= tokens.size() || tokens[at].kind != TokenKind::punctuation) return false;
  const auto is = [&](size_t i, const std::string& text) { return i < tokens.size() && tokens[i].is(text); };
  const std::string& text = tokens[at].text;
  const bool doubled = is(at + 1, text) || (at > 0 && is(at - 1, text));
  if (text == "<" || text == ">" || text == "&") return !doubled;
  return text == "%" || text == "=";
}

SourceValues::SourceValues(const std::vector<Token>& tokens, const sandbox::TunableBinding& binding)
    : tokens_(tokens), of_(tokens.size()) {
  constexpr size_t kMostConstants = 64;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == TokenKind::number) of_[i] = whole_number(tokens[i].text);
  }
  name(binding);
  // One after another: a constant may be a product of earlier ones.
  size_t constants = 0;
  const auto define = [&](size_t at, size_t begin) {
    if (const std::optional<int64_t> value = constant_from(begin); value && constants < kMostConstants) {
      ++constants;
      return name({{tokens[at].text, *value}});
    }
    const std::vector<int64_t> products = products_from(begin);
    if (products.empty()) return;
    int64_t value = products.back();
    size_t end = begin + 1;
    while (end + 1 < tokens.size() && (tokens[end].is("*") || tokens[end].is("<")) && end < begin + 64) {
      end += tokens[end].is("<") ? 3 : 2;
    }
    if (end + 1 < tokens.size() && tokens[end].is("/") && of_[end + 1].value_or(0) > 0) {
      value /= *of_[end + 1];
      end += 2;
    }
    // The rest of an initialiser would change the value.
    const bool ends = end >= tokens.size() || tokens[end].is(";") || tokens[end].is(",") ||
                      tokens[end].directive != tokens[at].directive;
    if (ends && constants++ < kMostConstants) name({{tokens[at].text, value}});
  };
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].is("define") && tokens[i].directive >= 0) define(i + 1, i + 2);
    if (!tokens[i].is("constexpr") && !tokens[i].is("const")) continue;
    int depth = 0;
    const size_t first = i + 1;
    for (++i; i + 2 < tokens.size() && !tokens[i].is(";") && !tokens[i].is("{") && depth >= 0; ++i) {
      depth += tokens[i].is("(") - tokens[i].is(")");
      if (depth == 0 && tokens[i].is(")") && tokens[first].is("(")) break;  // "if constexpr (BK == 64) stages = 3;"
      const bool assigned = tokens[i + 1].is("=") && !tokens[i + 2].is("=");
      if (tokens[i].kind == TokenKind::identifier && assigned) define(i, i + 2);
    }
  }
}

std::optional<int64_t> SourceValues::constant_from(size_t begin) const {
  constexpr size_t kMostTokens = 48;
  constexpr std::pair<std::string_view, std::string_view> kSizes[] = {
      {"float", "4"},  {"int", "4"},    {"unsigned", "4"}, {"half", "2"},
      {"__half", "2"}, {"double", "8"}, {"float4", "16"},  {"float2", "8"}};
  std::string text;
  size_t i = begin, count = 0;
  int depth = 0;
  for (; i < tokens_.size() && tokens_[i].directive == tokens_[begin].directive; ++i) {
    const Token& token = tokens_[i];
    if (token.is(";") || (depth == 0 && token.is(","))) break;
    depth += token.is("(") - token.is(")");
    if (++count > kMostTokens || depth < 0) return std::nullopt;
    if (token.is("sizeof") && i + 3 < tokens_.size() && tokens_[i + 1].is("(") && tokens_[i + 3].is(")")) {
      const auto size = std::ranges::find(kSizes, tokens_[i + 2].text, [](const auto& of) { return of.first; });
      if (size == std::end(kSizes)) return std::nullopt;
      text += std::string(" ") + std::string(size->second);
      i += 3;
    } else if (of_[i]) {
      text += " " + std::to_string(*of_[i]);
    } else if (token.kind == TokenKind::punctuation &&
               std::string_view("+-*/%()").find(token.text) != std::string_view::npos) {
      text += token.text;
    } else {
      return std::nullopt;
    }
  }
  try {
    return core::Expr::parse(text).eval({});
  } catch (const core::ExprError&) {
    return std::nullopt;
  }
}

std::vector<int64_t> SourceValues::products_from(size_t i) const {
  constexpr size_t kMostFactors = 16;
  std::vector<int64_t> products;
  if (i >= tokens_.size() || !of_[i]) return products;
  products.push_back(*of_[i]);
  const auto value = [&](size_t at) { return at < tokens_.size() ? of_[at].value_or(0) : 0; };
  while (i + 1 < tokens_.size() && products.size() < kMostFactors) {
    const bool shifts = tokens_[i + 1].is("<") && i + 2 < tokens_.size() && tokens_[i + 2].is("<");
    if (!shifts && !tokens_[i + 1].is("*")) break;
    i += shifts ? 3 : 2;
    const int64_t by = shifts ? (value(i) > 0 && value(i) < 31 ? int64_t{1} << value(i) : 0) : value(i);
    if (by <= 0 || by > kMostSourceNumber || products.back() > kMostSourceNumber || products.back() < 0) break;
    products.push_back(products.back() * by);
  }
  return products;
}

void SourceValues::name(const sandbox::TunableBinding& values) {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const auto found = tokens_[i].kind == TokenKind::identifier ? values.find(tokens_[i].text) : values.end();
    if (found != values.end()) of_[i] = found->second;
  }
}

}  // namespace verifier::draws::source
