// Integer expressions over named axes and tunables, as used in problem and solution files.
//
// Grammar: 64-bit integers, names, + - * / % (division truncates toward zero), comparisons (1 or 0), parentheses,
// min(a, b, ...), max(a, b, ...), ceil_div(a, b). Arithmetic is exact: overflow and division by zero are errors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace core {

using Bindings = std::map<std::string, int64_t, std::less<>>;

// Reports why an expression cannot be parsed or evaluated. The caller adds file and place.
class ExprError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Expr {
 public:
  // Throws ExprError with the column of the fault.
  static Expr parse(std::string_view text);
  static Expr constant(int64_t value);

  // Throws ExprError on an unbound name, overflow, or division by zero.
  int64_t eval(const Bindings& bindings) const;

  const std::string& text() const { return text_; }
  // Every name the expression reads.
  std::set<std::string> names() const;

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace core
