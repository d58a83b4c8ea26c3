// Inline assembly of CUDA C++: one PTX instruction becomes one function call.
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/compilation.h"
#include "sandbox/tokens.h"

namespace sandbox::cpu::compiler {

struct PtxCall {
  std::string text;  // "__kw_ptx_ex2_approx_f32((y), (x))"
  size_t past;       // index of the first token after the closing parenthesis
};

// Translates the statement whose `asm` keyword is tokens[at]. On failure: Rejected with the line; `unsupported` for
// what could be PTX, `forbidden` for what could not.
std::variant<PtxCall, Rejected> translate_asm(const std::vector<Token>& tokens, size_t at);

// The PTX instructions that the cpu device executes. Inline assembly with one of them becomes a call of the function of
// that name, dots turned into underscores ("ex2.approx.f32" -> __kw_ptx_ex2_approx_f32). Operands keep the
// instruction's order: destinations first (lvalues of any type of the right size), {a, b} lists and [addresses]
// flattened, special registers as calls (%tid.x -> __kw_ptx_register_tid_x()). The functions are in shim/kw_ptx.h.
const std::set<std::string, std::less<>>& ptx_instructions();

}  // namespace sandbox::cpu::compiler
