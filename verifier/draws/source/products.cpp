#include "verifier/draws/source/products.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace verifier::draws::source {
namespace {
using sandbox::Token;
using sandbox::TokenKind;
using Range = std::pair<size_t, size_t>;  // of tokens: the first, and beyond the last

constexpr size_t kMostComparisons = 32, kMostOfASide = 32, kMostOfAText = 400;

bool stands_at(const std::vector<Token>& tokens, size_t i, const char* text) {
  return i < tokens.size() && tokens[i].is(text);
}
bool is_shift(const std::vector<Token>& tokens, size_t i) {
  const bool sign = tokens[i].is("<") || tokens[i].is(">");
  return sign && ((i > 0 && tokens[i - 1].is(tokens[i].text)) || stands_at(tokens, i + 1, tokens[i].text.c_str()));
}

// Where a comparison, a statement or a list ends; "&" alone is a mask.
bool ends_operand(const std::vector<Token>& tokens, size_t i) {
  constexpr std::string_view kEnds = ";,?:=!{}[]|<>";
  const Token& token = tokens[i];
  if (token.is("return") || token.is("<<<")) return true;
  if (token.is("&")) return stands_at(tokens, i + 1, "&") || (i > 0 && tokens[i - 1].is("&"));
  if (is_shift(tokens, i)) return false;
  return token.kind == TokenKind::punctuation && token.text.size() == 1 && kEnds.find(token.text[0]) != kEnds.npos;
}

Range operand_before(const std::vector<Token>& tokens, size_t sign) {
  size_t begin = sign;
  for (int depth = 0; begin > 0 && sign - begin < kMostOfASide; --begin) {
    const Token& token = tokens[begin - 1];
    if (depth == 0 && (token.is("(") || ends_operand(tokens, begin - 1))) break;
    depth += token.is(")") - token.is("(");
  }
  return {begin, sign};
}
Range operand_from(const std::vector<Token>& tokens, size_t begin) {
  size_t end = begin;
  for (int depth = 0; end < tokens.size() && end - begin < kMostOfASide; ++end) {
    const Token& token = tokens[end];
    if (depth == 0 && (token.is(")") || ends_operand(tokens, end))) break;
    depth += token.is("(") - token.is(")");
  }
  return {begin, end};
}

using Names = std::map<std::string, std::string>;  // and what they stand for

// The operand in the words of core::Expr, or nothing where it has none for it.
std::optional<std::string> expression_of(const std::vector<Token>& tokens, const SourceValues& values, Range range,
                                         const Names& names) {
  static const std::set<std::string_view> kTypes = {"int",     "unsigned", "long",  "size_t", "int32_t", "uint32_t",
                                                    "int64_t", "uint64_t", "const", "ll",     "char",    "short"};
  std::string text;
  std::vector<size_t> begins = {0};  // of the text since each bracket that is open
  const auto all_so_far = [&](const std::string& then) {
    text.insert(begins.back(), "(");
    text += ")" + then;
  };
  for (size_t i = range.first; i < range.second; ++i) {
    const Token& token = tokens[i];
    if (text.size() > kMostOfAText) return std::nullopt;
    if (token.is("(")) {
      size_t end = i + 1;
      while (end < range.second && kTypes.contains(tokens[end].text)) ++end;
      if (end > i + 1 && stands_at(tokens, end, ")")) {  // a cast
        i = end;
        continue;
      }
      text += "(";
      begins.push_back(text.size());
    } else if (token.is(")")) {
      if (begins.size() == 1) return std::nullopt;
      begins.pop_back();
      text += ")";
    } else if (values[i]) {
      text += std::to_string(*values[i]);
    } else if (token.is("static_cast") || kTypes.contains(token.text)) {
      if (stands_at(tokens, i + 1, "<")) {
        while (i < range.second && !tokens[i].is(">")) ++i;
      }
    } else if (token.kind == TokenKind::identifier) {
      const auto found = names.find(token.text);
      text += found == names.end() ? token.text : "(" + found->second + ")";
    } else if (is_shift(tokens, i) || token.is("&")) {
      const bool is_mask = token.is("&");
      const size_t by = is_mask ? i + 1 : i + 2;
      const int64_t number = by < range.second ? values[by].value_or(-1) : -1;
      if (number < 0 || number >= (is_mask ? kMostSourceNumber : 31)) return std::nullopt;
      if (is_mask && !std::has_single_bit(static_cast<uint64_t>(number) + 1)) return std::nullopt;
      const int64_t factor = is_mask ? number + 1 : int64_t{1} << number;
      all_so_far((is_mask ? "%" : token.is("<") ? "*" : "/") + std::to_string(factor));
      i = by;
    } else if (token.is("+") || token.is("-") || token.is("*") || token.is("/") || token.is("%") || token.is(",")) {
      text += token.text;
    } else {
      return std::nullopt;
    }
  }
  return text;
}

std::optional<core::Expr> parsed(const std::optional<std::string>& text) {
  if (!text || text->empty()) return std::nullopt;
  try {
    return core::Expr::parse(*text);
  } catch (const core::ExprError&) {
    return std::nullopt;
  }
}

// The definitions of a source, each in the names of those before it: "int size = C / 32;".
void define(const std::vector<Token>& tokens, const SourceValues& values, Names& names) {
  for (size_t i = 1; i + 2 < tokens.size(); ++i) {
    const bool declares = tokens[i - 1].kind == TokenKind::identifier || tokens[i - 1].is(",");
    if (!declares || tokens[i].kind != TokenKind::identifier || !tokens[i + 1].is("=") || tokens[i + 2].is("="))
      continue;
    const Range range = operand_from(tokens, i + 2);
    const bool ends = stands_at(tokens, range.second, ";") || stands_at(tokens, range.second, ",");
    const auto expression = ends ? parsed(expression_of(tokens, values, range, names)) : std::nullopt;
    if (expression && !expression->names().empty() && !expression->names().contains(tokens[i].text))
      names.emplace(tokens[i].text, expression->text());
  }
}

// The parameters of a launch's kernel stand for the arguments.
Names parameters_of(const sandbox::Launch& launch, const std::vector<Token>& tokens,
                    const sandbox::TunableBinding& binding) {
  Names names;
  bool of_kernel = false;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    of_kernel = tokens[i].is("__global__") || (of_kernel && !tokens[i].is(";") && !tokens[i].is("{"));
    if (!of_kernel || !tokens[i].is(launch.kernel) || !tokens[i + 1].is("(")) continue;
    size_t parameter = 0;
    int depth = 0;
    std::string last;
    for (++i; i < tokens.size() && parameter < launch.args.size(); ++i) {
      depth += (tokens[i].is("(") || tokens[i].is("[")) - (tokens[i].is(")") || tokens[i].is("]"));
      if (depth == 1 && tokens[i].kind == TokenKind::identifier) last = tokens[i].text;
      if (depth != 0 && !(depth == 1 && tokens[i].is(","))) continue;
      const std::vector<Token> passed = sandbox::tokenize(launch.args[parameter++]);
      const auto text = expression_of(passed, SourceValues(passed, binding), {0, passed.size()}, {});
      if (text && *text != last && parsed(text)) names.emplace(last, *text);
      if (depth == 0) break;
    }
    break;
  }
  return names;
}

class Comparisons {
 public:
  void read(const std::vector<Token>& tokens, const SourceValues& values, const Names& names) {
    for (size_t i = 1; i + 1 < tokens.size(); ++i) {
      const bool orders = (tokens[i].is("<") || tokens[i].is(">")) && !is_shift(tokens, i);
      const bool equals = (tokens[i].is("=") || tokens[i].is("!")) && tokens[i + 1].is("=") && !tokens[i - 1].is("=");
      if (!orders && !equals) continue;
      const bool or_equal = tokens[i + 1].is("=");
      const Range before = operand_before(tokens, i), behind = operand_from(tokens, or_equal ? i + 2 : i + 1);
      const auto left = parsed(expression_of(tokens, values, before, names));
      const auto right = parsed(expression_of(tokens, values, behind, names));
      if (!left || !right) continue;
      if (equals && !left->names().empty() && !right->names().empty()) {
        if (const auto difference = parsed("(" + left->text() + ") - (" + right->text() + ")"))
          add(*difference, 0, true);
      }
      if (left->names().empty() == right->names().empty()) continue;
      const bool number_right = right->names().empty();
      const std::optional<int64_t> number = value_of(number_right ? *right : *left);
      if (!number) continue;
      // "x < n" and "x >= n" part values at n, "x > n" and "x <= n" at n + 1.
      const bool less = tokens[i].is("<") == number_right;
      add(number_right ? *left : *right, equals ? *number : *number + (less == or_equal ? 1 : 0), equals);
    }
  }
  std::vector<Comparison> all() { return std::move(all_); }

 private:
  static std::optional<int64_t> value_of(const core::Expr& expression) {
    try {
      return expression.eval({});
    } catch (const core::ExprError&) {
      return std::nullopt;
    }
  }

  void add(const core::Expr& of, int64_t number, bool equals) {
    const bool multiplies = of.text().find('*') != std::string::npos;
    if ((of.names().size() < 2 && !multiplies) || number < 0 || number > kMostSourceNumber) return;
    const bool known = std::ranges::any_of(all_, [&](const Comparison& other) {
      return other.of.text() == of.text() && other.number == number && other.equals == equals;
    });
    if (!known && all_.size() < kMostComparisons) all_.push_back({of, number, equals});
  }

  std::vector<Comparison> all_;
};
}  // namespace

std::vector<Comparison> comparisons_of(const std::vector<Token>& tokens, const SourceValues& values,
                                       std::span<const sandbox::Launch> launches,
                                       const sandbox::TunableBinding& binding) {
  constexpr size_t kMostLaunches = 8;
  Comparisons comparisons;
  for (const sandbox::Launch& launch : launches.first(std::min(launches.size(), kMostLaunches))) {
    std::vector<std::string> texts = launch.args;
    for (const core::Expr& extent : launch.grid) texts.push_back(extent.text());
    for (const std::string& text : texts) {
      const std::vector<Token> passed = sandbox::tokenize(text);
      comparisons.read(passed, SourceValues(passed, binding), {});
    }
    Names names = parameters_of(launch, tokens, binding);
    define(tokens, values, names);
    comparisons.read(tokens, values, names);
  }
  if (launches.empty()) {
    Names names;
    define(tokens, values, names);
    comparisons.read(tokens, values, names);
  }
  return comparisons.all();
}

}  // namespace verifier::draws::source
