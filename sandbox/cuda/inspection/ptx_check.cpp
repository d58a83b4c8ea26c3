#include "sandbox/cuda/inspection/ptx_check.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/cuda/inspection/ptx_text.h"

namespace sandbox::cuda::inspection {
namespace {
constexpr std::string_view kSource = "solution.cu";

// Special registers with honest uses, without their .x: a thread's position and the resources that it may use. Not
// %warpid, which reveals the hardware's placement of a warp. Cooperative groups use the reserved shared memory.
constexpr std::string_view kSpecialRegisters[] = {"%tid",
                                                  "%ntid",
                                                  "%laneid",
                                                  "%ctaid",
                                                  "%nctaid",
                                                  "%clusterid",
                                                  "%nclusterid",
                                                  "%cluster_ctaid",
                                                  "%cluster_nctaid",
                                                  "%cluster_ctarank",
                                                  "%lanemask_eq",
                                                  "%lanemask_le",
                                                  "%lanemask_lt",
                                                  "%lanemask_ge",
                                                  "%lanemask_gt",
                                                  "%is_explicit_cluster",
                                                  "%cluster_nctarank",
                                                  "%total_smem_size",
                                                  "%aggr_smem_size",
                                                  "%dynamic_smem_size",
                                                  "%reserved_smem_offset_begin",
                                                  "%reserved_smem_offset_end",
                                                  "%reserved_smem_offset_cap",
                                                  "%reserved_smem_offset_0",
                                                  "%reserved_smem_offset_1"};
constexpr std::string_view kClocks[] = {"%clock",       "%clock_hi",       "%clock64",
                                        "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"};
constexpr std::string_view kPlaces[] = {"%smid", "%nsmid", "%warpid", "%nwarpid", "%gridid", "%current_graph_exec"};
constexpr std::string_view kGridBarrier[] = {"%envreg1", "%envreg2"};

// Opcodes without honest use, up to the first dot; no texture or surface can be bound.
constexpr std::string_view kTextures[] = {"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"};
constexpr std::string_view kTextureObjects[] = {".texref", ".surfref", ".samplerref"};

// createpolicy encodes a share of an access in sixteenths from bit 52 on; the policy of the rest, evict_normal or
// evict_first, in bit 56; then two bits for the share's own, where 2 is evict_last, and 2 for a policy of this kind.
bool ends_with_the_launch(uint64_t policy) { return policy << 12 == 0 && policy >> 59 == 2 && (policy >> 57 & 3) != 2; }

template <size_t n>
bool among(const std::string_view (&names)[n], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}
bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
std::string_view up_to_dot(std::string_view name) { return name.substr(0, name.find('.', 1)); }

class Check {
 public:
  Check(const PtxText& ptx, bool cooperative) : ptx_(ptx), cooperative_(cooperative), scopes_(ptx) {
    for (const PtxStatement& statement : ptx.statements) {
      if (statement.opcode() == ".local") with_local_.insert(statement.function);
    }
    for (const PtxFunction& function : ptx.functions) functions_.insert(function.name);
    index_definitions();
  }

  std::optional<Rejected> run() {
    for (const PtxFunction& function : ptx_.functions) {
      if (function.defined) continue;
      if (auto message = refuse_external(function.name)) return Rejected{Rejection::forbidden, *message, {}, ""};
    }
    scopes_.begin();
    for (const PtxStatement& statement : ptx_.statements) {
      scopes_.declare(statement);
      if (auto message = refuse(statement)) {
        const auto line = statement.line > 0 ? std::optional(statement.line) : std::nullopt;
        return Rejected{Rejection::forbidden, *message, line, ""};
      }
    }
    if (auto message = refuse_tensor_memory()) return Rejected{Rejection::forbidden, *message, {}, ""};
    return find_written_variable(ptx_);
  }

 private:
  using Message = std::optional<std::string>;

  // Nothing overwrites tensor memory between launches.
  Message refuse_tensor_memory() const {
    const auto has = [&](std::initializer_list<std::string_view> stems) {
      return std::ranges::any_of(ptx_.statements, [&](const PtxStatement& statement) {
        return std::ranges::any_of(stems, [&](std::string_view stem) { return statement.opcode().starts_with(stem); });
      });
    };
    if (has({"tcgen05.alloc"}) && !has({"tcgen05.dealloc"})) {
      return "allocates tensor memory and frees none (tcgen05.dealloc), so that it outlasts the launch";
    }
    if (has({"tcgen05.ld"}) && !has({"tcgen05.mma", "tcgen05.st", "tcgen05.cp"})) {
      return "reads tensor memory that nothing in the launch writes (tcgen05.ld without tcgen05.mma, st or cp)";
    }
    return {};
  }

  // A declaration of a function without a body is not a call.
  Message refuse_external(std::string_view name) const {
    if (name == "__assertfail") return {};
    const bool defined =
        std::ranges::any_of(ptx_.functions, [&](const PtxFunction& f) { return f.defined && f.name == name; });
    if (defined) return {};
    if (name == "vprintf") return "calls printf, whose output nobody reads: remove it";
    if (name == "malloc" || name == "free") {
      return "uses the device heap, which keeps state between launches: use a workspace instead";
    }
    return "calls " + shown_name(name) + ", which kernels must not call";
  }

  Message refuse(const PtxStatement& statement) const {
    for (size_t i = 0; i < statement.tokens.size(); ++i) {
      const std::string_view token = statement.tokens[i];
      if (token[0] == '%') {
        if (auto message = refuse_register(statement, token)) return message;
      }
      if (contains(token, "L2::evict_last")) {
        return "pins lines in L2 (" + shown_name(token) +
               "), where they outlast the launch: use evict_first or evict_normal";
      }
      if (token == ".managed" || token == ".unified") return "declares managed memory: use the tensors and workspaces";
      if (among(kTextureObjects, token)) return "declares a texture or a surface, to which nothing can be bound";
      const bool is_value = i > 0 && statement.function >= 0 && !statement.opcode().starts_with(".") &&
                            !scopes_.is_declared(statement, token);
      if (is_value && functions_.count(token) > 0 && !statement.opcode().starts_with("call")) {
        return "takes the address of the function " + shown_name(token) + ": call it by its name";
      }
    }
    return statement.function >= 0 ? refuse_instruction(statement) : Message();
  }

  Message refuse_register(const PtxStatement& statement, std::string_view token) const {
    const std::string_view name = up_to_dot(token);
    const bool special =
        among(kClocks, name) || among(kPlaces, name) || among(kGridBarrier, name) || among(kSpecialRegisters, name);
    if (special && statement.opcode() == ".reg") return "declares a register named " + shown_name(name);
    if (among(kClocks, name)) return "reads a clock (" + shown_name(name) + "): time is measured outside of kernels";
    if (among(kGridBarrier, name) && cooperative_) return {};
    if (among(kGridBarrier, name)) {
      return "waits for the whole grid in a launch that is not declared \"cooperative\": true";
    }
    if (!special && (scopes_.is_declared(statement, name) || statement.opcode() == ".reg")) return {};
    if (among(kSpecialRegisters, name)) return {};
    return "reads the special register " + shown_name(name) +
           ", which has no honest use in kernels: work follows from block and thread indices alone";
  }

  Message refuse_instruction(const PtxStatement& statement) const {
    const std::string_view opcode = statement.opcode(), base = up_to_dot(opcode);
    if (base == "discard") {
      return "discards lines of L2, which restores earlier content of the memory: write the memory instead";
    }
    if (among(kTextures, base))
      return "uses a texture or a surface (" + shown_name(opcode) + "), to which nothing is bound";
    if (base == "createpolicy" && contains(opcode, ".cvt") && !makes_harmless_policy(statement)) {
      return "makes an L2 policy from a number that means neither evict_first nor evict_normal";
    }
    if (base == "alloca" || base == "stacksave" || base == "stackrestore") {
      return "allocates stack memory at run time (" + shown_name(base) + "): declare an array, or use a workspace";
    }
    const PtxFunction& function = ptx_.functions[static_cast<size_t>(statement.function)];
    if (function.entry && contains(opcode, ".local") && with_local_.count(statement.function) == 0) {
      return "reads undeclared local memory (" + shown_name(opcode) + "): declare an array";
    }
    if (base == "brkpt" || base == "pmevent")
      return "uses " + shown_name(base) + ", which is for debuggers and profilers";
    if (base == "call" && !is_direct_call(statement)) return "calls a function through a pointer: call it by its name";
    if (contains(opcode, "L2::cache_hint")) return refuse_policy(statement);
    return {};
  }

  bool is_direct_call(const PtxStatement& statement) const {
    for (const auto& operand : operands_of(statement)) {
      if (operand.size() == 1) return functions_.count(operand[0]) > 0 && !scopes_.is_declared(statement, operand[0]);
    }
    return false;
  }

  // A policy from elsewhere than createpolicy, or a constant, might pin lines as well.
  Message refuse_policy(const PtxStatement& statement) const {
    const auto operands = operands_of(statement);
    if (!operands.empty() && operands.back().size() == 1) {
      std::set<std::string_view> seen;
      if (is_harmless(statement.function, operands.back()[0], seen)) return {};
    }
    return "uses an L2 policy that is neither from createpolicy nor a constant for evict_first or evict_normal";
  }
  // createpolicy.cvt returns its operand unchanged.
  bool makes_harmless_policy(const PtxStatement& statement) const {
    const auto operands = operands_of(statement);
    std::set<std::string_view> seen;
    return operands.size() == 2 && operands[1].size() == 1 && is_harmless(statement.function, operands[1][0], seen);
  }
  bool is_harmless(int function, std::string_view policy, std::set<std::string_view>& seen) const {
    if (!is_ptx_name(policy)) {
      const bool hexadecimal = policy.starts_with("0x") || policy.starts_with("0X");
      uint64_t value = 0;
      const char* end = policy.data() + policy.size();
      const auto read = std::from_chars(policy.data() + (hexadecimal ? 2 : 0), end, value, hexadecimal ? 16 : 10);
      const bool whole = read.ec == std::errc() && (read.ptr == end || (read.ptr + 1 == end && *read.ptr == 'U'));
      return whole && ends_with_the_launch(value);
    }
    if (!seen.insert(policy).second) return true;  // a cycle: its other definitions decide
    const auto found = definitions_.find({function, policy});
    if (found == definitions_.end()) return false;
    for (const PtxStatement* statement : found->second) {
      const std::string_view base = up_to_dot(statement->opcode());
      if (base == "createpolicy") continue;  // checked separately
      if (base != "mov" && base != "selp") return false;
      const auto operands = operands_of(*statement);
      for (size_t i = 1; i < operands.size() && (base == "mov" || i < 3); ++i) {
        if (operands[i].size() != 1 || !is_harmless(function, operands[i][0], seen)) return false;
      }
    }
    return true;
  }

  // The instructions that write a register; needed when there is a policy.
  void index_definitions() {
    const auto has_policy = [](const PtxStatement& s) {
      return contains(s.opcode(), "L2::cache_hint") || s.opcode().starts_with("createpolicy");
    };
    if (std::ranges::none_of(ptx_.statements, has_policy)) return;
    for (const PtxStatement& statement : ptx_.statements) {
      if (statement.function < 0 || statement.opcode().starts_with(".")) continue;
      const auto operands = operands_of(statement);
      if (operands.empty() || operands[0].empty() || operands[0].front() == "[") continue;
      for (const std::string_view token : operands[0]) {
        if (is_ptx_name(token)) definitions_[{statement.function, token}].push_back(&statement);
      }
    }
  }

  const PtxText& ptx_;
  bool cooperative_;
  PtxScopes scopes_;
  std::set<std::string_view> functions_;
  std::set<int> with_local_;  // functions that declare local memory
  std::map<std::pair<int, std::string_view>, std::vector<const PtxStatement*>> definitions_;
};
}  // namespace

std::optional<Rejected> check_ptx(std::string_view ptx, bool cooperative) {
  try {
    const PtxText text = parse_ptx(ptx, kSource);
    return Check(text, cooperative).run();
  } catch (const core::InputError& refused) {
    return Rejected{Rejection::forbidden, refused.problem(), std::nullopt, ""};
  }
}

}  // namespace sandbox::cuda::inspection
