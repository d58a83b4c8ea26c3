#include "sandbox/cuda/inspection/ptx_check.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/text.h"
#include "sandbox/cuda/inspection/ptx_text.h"

namespace sandbox::cuda::inspection {
namespace {
using Operand = std::vector<std::string_view>;

// Stands for the address of a kernel's parameters and the result of cvta of a number, both in constant memory.
constexpr std::string_view kConstantBank = "(constant memory)";

bool has(const PtxStatement& statement, std::string_view token) {
  return std::ranges::find(statement.tokens, token) != statement.tokens.end();
}
// "ld" from "ld.global.f32", "v" from "v.x".
std::string_view base_of(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }
// True for ".param" in "st.param.b64".
bool has_modifier(std::string_view opcode, std::string_view modifier) {
  const size_t at = opcode.find(modifier);
  return at != std::string_view::npos && (at + modifier.size() == opcode.size() ||
                                          opcode[at + modifier.size()] == '.' || opcode[at + modifier.size()] == ':');
}
bool has_64_bits(std::string_view opcode) {
  return has_modifier(opcode, ".u64") || has_modifier(opcode, ".s64") || has_modifier(opcode, ".b64");
}
bool is_address(const Operand& operand) { return !operand.empty() && operand.front() == "["; }
bool is_vector(const Operand& operand) { return !operand.empty() && operand.front() == "{"; }

Rejected refusal(const PtxStatement& statement, const std::string& message) {
  const auto line = statement.line > 0 ? std::optional(statement.line) : std::nullopt;
  return {Rejection::forbidden, message, line, ""};
}

// "(a, b)" has two parts, "a" and "b".
std::vector<Operand> parts_of(const Operand& operand) {
  std::vector<Operand> parts;
  for (const std::string_view token : operand) {
    if (token == "(" || token == "," || parts.empty()) parts.emplace_back();
    if (token != "(" && token != "," && token != ")") parts.back().push_back(token);
  }
  return parts;
}

// Instructions whose first operand is neither a result nor an address.
bool has_no_result(std::string_view opcode, size_t operands) {
  const std::string_view base = base_of(opcode);
  return operands == 1 || base == "brx" || ((base == "bar" || base == "barrier") && !has_modifier(opcode, ".red"));
}

bool only_reads(std::string_view opcode) {
  const std::string_view base = base_of(opcode);
  return base == "ld" || base == "ldu" || base == "prefetch" || base == "prefetchu" || base == "ldmatrix" ||
         base == "fence" || opcode.starts_with("wmma.load") || has_modifier(opcode, ".prefetch");
}

// True if the result may be an address: address plus offset, or one of two addresses. held[i]: operand i may hold an
// address.
bool makes_an_address(std::string_view opcode, const std::vector<Operand>& operands, const std::vector<bool>& held) {
  const std::string_view base = base_of(opcode);
  if (std::ranges::any_of(operands, is_vector)) return false;
  if (base == "cvta") return true;
  if (base == "mad" && operands.size() == 4 && !held[1] && !held[2]) {
    return opcode.starts_with("mad.wide") || opcode == "mad.lo.s64" || opcode == "mad.lo.u64";
  }
  if (!has_64_bits(opcode)) return false;
  if (base == "mov") return operands.size() == 2;
  if (base == "selp") return operands.size() == 4 && !held[3];
  if (opcode == "add.s64" || opcode == "add.u64") return operands.size() == 3 && held[1] != held[2];
  if (opcode == "sub.s64" || opcode == "sub.u64") return operands.size() == 3 && !held[2];
  return false;
}

class Flow {
 public:
  explicit Flow(const PtxText& ptx) : ptx_(ptx), scopes_(ptx) {
    for (size_t i = 0; i < ptx.functions.size(); ++i) {
      const auto [known, fresh] = functions_.emplace(ptx.functions[i].name, i);
      if (!fresh && ptx.functions[i].defined) known->second = i;
    }
  }

  std::optional<Rejected> run() {
    for (const PtxStatement& statement : ptx_.statements) {
      if (auto refused = take_variable(statement)) return refused;
    }
    do {
      changed_ = false;
      scopes_.begin();
      for (const PtxStatement& statement : ptx_.statements) {
        if (statement.function < 0) continue;
        if (auto refused = follow(statement)) return refused;
      }
    } while (changed_);
    return std::nullopt;
  }

 private:
  // "[linkage] .global .align 4 .b8 name[16] = {...}", in the compiler's form: one variable per statement, outside
  // functions.
  std::optional<Rejected> take_variable(const PtxStatement& statement) {
    const auto& tokens = statement.tokens;
    if (!statement.opcode().starts_with(".") || has(statement, ".func") || has(statement, ".entry")) return {};
    if (statement.function < 0 && (has(statement, ".reg") || has(statement, ".local") || has(statement, ".param"))) {
      return refusal(statement, "declares registers or local memory outside of functions, as the compiler never does");
    }
    if (!has(statement, ".global") && !has(statement, ".const")) return {};
    const auto name = std::ranges::find_if(tokens, is_ptx_name);
    if (name == tokens.end()) return {};
    const auto content = std::find(name, tokens.end(), "=");
    const bool plain = std::all_of(name + 1, content, [](std::string_view token) {
      return token == "[" || token == "]" || token.find_first_not_of("0123456789") == std::string_view::npos;
    });
    if (statement.function >= 0 || !plain) {
      return refusal(statement, "declares " + shown_name(*name) +
                                    " in assembly: write __constant__ or __device__ const tables, or use a workspace");
    }
    variables_.insert(*name);
    if (std::any_of(content, tokens.end(), is_ptx_name)) {
      return refusal(statement, "the __device__ variable " + shown_name(*name) +
                                    " holds an address, so its reads and writes cannot be traced");
    }
    return {};
  }

  const PtxFunction& function_of(const PtxStatement& statement) const {
    return ptx_.functions[static_cast<size_t>(statement.function)];
  }
  static bool is_parameter(const PtxFunction& function, std::string_view name) {
    return std::ranges::find(function.parameters, name) != function.parameters.end();
  }

  // The variable whose address `operand` may hold, or kConstantBank; empty if none. For an operand in parameter memory,
  // the address which that memory may hold.
  std::string_view held_by(const PtxStatement& statement, const Operand& operand) const {
    std::string_view held;
    for (const std::string_view whole : operand) {
      const std::string_view token = base_of(whole);  // "v" of "v.x"
      if (!is_ptx_name(token)) continue;
      if (variables_.count(token) > 0 && !scopes_.declared(statement, token)) return token;
      const auto found = held_.find(scopes_.place(statement, token));
      if (found != held_.end() && (held.empty() || held == kConstantBank)) held = found->second;
    }
    return held;
  }
  void hold(const PtxPlace& place, std::string_view variable) {
    if (variable.empty()) return;
    const auto [known, fresh] = held_.emplace(place, variable);
    const bool better = !fresh && known->second == kConstantBank && variable != kConstantBank;
    if (better) known->second = variable;
    changed_ |= fresh || better;
  }
  void hold(const PtxStatement& statement, const Operand& operand, std::string_view variable) {
    for (const std::string_view token : operand) {
      if (is_ptx_name(token)) hold(scopes_.place(statement, base_of(token)), variable);
    }
  }

  std::optional<Rejected> follow(const PtxStatement& statement) {
    const std::string_view opcode = statement.opcode(), base = base_of(opcode);
    if (opcode.starts_with(".")) {
      scopes_.declare(statement);
      return {};
    }
    const std::vector<Operand> operands = operands_of(statement);
    if (operands.empty()) return {};
    if (base == "call") {
      follow_call(statement, operands);
      return {};
    }
    if (has_modifier(opcode, ".param") && (base == "st" || base == "ld") && operands.size() == 2) {
      return follow_parameter(statement, operands);
    }
    return follow_value(statement, operands);
  }

  // st.param and ld.param.
  std::optional<Rejected> follow_parameter(const PtxStatement& statement, const std::vector<Operand>& operands) {
    const bool stores = base_of(statement.opcode()) == "st";
    const PtxFunction& function = function_of(statement);
    const std::string_view held = held_by(statement, operands[1]);
    if (stores && function.entry &&
        std::ranges::any_of(operands[0], [&](auto token) { return is_parameter(function, token); })) {
      return refuse_store(statement, kConstantBank);
    }
    // A kernel's parameters do not hold their own address.
    if (stores || !function.entry || held != kConstantBank) hold(statement, operands[0], held);
    return {};
  }

  std::optional<Rejected> follow_value(const PtxStatement& statement, const std::vector<Operand>& operands) {
    const std::string_view opcode = statement.opcode(), base = base_of(opcode);
    const PtxFunction& function = function_of(statement);
    const size_t first = is_address(operands[0]) || has_no_result(opcode, operands.size()) ? 0 : 1;
    std::vector<bool> held(operands.size());
    std::string_view variable;
    for (size_t i = first; i < operands.size(); ++i) {
      std::string_view found = held_by(statement, operands[i]);
      for (const std::string_view token : operands[i]) {
        if (!is_parameter(function, token)) continue;
        if (!function.entry && !found.empty()) return refuse_escape(statement, found);  // lies on the stack
        if (function.entry && found.empty()) found = kConstantBank;
      }
      if (found.empty()) continue;
      held[i] = found != kConstantBank;
      if (variable.empty() || held[i]) variable = found;
    }
    if (base == "cvta" && variable.empty() && (has_modifier(opcode, ".const") || has_modifier(opcode, ".param"))) {
      variable = kConstantBank;
    }
    if (variable.empty()) return {};
    if (std::ranges::any_of(operands, is_address)) return check_access(statement, operands);
    if (variable != kConstantBank && !makes_an_address(opcode, operands, held)) {
      return refusal(statement,
                     "computes with the address of the __device__ variable " + shown_name(variable) +
                         ", so it cannot be traced: compute an index instead, and use it with the variable's name");
    }
    if (first == 1) hold(statement, operands[0], variable);
    return {};
  }

  // Only loads from such an address, and copies from it, are allowed.
  std::optional<Rejected> check_access(const PtxStatement& statement, const std::vector<Operand>& operands) const {
    const std::string_view opcode = statement.opcode(), base = base_of(opcode);
    bool first_address = true;  // of a copy: where it goes
    for (size_t i = is_address(operands[0]) ? 0 : 1; i < operands.size(); ++i) {
      const Operand& operand = operands[i];
      const std::string_view variable = held_by(statement, operand);
      const bool address = is_address(operand), target = first_address;
      if (address) first_address = false;
      if (variable.empty()) continue;
      if (!address) {
        if (variable != kConstantBank) return refuse_escape(statement, variable);
        continue;
      }
      // "[map, {x, y}]" is a tensor map and a tile's position in its tensor.
      const bool tensor_map = base == "cp" && std::ranges::find(operand, "{") != operand.end();
      if (only_reads(opcode) || tensor_map || (base == "cp" && !target)) continue;
      return refuse_store(statement, variable);
    }
    return {};
  }

  static Rejected refuse_store(const PtxStatement& statement, std::string_view variable) {
    if (variable == kConstantBank) {
      return refusal(statement, "writes to constant memory, which all launches share: use a workspace");
    }
    return refusal(statement, "writes to the __device__ variable " + shown_name(variable) +
                                  ", which keeps state between launches: use a workspace or a __constant__ table");
  }
  static Rejected refuse_escape(const PtxStatement& statement, std::string_view variable) {
    return refusal(statement, "stores the address of the __device__ variable " + shown_name(variable) +
                                  ", so writes to it cannot be excluded: index the variable by its name");
  }

  // call [(results),] function [, (arguments)]
  void follow_call(const PtxStatement& statement, const std::vector<Operand>& operands) {
    size_t at = 0;
    std::vector<Operand> results;
    if (operands[at].front() == "(") results = parts_of(operands[at++]);
    if (at >= operands.size() || operands[at].size() != 1) return;
    const auto callee = functions_.find(operands[at++][0]);
    if (callee == functions_.end()) return;
    const PtxFunction& called = ptx_.functions[callee->second];
    if (!called.defined) return;
    const std::vector<Operand> arguments = at < operands.size() ? parts_of(operands[at]) : std::vector<Operand>();
    for (size_t i = 0; i < std::min(arguments.size(), called.parameters.size()); ++i) {
      hold({called.scope, called.parameters[i]}, held_by(statement, arguments[i]));
    }
    for (size_t i = 0; i < std::min(results.size(), called.results.size()); ++i) {
      const auto held = held_.find({called.scope, called.results[i]});
      if (held != held_.end()) hold(statement, results[i], held->second);
    }
  }

  const PtxText& ptx_;
  std::map<std::string_view, size_t> functions_;
  std::set<std::string_view> variables_;
  PtxScopes scopes_;
  std::map<PtxPlace, std::string_view> held_;
  bool changed_ = false;
};
}  // namespace

std::optional<Rejected> find_written_variable(const PtxText& ptx) { return Flow(ptx).run(); }

}  // namespace sandbox::cuda::inspection
