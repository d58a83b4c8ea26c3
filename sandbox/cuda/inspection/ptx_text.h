// PTX cut into statements: enough of its grammar for rules to be held against it, no more. Nothing is hidden by
// comments, strings, labels, the place of line ends, or spaces inside of an opcode. What the assembler might read in
// another way than this does is refused.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace sandbox::cuda::inspection {

struct PtxStatement {
  // Without the label, the predicate before the instruction, and the semicolon. A string is one token, with its quotes.
  std::vector<std::string_view> tokens;
  int64_t line = 0;   // of the solution; 0 where the compiler does not tell
  int function = -1;  // index into PtxText::functions; -1 outside of functions: a declaration
  int scope = -1;     // index into PtxText::scopes; -1 outside of functions

  std::string_view opcode() const { return tokens.front(); }  // "ld.global.nc.f32", ".reg"
};

struct PtxFunction {
  std::string_view name;
  std::vector<std::string_view> results, parameters;  // names, all of .param variables
  bool entry = false;                                 // a kernel
  bool defined = false;                               // it has a body
  int scope = -1;                                     // of its body
};

// Views into the text that was parsed, which must outlive it. Can be moved, not copied.
struct PtxText {
  PtxText() = default;
  PtxText(PtxText&&) = default;
  PtxText& operator=(PtxText&&) = default;

  std::vector<PtxStatement> statements;  // in the text's order
  std::vector<PtxFunction> functions;    // with those that are only declared
  std::vector<int> scopes;               // of each { } of code the one around it; -1 for that of a function
  std::deque<std::string> joined;        // opcodes that stood there in pieces: "st .global .u32"
};

// `source`: the file name whose lines PtxStatement::line counts. Throws core::InputError for what the compiler's own
// PTX never holds.
PtxText parse_ptx(std::string_view text, std::string_view source);

// The operands of an instruction: its tokens behind the opcode, cut at the commas outside of all brackets.
std::vector<std::vector<std::string_view>> operands_of(const PtxStatement& statement);

// A name as messages show it: cleaned and cut to 100 characters.
std::string shown_name(std::string_view name);

// A name: of a variable, a function, a register.
bool is_ptx_name(std::string_view token);

}  // namespace sandbox::cuda::inspection
