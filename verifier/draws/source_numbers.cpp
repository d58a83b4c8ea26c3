#include "verifier/draws/source_numbers.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "sandbox/tokens.h"
#include "verifier/draws/axis_sizes.h"

namespace verifier::draws {
namespace {
using sandbox::Token;
using sandbox::TokenKind;

constexpr int64_t kLeast = 3, kMost = int64_t{1} << 30;
constexpr size_t kMostNumbers = 32;

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

// Does a comparison or a remainder stand there? Of == and != one character does.
bool decides(const Token& token) {
  return token.kind == TokenKind::punctuation &&
         (token.is("%") || token.is("<") || token.is(">") || token.is("=") || token.is("&"));
}
}  // namespace

SourceNumbers numbers_of(std::string_view source, const sandbox::TunableBinding& binding) {
  const std::vector<Token> tokens = sandbox::tokenize(source);
  std::vector<std::optional<int64_t>> values(tokens.size());  // of literals and tunables
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == TokenKind::number) values[i] = whole_number(tokens[i].text);
    if (tokens[i].kind == TokenKind::identifier) {
      const auto tunable = binding.find(tokens[i].text);
      if (tunable != binding.end()) values[i] = tunable->second;
    }
  }
  SourceNumbers numbers;
  const auto add = [&](std::vector<int64_t>& to, int64_t number) {
    const bool known = std::ranges::count(numbers.decisive, number) + std::ranges::count(numbers.others, number) > 0;
    if (number >= kLeast && number <= kMost && !known && to.size() < kMostNumbers) to.push_back(number);
  };
  const auto add_product = [&](int64_t a, int64_t b) {
    if (std::max(std::abs(a), std::abs(b)) <= kMost) add(numbers.others, a * b);
  };
  const auto literal = [&](size_t i) { return values[i] && tokens[i].kind == TokenKind::number; };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool beside = (i > 0 && decides(tokens[i - 1])) || (i + 1 < tokens.size() && decides(tokens[i + 1]));
    if (literal(i) && beside) add(numbers.decisive, *values[i]);
  }
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!values[i]) continue;
    if (tokens[i + 1].is("*") && values[i + 2]) add_product(*values[i], *values[i + 2]);
    const bool shifts = i + 3 < tokens.size() && tokens[i + 1].is("<") && tokens[i + 2].is("<") && values[i + 3];
    if (shifts && *values[i + 3] >= 0 && *values[i + 3] < 31) add_product(*values[i], int64_t{1} << *values[i + 3]);
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (literal(i)) add(numbers.others, *values[i]);
  }
  for (const auto& [name, value] : binding) add(numbers.others, value);
  for (const auto& [name, value] : binding) {
    for (const auto& [other, times] : binding) {
      if (name < other) add_product(value, times);
    }
  }
  return numbers;
}

namespace {
constexpr size_t kWays = 6;

int64_t near(int64_t number, size_t way, statistics::Keys& keys) {
  constexpr uint64_t kMostTimes = 4, kLittle = 64;
  const int64_t multiple = number * (1 + static_cast<int64_t>(keys.below(kMostTimes)));
  switch (way) {
    case 0:
      return number;
    case 1:
      return multiple - 1;
    case 2:
      return multiple + 1;
    case 3:
      return multiple;
    case 4:
      return multiple + 1 + static_cast<int64_t>(keys.below(std::min<uint64_t>(kLittle, number)));
    default:
      return draw_between(number, 2 * number, keys);
  }
}
}  // namespace

std::vector<core::Bindings> draw_shapes_of_numbers(const benchsuite::Problem& problem, const SourceNumbers& numbers,
                                                   size_t most_shapes, int64_t most_elements, int64_t most_flops,
                                                   statistics::Keys& keys) {
  constexpr int kTries = 10;
  constexpr int64_t kMostShort = 512;
  std::vector<core::Bindings> shapes;
  const auto draw = [&](const benchsuite::Axis& of, int64_t number, size_t way, int64_t most_short) {
    core::Bindings axes;
    const bool several = keys.below(4) == 0;
    for (const benchsuite::Axis& axis : problem.axes) {
      const bool named = axis.name == of.name || (several && keys.coin());
      axes[axis.name] = !axis.values.empty() ? one_of(axis.values, keys)
                        : named              ? into_domain(axis, near(number, way, keys))
                                             : into_domain(axis, draw_between(1, most_short, keys));
    }
    return axes;
  };
  const auto add = [&](const std::vector<int64_t>& some, size_t most) {
    const size_t first_way = keys.below(kWays);
    for (size_t turn = 0; turn < kWays; ++turn) {
      for (const int64_t number : some) {
        for (const benchsuite::Axis& axis : problem.axes) {
          if (!axis.values.empty() || number > axis.max) continue;
          for (int i = 0; i < kTries; ++i) {  // the others shorter each time
            core::Bindings axes = draw(axis, number, (first_way + turn) % kWays, std::max<int64_t>(kMostShort >> i, 1));
            if (!small_enough(problem, axes, most_elements, most_flops)) continue;
            if (std::ranges::find(shapes, axes) == shapes.end()) shapes.push_back(std::move(axes));
            break;
          }
          if (shapes.size() >= most) return;
        }
      }
    }
  };
  add(numbers.decisive, most_shapes * 3 / 4);
  add(numbers.others, most_shapes);
  return shapes;
}

}  // namespace verifier::draws
