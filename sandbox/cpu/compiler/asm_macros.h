// Inline assembly whose text or operands come out of macros.
#pragma once

#include <string>
#include <string_view>

namespace sandbox::cpu::compiler {

// The source with macros expanded where inline assembly needs that: within such a statement, or as a whole where a
// macro has a statement that takes parts from its parameters. Other macros stay, and every line keeps its number. What
// cannot be expanded stays as well, and translate_asm refuses it: that a macro has two definitions, say, or pastes
// tokens.
std::string expand_asm_macros(std::string_view source);

}  // namespace sandbox::cpu::compiler
