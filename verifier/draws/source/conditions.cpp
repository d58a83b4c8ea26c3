#include "verifier/draws/source/conditions.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "verifier/draws/source/calls.h"

namespace verifier::draws::source {
namespace {
using sandbox::Token;
using sandbox::TokenKind;

constexpr size_t kMostConditions = 128, kMostDefinitions = 256, kMostOfAnOperand = 24;

// A name and what divides it: `K` and 64 for `(K + 63) / 64`, `K` and 1 for `K` alone, `K`, 64 and 32 for `K / 32 / 2`.
struct Quotient {
  std::string name;
  int64_t divisor = 1, first_divisor = 0;
  bool operator==(const Quotient&) const = default;
};
using Range = std::pair<size_t, size_t>;  // of tokens: the first, and beyond the last

class Conditions {
 public:
  void read(const std::vector<Token>& tokens, const SourceValues& values) {
    switched_on_ = {};
    for (size_t i = 0; i + 2 < tokens.size(); ++i) {
      const bool declares = i > 0 && (tokens[i - 1].kind == TokenKind::identifier || tokens[i - 1].is(","));
      if (declares && tokens[i].kind == TokenKind::identifier && tokens[i + 1].is("=") && !tokens[i + 2].is("=")) {
        define_from(tokens[i].text, tokens, values, i + 2);
      }
    }
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].is("switch") && i + 2 < tokens.size()) switched_on_ = operand_from(tokens, i + 2);
      const bool begins = values[i] && !(i > 1 && tokens[i - 1].is("*") && values[i - 2]);
      if (!begins) continue;
      if (i > 0 && tokens[i - 1].is("case")) {
        note(tokens, values, switched_on_, {"", Relation::equal, *values[i]});
      } else {
        read_comparison(tokens, values, i);
      }
    }
  }

  // The body of a function stands for the function as well: what it returns, or a macro's text.
  void read(const CalledBody& body) {
    const SourceValues values(body.tokens, {});
    read(body.tokens, values);
    if (body.name.empty()) return;
    define_from(body.name, body.tokens, values, 0);
    for (size_t i = 0; i + 1 < body.tokens.size(); ++i) {
      if (body.tokens[i].is("return")) define_from(body.name, body.tokens, values, i + 1);
    }
  }
  void name_functions(const std::vector<CalledBody>& bodies) {
    for (const CalledBody& body : bodies) functions_.insert(body.name);
  }

  void define_from(const std::string& name, const std::vector<Token>& tokens, const SourceValues& values,
                   size_t begin) {
    std::vector<size_t> begins = branches(tokens, begin);
    if (begins.empty()) begins = {begin};
    for (const size_t first : begins) {
      const Range operand = operand_from(tokens, first);
      const size_t end = operand.second;
      const bool rounds = end + 1 < tokens.size() && tokens[end].is("&") &&
                          (tokens[end + 1].is("~") || tokens[end + 1].is("-"));  // "N & ~31"
      const bool compares = end < tokens.size() && decides(tokens, end) && !rounds;
      if (!compares) define(name, quotients(tokens, values, operand));
    }
  }

  // Of "K % 8 == 0 ? K : 0": where its results begin; none where no ? stands.
  static std::vector<size_t> branches(const std::vector<Token>& tokens, size_t begin) {
    std::vector<size_t> found;
    int depth = 0;
    for (size_t i = begin; i < tokens.size() && i - begin < 2 * kMostOfAnOperand && !tokens[i].is(";"); ++i) {
      depth += tokens[i].is("(") - tokens[i].is(")");
      if (depth == 0 && (tokens[i].is("?") || (!found.empty() && tokens[i].is(":")))) found.push_back(i + 1);
    }
    return found;
  }

  // Pairs the parameters of the kernel named at token `at` with the arguments of its launch.
  void read_parameters(const std::vector<Token>& tokens, size_t at, const std::vector<std::string>& args,
                       const sandbox::TunableBinding& binding) {
    int depth = 0;
    size_t parameter = 0;
    std::string last;
    for (size_t i = at + 1; i < tokens.size() && parameter < args.size(); ++i) {
      const Token& token = tokens[i];
      depth += (token.is("(") || token.is("[")) - (token.is(")") || token.is("]"));
      if (depth == 1 && token.kind == TokenKind::identifier) last = token.text;
      if (depth != 0 && !(depth == 1 && token.is(","))) continue;
      const std::vector<Token> passed = sandbox::tokenize(args[parameter++]);
      define(last, quotients(passed, SourceValues(passed, binding), {0, passed.size()}));
      if (depth == 0) return;
    }
  }

  std::vector<Condition> resolved() const {
    std::vector<Condition> all;
    int calls = 0;
    for (const auto& [quotient, condition] : read_) add(all, quotient, condition, 0, calls);
    calls = 0;
    for (const auto& [name, quotient] : definitions_) {
      for (const int64_t divisor : {quotient.divisor, quotient.first_divisor}) {
        if (divisor > 1) add(all, {quotient.name, divisor}, {"", Relation::odd, 1}, 0, calls);
      }
    }
    return all;
  }

 private:
  void define(const std::string& name, const std::vector<Quotient>& by) {
    for (const Quotient& quotient : by) {
      const auto [first, last] = definitions_.equal_range(name);
      const bool known = std::any_of(first, last, [&](const auto& other) { return other.second == quotient; });
      if (!known && definitions_.size() < kMostDefinitions && quotient.name != name)
        definitions_.emplace(name, quotient);
    }
  }

  // The product that begins at token `i`, beside a sign: "M > 600", "(K / BK) % 2 == 1", "n & 127", "T & (TILE - 1)",
  // "384 <= M". A remainder that is not compared, or has to differ, asks for that remainder or another.
  void read_comparison(const std::vector<Token>& tokens, const SourceValues& values, size_t i) {
    const auto is = [&](size_t at, const char* text) { return at < tokens.size() && tokens[at].is(text); };
    const bool grouped = i > 1 && is(i - 1, "(") && decides(tokens, i - 2);
    const size_t begin = grouped ? i - 1 : i;
    size_t end = i + 1;  // beyond the product
    while (is(end, "*") && end + 1 < tokens.size() && values[end + 1]) end += 2;
    Condition condition{"", Relation::least, values.products_from(i).back()};
    if (condition.number < 0 || condition.number > kMostSourceNumber) return;
    const bool is_right = begin > 0 && decides(tokens, begin - 1);
    const bool masked = is_right && is(begin - 1, "&"), divided = is_right && is(begin - 1, "%");
    if (masked || divided) {
      if (masked && !(is(end, "-") && is(end + 1, "1"))) ++condition.number;
      if (masked && !std::has_single_bit(static_cast<uint64_t>(std::max<int64_t>(condition.number, 0)))) return;
      condition.relation = Relation::remainder;
      const Range left = operand_to(tokens, begin - 1);
      while (is(end, ")") || is(end, "-") || is(end, "1")) ++end;
      const bool compared =
          (is(end, "=") || is(end, "!")) && is(end + 1, "=") && end + 2 < tokens.size() && values[end + 2];
      if (compared) condition.remainder = *values[end + 2];
      if (condition.remainder < 0 || condition.remainder >= condition.number) return;
      note(tokens, values, left, condition);
      if (compared && is(end, "=")) return;
      condition.remainder = condition.remainder == 0 ? 1 : 0;
      return note(tokens, values, left, condition);
    }
    if (grouped && is(end, ")")) ++end;
    if (!is_right && !decides(tokens, end)) return;
    // The sign is one token or two.
    const size_t last = is_right ? begin - 1 : is(end + 1, "=") ? end + 1 : end;
    const bool with_equality = is(last, "=");
    const size_t sign = is_right && with_equality && last > 0 ? last - 1 : is_right ? last : end;
    if (with_equality && sign == last) return;  // an assignment
    if (!is_right && (is(sign, "%") || is(sign, "&"))) return;
    const Range other = is_right ? operand_to(tokens, sign) : operand_from(tokens, last + 1);
    if (is(sign, "=") || is(sign, "!")) {
      condition.relation = Relation::equal;
    } else if (is(sign, "<") || is(sign, ">")) {
      // "M > 600" and "600 < M" ask for 601 at least.
      const bool at_least = is(sign, ">") == is_right;
      condition.relation = at_least ? Relation::least : Relation::most;
      if (!with_equality) condition.number += at_least ? 1 : -1;
    } else {
      return;  // "n += 600"
    }
    note(tokens, values, other, condition);
  }

  void note(const std::vector<Token>& tokens, const SourceValues& values, Range operand, const Condition& condition) {
    std::vector<Quotient> of = quotients(tokens, values, operand);
    const bool is_limit = condition.relation == Relation::least || condition.relation == Relation::most;
    if (of.empty() && is_limit && operand.first + 1 < operand.second) {  // "i + M > 600"
      const Token& near = tokens[operand.second - 1];
      if (near.kind == TokenKind::identifier && tokens[operand.second - 2].is("+")) of.push_back({near.text});
    }
    for (const Quotient& quotient : of) {
      const std::pair<Quotient, Condition> one{quotient, condition};
      if (read_.size() < kMostConditions && std::ranges::count(read_, one) == 0) read_.push_back(one);
    }
  }

  static bool ends_operand(const std::vector<Token>& tokens, size_t i) {
    constexpr std::string_view kEnds = ";,?:=!&{}[]";
    const Token& token = tokens[i];
    const bool doubled =
        (i > 0 && tokens[i - 1].is(token.text)) || (i + 1 < tokens.size() && tokens[i + 1].is(token.text));
    if (token.is("return") || token.is("<<<")) return true;
    if (token.is("<") || token.is(">") || token.is("|")) return token.is("|") == doubled;
    return token.kind == TokenKind::punctuation && token.text.size() == 1 && kEnds.find(token.text[0]) != kEnds.npos;
  }

  // The operand that ends before a sign, or begins behind it.
  static Range operand_to(const std::vector<Token>& tokens, size_t sign) {
    size_t begin = sign;
    const bool is_remainder = tokens[sign].is("%");
    for (int depth = 0; begin > 0 && sign - begin < kMostOfAnOperand; --begin) {
      const Token& token = tokens[begin - 1];
      if (depth == 0 && (token.is("(") || ends_operand(tokens, begin - 1))) break;
      if (depth == 0 && is_remainder && (token.is("+") || token.is("-"))) break;
      depth += token.is(")") - token.is("(");
    }
    return {begin, sign};
  }
  static Range operand_from(const std::vector<Token>& tokens, size_t begin) {
    size_t end = begin;
    for (int depth = 0; end < tokens.size() && end - begin < kMostOfAnOperand; ++end) {
      const Token& token = tokens[end];
      if (depth == 0 && (token.is(")") || ends_operand(tokens, end))) break;
      depth += token.is("(") - token.is(")");
    }
    return {begin, end};
  }

  // Of "M", "(int)M", "p.M", "K / BK", "(K + 63) / 64", "K >> 6", "ceil_div(K, BK)", the last factor of "B * H", and
  // each name of "M | N". None of other expressions.
  std::vector<Quotient> quotients(const std::vector<Token>& tokens, const SourceValues& values, Range range) const {
    static const std::set<std::string_view> kTypes = {"int",      "unsigned", "long",     "size_t", "int32_t",
                                                      "uint32_t", "int64_t",  "uint64_t", "const"};
    std::vector<std::string> names;
    int64_t divisor = 0, first_divisor = 0;
    bool adds = false, multiplies = false, unites = false, calls = false, rounds = false, scales = false;
    const auto is = [&](size_t at, const char* text) { return at < range.second && tokens[at].is(text); };
    const auto divide_by = [&](int64_t by) {
      first_divisor = divisor;
      divisor = std::max(divisor, by) > kMostSourceNumber || std::min(divisor, by) < 0 ? -1
                : divisor == 0                                                         ? by
                                                                                       : divisor * by;
    };
    const auto divide = [&](size_t at, bool ends) {
      const std::vector<int64_t> products = values.products_from(is(at, "(") ? at + 1 : at);
      divide_by(products.empty() ? -1 : ends || is(at, "(") ? products.back() : products.front());
    };
    for (size_t i = range.first; i < range.second; ++i) {
      const Token& token = tokens[i];
      if (values[i]) {
        scales = scales || is(i + 1, "*") || (i > range.first && tokens[i - 1].is("*") && !rounds);
        continue;
      }
      if (kTypes.contains(token.text) || token.is("(") || token.is(")") || token.is("::")) continue;
      if (token.kind == TokenKind::identifier) {
        if (is(i + 1, ".") || is(i + 1, "::") || (is(i + 1, "-") && is(i + 2, ">"))) continue;
        if (!is(i + 1, "(")) {
          names.push_back(token.text);
        } else if (token.text.find("div") != std::string::npos || token.text.find("DIV") != std::string::npos) {
          calls = true;
        } else if (functions_.contains(token.text)) {
          names.push_back(token.text);
          int depth = 0;
          do {
            ++i;
            depth += tokens[i].is("(") - tokens[i].is(")");
          } while (depth > 0 && i + 1 < range.second);
        } else {
          return {};
        }
      } else if (token.is("/") || (calls && token.is(","))) {
        divide(i + 1, token.is(","));
      } else if (token.is(">") && is(i + 1, ">")) {
        const int64_t by = i + 2 < range.second ? values[i + 2].value_or(-1) : -1;
        divide_by(by >= 0 && by < 31 ? int64_t{1} << by : -1);
        ++i;
      } else if (token.is("+") || token.is("-")) {
        adds = true;
      } else if (token.is("*") && divisor > 0 && values.products_from(i + 1) == std::vector<int64_t>{divisor}) {
        divisor = 1, first_divisor = 0;  // "K / 16 * 16"
        rounds = true;
      } else if (token.is("*")) {
        multiplies = true;
      } else if (token.is("|")) {
        unites = true;
      } else if (!token.is(".") && !token.is(">")) {
        return {};
      }
    }
    if (names.empty() || divisor < 0 || divisor > kMostSourceNumber || (adds && divisor == 0)) return {};
    if ((adds && rounds) || (scales && divisor == 0)) return {};
    if (unites) {
      std::vector<Quotient> all;
      for (const std::string& name : names) all.push_back({name});
      return adds || multiplies || divisor > 0 ? std::vector<Quotient>() : all;
    }
    if (!std::ranges::all_of(names, [&](const std::string& name) { return multiplies || name == names.back(); }))
      return {};
    return {{names.back(), std::max<int64_t>(divisor, 1), first_divisor}};
  }

  void add(std::vector<Condition>& all, const Quotient& of, const Condition& condition, int depth, int& calls) const {
    constexpr int kMostDepth = 4, kMostCalls = 4096;
    constexpr int64_t kMost = kMostSourceNumber;
    if (++calls > kMostCalls || depth > kMostDepth || condition.number < 1 || condition.number > kMost / of.divisor)
      return;
    Condition scaled = condition;
    scaled.name = of.name;
    scaled.number *= of.divisor;
    scaled.remainder *= of.divisor;
    const bool counts = scaled.number >= kLeastSourceNumber && all.size() < kMostConditions;
    if (counts && std::ranges::count(all, scaled) == 0) all.push_back(scaled);
    const auto [first, last] = definitions_.equal_range(of.name);
    for (auto found = first; found != last; ++found) add(all, found->second, scaled, depth + 1, calls);
  }

  std::vector<std::pair<Quotient, Condition>> read_;
  std::multimap<std::string, Quotient> definitions_;
  std::set<std::string> functions_;  // that calls have bodies of
  Range switched_on_;
};
}  // namespace

std::vector<Condition> conditions_of(const std::vector<Token>& tokens, const SourceValues& values,
                                     std::span<const sandbox::Launch> launches,
                                     const sandbox::TunableBinding& binding) {
  // Launches first: their definitions and conditions lead to axes, and no other may take their place.
  const std::vector<CalledBody> bodies = called_bodies(tokens, values);
  Conditions conditions;
  conditions.name_functions(bodies);
  for (const sandbox::Launch& launch : launches) {
    bool of_kernel = false;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      of_kernel = tokens[i].is("__global__") || (of_kernel && !tokens[i].is(";") && !tokens[i].is("{"));
      if (of_kernel && tokens[i].is(launch.kernel) && tokens[i + 1].is("(")) {
        conditions.read_parameters(tokens, i, launch.args, binding);
        break;
      }
    }
    std::vector<std::string> texts = launch.args;
    texts.push_back(launch.when.text());
    for (const core::Expr& extent : launch.grid) texts.push_back(extent.text());  // "1 + 7 * (N >= 32768)"
    for (const std::string& text : texts) {
      const std::vector<Token> passed = sandbox::tokenize(text);
      conditions.read(passed, SourceValues(passed, binding));
    }
  }
  for (const CalledBody& body : bodies) conditions.read(body);
  return conditions.resolved();
}

}  // namespace verifier::draws::source
