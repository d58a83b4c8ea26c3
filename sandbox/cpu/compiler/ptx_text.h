// The text of an inline assembly statement: PTX instructions become C++.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sandbox/compilation.h"

namespace sandbox::cpu::compiler {

struct PtxOperand {
  std::string expression;  // in parentheses
  bool is_input;
};

struct PtxCode {
  std::string text;               // an expression without value
  std::set<std::string> headers;  // of the shim, which have its functions
};

struct PtxProblem {
  Rejection reason;  // `unsupported` for what could be PTX, `forbidden` for what could not
  std::string message;
};

// One instruction becomes the call of its function (ptx_instructions.h). Several, or one
// with a predicate, become ({ ... }) with registers as local variables (.pred as bool), labels as local labels, bra as
// goto, and inputs copied first.
//
// Operands of a call keep the instruction's order: destinations first, as lvalues, then sources. {a, b} lists, p|q
// and [addresses] are flattened; [a + 16] is `__kw_ptx_address(a) + 16`; `_` is __kw_ptx_nowhere, which
// __kw_ptx_out leaves alone; %tid.x is `__kw_ptx_register_tid_x()`; !p is `!p`.
std::variant<PtxCode, PtxProblem> translate_ptx(std::string_view text, const std::vector<PtxOperand>& operands);

}  // namespace sandbox::cpu::compiler
