// The PTX instructions that the cpu device executes, and how each is called in C++.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sandbox::cpu::compiler {

struct PtxForm {
  std::string header;    // that has the function: "kw_ptx.h"
  std::string function;  // "__kw_ptx_ex2_approx_f32", "__kw_ptx_setp_lt<int>"
  std::string address;   // the function that turns an address in brackets into a generic one; "" for none
  std::string before;    // a call that comes first; "" for none
  int nowhere = 0;       // destinations that the function has and the instruction does not
  bool policy = false;   // the instruction has a cache policy as its last operand, and the function does not
};

// Names without what changes nothing here. A function has the name of its instruction, dots turned into underscores.
// Where an instruction computes alike in many types, the type is a template argument instead. `ld`, `st`, `atom` and
// `red` are named without state space, scope, order and cache hints: the other members of their forms stand for these,
// and an update in the scope of a block has a function NAME_block. `.shared::cta` is `.shared`. A source gets the
// headers of those that it uses.
const std::set<std::string, std::less<>>& ptx_instructions();

// nullopt: not one of them, in any spelling.
std::optional<PtxForm> ptx_form(std::string_view mnemonic);

// "b32" -> "unsigned"; "" if no register has this type.
std::string ptx_type(std::string_view type);

// "ld.global.f32" -> "ld_global_f32"
std::string ptx_name(std::string_view text);

}  // namespace sandbox::cpu::compiler
