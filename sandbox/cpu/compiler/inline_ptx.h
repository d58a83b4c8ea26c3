// Inline assembly of CUDA C++: its PTX becomes C++ (ptx_text.h).
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/compilation.h"
#include "sandbox/tokens.h"

namespace sandbox::cpu::compiler {

struct PtxCall {
  std::string text;  // an expression on one line: "__kw_ptx_ex2_approx_f32((y), (x))"
  std::set<std::string> headers;
  size_t past;  // index of the first token after the closing parenthesis
};

// Translates the statement whose `asm` keyword is tokens[at]. On failure: Rejected with the line; `unsupported` for
// what could be PTX, `forbidden` for what could not.
std::variant<PtxCall, Rejected> translate_asm(const std::vector<Token>& tokens, size_t at);

}  // namespace sandbox::cpu::compiler
