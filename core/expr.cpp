#include "core/expr.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <vector>

#include "core/suggest.h"

namespace core {

struct Expr::Node {
  enum class Op { number, name, add, sub, mul, div, mod, lt, le, gt, ge, eq, ne, min, max, ceil_div, negate };
  Op op = Op::number;
  int64_t value = 0;
  std::string name;
  std::vector<std::shared_ptr<const Node>> operands;
};

namespace {
using Node = Expr::Node;
using Op = Node::Op;
using NodePtr = std::shared_ptr<const Node>;

constexpr int kMaxDepth = 64;
constexpr size_t kMaxLength = 1000;

// Recursive descent over the text; one method per precedence level.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NodePtr parse() {
    if (text_.size() > kMaxLength) throw ExprError("expression is longer than 1000 characters");
    NodePtr node = comparison();
    skip_space();
    if (at_ < text_.size()) fail("unexpected '" + std::string(1, text_[at_]) + "'");
    return node;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ExprError(what + " at column " + std::to_string(at_ + 1) + " of \"" + std::string(text_) + "\"");
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("expected '" + std::string(token) + "'");
  }
  static NodePtr make(Op op, std::vector<NodePtr> operands) {
    auto node = std::make_shared<Node>();
    node->op = op;
    node->operands = std::move(operands);
    return node;
  }

  NodePtr comparison() {
    if (++depth_ > kMaxDepth) fail("nested too deeply");
    NodePtr left = sum();
    static constexpr std::pair<std::string_view, Op> kComparisons[] = {{"<=", Op::le}, {">=", Op::ge}, {"==", Op::eq},
                                                                       {"!=", Op::ne}, {"<", Op::lt},  {">", Op::gt}};
    for (const auto& [token, op] : kComparisons) {
      if (accept(token)) {
        left = make(op, {left, sum()});
        break;
      }
    }
    --depth_;
    return left;
  }
  NodePtr sum() {
    NodePtr left = product();
    while (true) {
      if (accept("+")) {
        left = make(Op::add, {left, product()});
      } else if (accept("-")) {
        left = make(Op::sub, {left, product()});
      } else {
        return left;
      }
    }
  }
  NodePtr product() {
    NodePtr left = unary();
    while (true) {
      if (accept("*")) {
        left = make(Op::mul, {left, unary()});
      } else if (accept("/")) {
        left = make(Op::div, {left, unary()});
      } else if (accept("%")) {
        left = make(Op::mod, {left, unary()});
      } else {
        return left;
      }
    }
  }
  NodePtr unary() {
    if (!accept("-")) return primary();
    if (++depth_ > kMaxDepth) fail("nested too deeply");
    NodePtr operand = unary();
    --depth_;
    return make(Op::negate, {operand});
  }
  NodePtr primary() {
    skip_space();
    if (at_ >= text_.size()) fail("expected a number, a name or '('");
    const char c = text_[at_];
    if (accept("(")) {
      NodePtr inner = comparison();
      expect(")");
      return inner;
    }
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return name_or_call();
    fail("unexpected '" + std::string(1, c) + "'");
  }
  NodePtr number() {
    auto node = std::make_shared<Node>();
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, node->value);
    if (error != std::errc()) fail("number does not fit in 64 bits");
    at_ = static_cast<size_t>(stop - text_.data());
    return node;
  }
  NodePtr name_or_call() {
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    std::string name(text_.substr(begin, at_ - begin));
    if (!accept("(")) {
      auto node = std::make_shared<Node>();
      node->op = Op::name;
      node->name = std::move(name);
      return node;
    }
    std::vector<NodePtr> operands{comparison()};
    while (accept(",")) operands.push_back(comparison());
    expect(")");
    if (name == "ceil_div") {
      if (operands.size() != 2) fail("ceil_div takes two operands");
      return make(Op::ceil_div, std::move(operands));
    }
    if (name == "min") return make(Op::min, std::move(operands));
    if (name == "max") return make(Op::max, std::move(operands));
    fail("there is no function \"" + name + "\"; " + did_you_mean(name, {"min", "max", "ceil_div"}, "functions"));
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

[[noreturn]] void overflow(Op op) {
  const char* sign = op == Op::add ? "+" : op == Op::sub ? "-" : op == Op::mul ? "*" : "/";
  throw ExprError(std::string("'") + sign + "' overflows 64 bits");
}

int64_t divide(Op op, int64_t a, int64_t b) {
  if (b == 0) throw ExprError(op == Op::mod ? "remainder of a division by zero" : "division by zero");
  if (a == INT64_MIN && b == -1) overflow(Op::div);
  if (op == Op::mod) return a % b;
  if (op == Op::div) return a / b;
  return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);  // ceil_div
}

int64_t evaluate(const Node& node, const Bindings& bindings) {
  if (node.op == Op::number) return node.value;
  if (node.op == Op::name) {
    const auto found = bindings.find(node.name);
    if (found != bindings.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [name, value] : bindings) known.push_back(name);
    throw ExprError("nothing is named \"" + node.name + "\"; " + did_you_mean(node.name, known));
  }
  const int64_t a = evaluate(*node.operands[0], bindings);
  if (node.op == Op::negate) {
    if (a == INT64_MIN) overflow(Op::sub);
    return -a;
  }
  if (node.op == Op::min || node.op == Op::max) {
    int64_t best = a;
    for (size_t i = 1; i < node.operands.size(); ++i) {
      const int64_t value = evaluate(*node.operands[i], bindings);
      best = node.op == Op::min ? std::min(best, value) : std::max(best, value);
    }
    return best;
  }
  const int64_t b = evaluate(*node.operands[1], bindings);
  int64_t result = 0;
  switch (node.op) {
    case Op::add:
      if (__builtin_add_overflow(a, b, &result)) overflow(node.op);
      return result;
    case Op::sub:
      if (__builtin_sub_overflow(a, b, &result)) overflow(node.op);
      return result;
    case Op::mul:
      if (__builtin_mul_overflow(a, b, &result)) overflow(node.op);
      return result;
    case Op::lt:
      return a < b;
    case Op::le:
      return a <= b;
    case Op::gt:
      return a > b;
    case Op::ge:
      return a >= b;
    case Op::eq:
      return a == b;
    case Op::ne:
      return a != b;
    default:
      return divide(node.op, a, b);
  }
}

void collect_names(const Node& node, std::set<std::string>& names) {
  if (node.op == Op::name) names.insert(node.name);
  for (const NodePtr& operand : node.operands) collect_names(*operand, names);
}
}  // namespace

Expr Expr::parse(std::string_view text) {
  Expr expr;
  expr.text_ = text;
  expr.root_ = Parser(expr.text_).parse();
  return expr;
}

Expr Expr::constant(int64_t value) {
  auto node = std::make_shared<Node>();
  node->value = value;
  Expr expr;
  expr.text_ = std::to_string(value);
  expr.root_ = std::move(node);
  return expr;
}

int64_t Expr::eval(const Bindings& bindings) const {
  try {
    return evaluate(*root_, bindings);
  } catch (const ExprError& error) {
    throw ExprError(std::string(error.what()) + " in \"" + text_ + "\"");
  }
}

std::set<std::string> Expr::names() const {
  std::set<std::string> names;
  collect_names(*root_, names);
  return names;
}

}  // namespace core
