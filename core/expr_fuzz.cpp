// Expressions: any text is parsed or refused, and a parsed expression has the value of exact arithmetic.
#include "core/expr.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <optional>

#include "core/fuzzing.h"

namespace {
using core::Expr;
using core::ExprError;
using core::fuzzing::require;

// A reference model: the operators of expressions, printed with as few parentheses as precedence allows, evaluated in
// 128 bits.
struct Model {
  std::string text;
  int precedence;                // 0 comparison, 1 sum, 2 product, 3 sign, 4 the rest
  std::optional<int64_t> value;  // absent: has none
};

std::string within(const Model& operand, int least) {
  return operand.precedence < least ? "(" + operand.text + ")" : operand.text;
}

std::optional<int64_t> fitting(__int128 value) {
  if (value < INT64_MIN || value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

__int128 ceiling(__int128 a, __int128 b) {
  __int128 quotient = a / b;
  if (a % b != 0 && (a % b > 0) == (b > 0)) ++quotient;
  return quotient;
}

std::optional<int64_t> apply(const std::string& op, std::optional<int64_t> left, std::optional<int64_t> right) {
  if (!left || !right) return std::nullopt;
  const __int128 a = *left, b = *right;
  if ((op == "/" || op == "%" || op == "ceil_div") && (b == 0 || (b == -1 && *left == INT64_MIN))) return std::nullopt;
  if (op == "+") return fitting(a + b);
  if (op == "-") return fitting(a - b);
  if (op == "*") return fitting(a * b);
  if (op == "/") return fitting(a / b);
  if (op == "%") return fitting(a % b);
  if (op == "ceil_div") return fitting(ceiling(a, b));
  if (op == "min") return fitting(a < b ? a : b);
  if (op == "max") return fitting(a > b ? a : b);
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  return op == "==" ? a == b : a != b;
}

Model make(FuzzedDataProvider& data, const core::Bindings& bindings, int depth) {
  const int kind = depth == 0 ? data.ConsumeIntegralInRange(0, 1) : data.ConsumeIntegralInRange(0, 5);
  if (kind == 0) {
    const int64_t number = data.ConsumeBool() ? data.ConsumeIntegralInRange<int64_t>(0, 40)
                                              : data.ConsumeIntegralInRange<int64_t>(0, INT64_MAX);
    return {std::to_string(number), 4, number};
  }
  if (kind == 1) {
    const std::string name = data.PickValueInArray({"M", "N", "BLOCK", "least", "most", "nobody"});
    const auto bound = bindings.find(name);
    return {name, 4, bound == bindings.end() ? std::nullopt : std::optional(bound->second)};
  }
  const Model a = make(data, bindings, depth - 1);
  if (kind == 2) return {"-" + within(a, 3), 3, apply("-", 0, a.value)};
  const Model b = make(data, bindings, depth - 1);
  if (kind == 3) {
    const std::string name = data.PickValueInArray({"min", "max", "ceil_div"});
    return {name + "(" + a.text + ", " + b.text + ")", 4, apply(name, a.value, b.value)};
  }
  const int precedence = data.ConsumeIntegralInRange(0, 2);
  const std::string op = precedence == 0   ? data.PickValueInArray({"<", "<=", ">", ">=", "==", "!="})
                         : precedence == 1 ? data.PickValueInArray({"+", "-"})
                                           : data.PickValueInArray({"*", "/", "%"});
  // Comparisons do not chain; the others group from the left.
  const std::string left = within(a, precedence == 0 ? 1 : precedence), right = within(b, precedence + 1);
  return {left + (data.ConsumeBool() ? " " : "") + op + " " + right, precedence, apply(op, a.value, b.value)};
}

std::optional<int64_t> value_of(const Expr& expr, const core::Bindings& bindings) {
  try {
    return expr.eval(bindings);
  } catch (const ExprError&) {
    return std::nullopt;
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const core::Bindings bindings{{"M", 7}, {"N", -1023}, {"BLOCK", 256}, {"least", INT64_MIN}, {"most", INT64_MAX}};
  if (size > 0 && bytes[0] == 0) {
    FuzzedDataProvider data(bytes + 1, size - 1);
    const Model model = make(data, bindings, 5);
    if (model.text.size() > 1000) return 0;
    require(value_of(Expr::parse(model.text), bindings) == model.value, "the value of exact arithmetic");
    return 0;
  }
  try {
    const Expr expr = Expr::parse(core::fuzzing::as_text(bytes, size));
    const std::optional<int64_t> value = value_of(expr, bindings);
    require(value_of(expr, bindings) == value, "the same value twice");
    require(value_of(Expr::parse(expr.text()), bindings) == value, "the same value from its text");
    if (value) require(expr.names().count("nobody") == 0, "a value needs every name bound");
  } catch (const ExprError&) {
  }
  return 0;
}
