// Cuts PTX into statements, with just enough grammar for rules. Comments, strings, labels, line ends and spaces inside
// opcodes hide nothing. Text that the assembler might read differently is refused.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sandbox::cuda::inspection {

struct PtxStatement {
  // Without the label, the predicate before the instruction, and the semicolon. A string is one token, with its quotes.
  std::vector<std::string_view> tokens;
  int64_t line = 0;   // in the solution; 0 if unknown
  int function = -1;  // index into PtxText::functions; -1 outside of functions: a declaration
  int scope = -1;     // index into PtxText::scopes; -1 outside of functions

  std::string_view opcode() const { return tokens.front(); }  // "ld.global.nc.f32", ".reg"
};

struct PtxFunction {
  std::string_view name;
  std::vector<std::string_view> results, parameters;  // names of .param variables
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
  std::vector<PtxFunction> functions;    // including declarations
  std::vector<int> scopes;               // the enclosing scope of each { }; -1 for a function's
  std::deque<std::string> joined;        // opcodes that stood there in pieces: "st .global .u32"
};

// `source`: the file name whose lines PtxStatement::line counts. Throws core::InputError for text that the compiler's
// own PTX never contains.
PtxText parse_ptx(std::string_view text, std::string_view source);

// The operands of an instruction: the tokens after the opcode, split at commas outside brackets.
std::vector<std::vector<std::string_view>> operands_of(const PtxStatement& statement);

// A name for messages: cleaned and cut to 100 characters.
std::string shown_name(std::string_view name);

// True for the name of a variable, function or register.
bool is_ptx_name(std::string_view token);

// A register or a .param, with the scope of its declaration.
using PtxPlace = std::pair<int, std::string_view>;

// The declarations up to the current statement. A name refers to the innermost one before it.
class PtxScopes {
 public:
  explicit PtxScopes(const PtxText& ptx) : ptx_(ptx) {}  // kept by reference

  void begin() {
    declared_.clear();
    families_.clear();
  }
  void declare(const PtxStatement& statement);  // only .reg and .param count

  // ".reg .b32 b<4>" also declares b0 to b3, which are not listed: they count as the function's own.
  std::optional<PtxPlace> declared(const PtxStatement& statement, std::string_view name) const;
  // True if the name is a register or a .param here, which hides its usual meaning.
  bool is_declared(const PtxStatement& statement, std::string_view name) const;
  // Undeclared names count as the function's own.
  PtxPlace place(const PtxStatement& statement, std::string_view name) const;

 private:
  const PtxText& ptx_;
  std::set<PtxPlace> declared_, families_;  // families_: b for ".reg .b32 b<4>"
};

}  // namespace sandbox::cuda::inspection
