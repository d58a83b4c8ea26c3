#include "sandbox/cuda/ptx_flow.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/text.h"

namespace sandbox::cuda {
namespace {
using Operand = std::vector<std::string_view>;

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }
bool has(const PtxStatement& statement, std::string_view token) {
  return std::find(statement.tokens.begin(), statement.tokens.end(), token) != statement.tokens.end();
}
std::string_view base_of(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }
// ".param" of "st.param.b64"
bool has_modifier(std::string_view opcode, std::string_view modifier) {
  const size_t at = opcode.find(modifier);
  return at != std::string_view::npos && (at + modifier.size() == opcode.size() ||
                                          opcode[at + modifier.size()] == '.' || opcode[at + modifier.size()] == ':');
}
bool is_address(const Operand& operand) { return !operand.empty() && operand.front() == "["; }

Rejected refusal(const PtxStatement& statement, const std::string& message) {
  const auto line = statement.line > 0 ? std::optional(statement.line) : std::nullopt;
  return {Rejection::forbidden, message, line, ""};
}

class Flow {
 public:
  explicit Flow(const PtxText& ptx) : ptx_(ptx) {
    for (size_t i = 0; i < ptx.functions.size(); ++i) functions_[ptx.functions[i].name] = static_cast<int>(i);
  }

  std::optional<Rejected> run() {
    for (const PtxStatement& statement : ptx_.statements) {
      if (auto refused = take_variable(statement)) return refused;
    }
    const auto uses_variable = [&](const PtxStatement& s) {
      return s.function >= 0 &&
             std::any_of(s.tokens.begin() + 1, s.tokens.end(), [&](auto token) { return variables_.count(token) > 0; });
    };
    if (std::none_of(ptx_.statements.begin(), ptx_.statements.end(), uses_variable)) return std::nullopt;
    do {
      changed_ = false;
      params_.clear();
      for (const PtxStatement& statement : ptx_.statements) {
        if (statement.function < 0) continue;
        if (auto refused = follow(statement)) return refused;
      }
    } while (changed_);
    return std::nullopt;
  }

 private:
  // A register or a .param of a function; the last is how often that name was declared before.
  using Place = std::tuple<int, std::string_view, int>;

  // "[linkage] .global .align 4 .b8 name[16] = {...}"
  std::optional<Rejected> take_variable(const PtxStatement& statement) {
    if (!starts_with(statement.opcode(), ".") || statement.opcode() == ".reg" || statement.opcode() == ".param" ||
        (!has(statement, ".global") && !has(statement, ".const"))) {
      return std::nullopt;
    }
    if (has(statement, ".func") || has(statement, ".entry")) return std::nullopt;
    const auto name = std::find_if(statement.tokens.begin(), statement.tokens.end(), is_ptx_name);
    if (name == statement.tokens.end()) return std::nullopt;
    variables_.insert(*name);
    const auto content = std::find(name, statement.tokens.end(), "=");
    if (std::any_of(content, statement.tokens.end(), is_ptx_name)) {
      return refusal(statement,
                     "the __device__ variable " + shown(*name) +
                         " holds an address, so that it cannot be shown what is read and written through it");
    }
    return std::nullopt;
  }
  static std::string shown(std::string_view name) { return core::clean_line(std::string(name), 100); }

  Place place(int function, std::string_view name) const {
    const auto again = params_.find({function, name});
    return {function, name, again == params_.end() ? 0 : again->second};
  }

  // The variable whose address `operand` may hold; empty when none.
  std::string_view held_by(int function, const Operand& operand) const {
    for (const std::string_view token : operand) {
      if (variables_.count(token) > 0) return token;
      if (!is_ptx_name(token)) continue;
      const auto found = held_.find(place(function, token));
      if (found != held_.end()) return found->second;
    }
    return {};
  }
  void hold(const Place& place, std::string_view variable) {
    if (!variable.empty() && held_.emplace(place, variable).second) changed_ = true;
  }
  void hold(int function, const Operand& operand, std::string_view variable) {
    for (const std::string_view token : operand) {
      if (is_ptx_name(token)) hold(place(function, token), variable);
    }
  }

  std::optional<Rejected> follow(const PtxStatement& statement) {
    const std::string_view opcode = statement.opcode(), base = base_of(opcode);
    const int function = statement.function;
    if (opcode == ".param") {  // each call has its own, of the same names
      for (const std::string_view token : statement.tokens) {
        if (is_ptx_name(token)) ++params_[{function, token}];
      }
    }
    if (starts_with(opcode, ".")) return std::nullopt;
    const std::vector<Operand> operands = operands_of(statement);
    if (base == "call") {
      follow_call(function, operands);
      return std::nullopt;
    }
    if (operands.size() < 2) return std::nullopt;
    if (has_modifier(opcode, ".param") && (base == "st" || base == "ld")) {
      hold(function, operands[0], held_by(function, operands[1]));
      return std::nullopt;
    }
    if (std::any_of(operands.begin(), operands.end(), is_address)) return check_access(statement, operands);
    if (base == "setp" || base == "isspacep") return std::nullopt;  // a predicate holds no address
    for (size_t i = 1; i < operands.size(); ++i) hold(function, operands[0], held_by(function, operands[i]));
    return std::nullopt;
  }

  // Only loads may have such an address, and copies from it.
  std::optional<Rejected> check_access(const PtxStatement& statement, const std::vector<Operand>& operands) const {
    const std::string_view opcode = statement.opcode(), base = base_of(opcode);
    if (base == "ld" || base == "ldu" || base == "prefetch" || base == "prefetchu" || base == "ldmatrix" ||
        starts_with(opcode, "wmma.load") || has_modifier(opcode, ".prefetch")) {
      return std::nullopt;
    }
    bool first = true;  // the first address of a copy is where it goes
    for (const Operand& operand : operands) {
      const std::string_view variable = held_by(statement.function, operand);
      const bool written = is_address(operand) && (first || base != "cp");
      if (is_address(operand)) first = false;
      if (variable.empty() || (base == "cp" && is_address(operand) && !written)) continue;
      return refusal(statement,
                     written ? "writes to the __device__ variable " + shown(variable) +
                                   ", which keeps state between launches: use a workspace or a __constant__ table"
                             : "stores the address of the __device__ variable " + shown(variable) +
                                   ", so that it cannot be shown that nothing writes to it: index it by its name");
    }
    return std::nullopt;
  }

  // call [(results),] function [, (arguments)]
  void follow_call(int function, const std::vector<Operand>& operands) {
    size_t at = 0;
    Operand results;
    if (at < operands.size() && !operands[at].empty() && operands[at].front() == "(")
      results = names_in(operands[at++]);
    if (at >= operands.size() || operands[at].size() != 1) return;
    const auto callee = functions_.find(operands[at++][0]);
    if (callee == functions_.end()) return;
    const PtxFunction& called = ptx_.functions[static_cast<size_t>(callee->second)];
    const Operand arguments = at < operands.size() ? names_in(operands[at]) : Operand();
    for (size_t i = 0; i < std::min(arguments.size(), called.parameters.size()); ++i) {
      hold({callee->second, called.parameters[i], 0}, held_by(function, {arguments[i]}));
    }
    for (size_t i = 0; i < std::min(results.size(), called.results.size()); ++i) {
      hold(function, {results[i]}, held_by(callee->second, {called.results[i]}));
    }
  }
  static Operand names_in(const Operand& operand) {
    Operand names;
    std::copy_if(operand.begin(), operand.end(), std::back_inserter(names), is_ptx_name);
    return names;
  }

  const PtxText& ptx_;
  std::map<std::string_view, int> functions_;
  std::set<std::string_view> variables_;
  std::map<Place, std::string_view> held_;
  std::map<std::pair<int, std::string_view>, int> params_;  // how often a name was declared so far
  bool changed_ = false;
};
}  // namespace

std::optional<Rejected> find_written_variable(const PtxText& ptx) { return Flow(ptx).run(); }

}  // namespace sandbox::cuda
