#include "verifier/draws/source/numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "sandbox/tokens.h"
#include "verifier/draws/source/values.h"

namespace verifier::draws::source {
namespace {
using sandbox::Token;
using sandbox::TokenKind;

constexpr size_t kMostNumbers = 64;

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

constexpr size_t kMostValues = 32, kMostWholeValues = 4;

// The divisors in conditions such as "length % 256 == 0", largest first. Axes do not count: no input holds one.
std::vector<int64_t> divisors_of_values(const SourceNumbers& numbers, std::span<const sandbox::Launch> launches) {
  const auto is_passed = [&](const std::string& name) {
    return std::ranges::any_of(
        launches, [&](const sandbox::Launch& launch) { return std::ranges::count(launch.args, name) > 0; });
  };
  std::vector<int64_t> divisors;
  for (const Condition& condition : numbers.conditions) {
    if (condition.relation == Relation::remainder && !is_passed(condition.name)) divisors.push_back(condition.number);
  }
  std::ranges::sort(divisors, std::greater());
  return divisors;
}

void add_values(const std::vector<Token>& tokens, std::span<const sandbox::Launch> launches, SourceNumbers& numbers) {
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
  for (const std::vector<int64_t>& whole : {divisors_of_values(numbers, launches), numbers.decisive}) {
    const size_t before = numbers.values.size();
    for (size_t i = 0; i < whole.size() && numbers.values.size() < before + kMostWholeValues; ++i) {
      add(static_cast<double>(whole[i]));
    }
  }
}

void add_ends_of_types(const std::vector<Token>& tokens, SourceNumbers& numbers) {
  constexpr std::pair<std::string_view, int64_t> kEnds[] = {
      {"short", 1 << 15}, {"int16_t", 1 << 15}, {"short", 1 << 16}, {"uint16_t", 1 << 16}, {"ushort", 1 << 16},
      {"char", 1 << 7},   {"int8_t", 1 << 7},   {"char", 1 << 8},   {"uint8_t", 1 << 8},   {"uchar", 1 << 8},
  };
  const auto add = [&](int64_t end) {
    if (std::ranges::count(numbers.ends_of_types, end) == 0) numbers.ends_of_types.push_back(end);
  };
  for (const auto& of : kEnds) {
    if (std::ranges::any_of(tokens, [&](const Token& token) { return token.is(of.first); })) add(of.second);
  }
  for (size_t i = 2; i < tokens.size(); ++i) {
    const std::optional<int64_t> number =
        tokens[i].kind == TokenKind::number ? whole_number(tokens[i].text) : std::nullopt;
    const bool shifts = tokens[i - 1].text == tokens[i - 2].text && (tokens[i - 1].is("<") || tokens[i - 1].is(">"));
    for (const int bits : {8, 16}) {
      if (number && ((shifts && *number == bits) || (tokens[i - 1].is("&") && *number == (1 << bits) - 1)))
        add(1 << bits);
    }
  }
}

bool has_reciprocals(const std::vector<Token>& tokens) {
  const auto rounds = [](const Token& token) {
    return std::ranges::any_of(std::array{"__frcp", "__fdividef", "__umulhi", "__mulhi", "__umul64hi"},
                               [&](std::string_view name) { return token.text.starts_with(name); });
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool is_one = tokens[i].kind == TokenKind::number && tokens[i].text.starts_with("1.") &&
                        tokens[i].text.find_first_not_of("0f", 2) == std::string_view::npos;
    if (rounds(tokens[i]) || (is_one && i + 1 < tokens.size() && tokens[i + 1].is("/"))) return true;
  }
  return false;
}

bool has_own_order_of_blocks(const std::vector<Token>& tokens) {
  std::set<std::string> places;  // names defined from blockIdx
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is("gridDim")) return true;
    const bool defines = i > 0 && tokens[i].kind == TokenKind::identifier && tokens[i + 1].is("=") &&
                         tokens[i - 1].kind == TokenKind::identifier;
    for (size_t k = i + 2; defines && k < tokens.size() && !tokens[k].is(";") && !tokens[k].is(","); ++k) {
      if (tokens[k].is("blockIdx")) places.insert(tokens[i].text);
    }
    const bool divides = tokens[i + 1].is("/") || tokens[i + 1].is("%") ||
                         (tokens[i + 1].is(">") && i + 2 < tokens.size() && tokens[i + 2].is(">"));
    if (divides && (places.contains(tokens[i].text) || (i > 1 && tokens[i - 2].is("blockIdx")))) return true;
  }
  return false;
}

}  // namespace

SourceNumbers numbers_of(std::string_view source, const sandbox::TunableBinding& binding,
                         std::span<const sandbox::Launch> launches) {
  const std::vector<Token> tokens = sandbox::tokenize(source);
  const SourceValues values(tokens, binding);
  SourceNumbers numbers;
  const auto add = [&](std::vector<int64_t>& to, int64_t number) {
    const bool known = std::ranges::count(numbers.decisive, number) + std::ranges::count(numbers.others, number) > 0;
    if (number >= kLeastSourceNumber && number <= kMostSourceNumber && !known && to.size() < kMostNumbers)
      to.push_back(number);
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool beside = (i > 0 && decides(tokens, i - 1)) || decides(tokens, i + 1) ||
                        (i > 1 && tokens[i - 1].is("(") && decides(tokens, i - 2));
    if (!beside || !values[i]) continue;
    if (!binding.contains(tokens[i].text)) {
      for (const int64_t product : values.products_from(i)) add(numbers.decisive, product);
    }
  }
  numbers.conditions = conditions_of(tokens, values, launches, binding);
  numbers.comparisons = comparisons_of(tokens, values, launches, binding);
  add_values(tokens, launches, numbers);
  add_ends_of_types(tokens, numbers);
  numbers.multiplies_by_reciprocals = has_reciprocals(tokens);
  numbers.renumbers_blocks = has_own_order_of_blocks(tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    for (const int64_t product : values.products_from(i)) add(numbers.others, product);
  }
  for (const auto& [name, value] : binding) add(numbers.others, value);
  for (const auto& [name, value] : binding) {
    for (const auto& [other, times] : binding) {
      if (name < other && std::max(std::abs(value), std::abs(times)) <= kMostSourceNumber)
        add(numbers.others, value * times);
    }
  }
  return numbers;
}

}  // namespace verifier::draws::source
