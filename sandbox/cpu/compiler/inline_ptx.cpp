#include "sandbox/cpu/compiler/inline_ptx.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "core/text.h"

namespace sandbox::cpu::compiler {
namespace {
struct PtxFamily {
  std::string_view stem, endings;  // "-": the stem alone
};
constexpr PtxFamily kPtxFamilies[] = {
    {"mov", "u32 b32 s32 f32 u64 b64"},
    {"ld.global",
     "f32 u32 s32 b32 v2.f32 v4.f32 v2.u32 v4.u32 v4.s32 v4.b32 u64 nc.f32 nc.u32 nc.s32 nc.b32 nc.v2.f32 "
     "nc.v4.f32 nc.v2.u32 nc.v4.u32 nc.v4.s32 nc.v4.b32 nc.L1::no_allocate.v4.f32 "
     "nc.L1::no_allocate.v4.u32 nc.L1::no_allocate.v4.s32 nc.L1::no_allocate.f32 cs.v4.f32 cs.f32 "
     "cg.v4.f32 cg.f32 ca.f32"},
    {"st.global",
     "f32 u32 s32 b32 v2.f32 v4.f32 v2.u32 v4.u32 v4.s32 v4.b32 cs.v4.f32 cs.f32 wt.f32 "
     "L1::no_allocate.v4.f32 cg.f32"},
    {"prmt", "b32"},
    {"lop3", "b32"},
    {"bfe", "u32 s32"},
    {"bfi", "b32"},
    {"shf", "l.wrap.b32 r.wrap.b32"},
    {"brev", "b32"},
    {"popc", "b32"},
    {"clz", "b32"},
    {"mad", "lo.s32 lo.u32"},
    {"mul", "hi.u32 hi.s32 f32 rn.f32"},
    {"dp4a", "s32.s32 u32.u32"},
    {"fma", "rn.f32 rn.ftz.f32"},
    {"add", "f32 rn.f32"},
    {"sub", "f32"},
    {"max", "f32 NaN.f32"},
    {"min", "f32 NaN.f32"},
    {"ex2", "approx.f32 approx.ftz.f32"},
    {"lg2", "approx.f32 approx.ftz.f32"},
    {"rcp", "approx.f32 approx.ftz.f32 rn.f32"},
    {"rsqrt", "approx.f32 approx.ftz.f32"},
    {"sqrt", "approx.f32 approx.ftz.f32 rn.f32"},
    {"sin", "approx.f32"},
    {"cos", "approx.f32"},
    {"tanh", "approx.f32"},
    {"div", "approx.f32 full.f32"},
    {"bar", "sync warp.sync"},
    {"barrier", "sync"},
    {"membar", "gl cta sys"},
    {"fence", "acq_rel.gpu acq_rel.cta"},
    {"activemask", "b32"},
    {"redux", "sync.add.s32 sync.add.u32 sync.max.s32 sync.min.s32 sync.max.u32 sync.min.u32"},
    {"trap", "-"},
    {"nanosleep", "u32"},
    {"prefetch", "global.L2 global.L1"},
    {"griddepcontrol", "wait launch_dependents"},
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// "ld.global.nc.L1::no_allocate.f32" -> "ld_global_nc_L1__no_allocate_f32"
std::string as_name(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](char c) { return !is_word(c); }, '_');
  return name;
}

class AsmStatement {
 public:
  AsmStatement(const std::vector<Token>& tokens, size_t at) : tokens_(tokens), at_(at), line_(tokens[at].line) {}

  std::variant<PtxCall, Rejected> translate() {
    if (!read_statement()) {
      return reject(Rejection::unsupported, "inline assembly of this form is unsupported on the cpu device");
    }
    std::string instruction;
    if (!only_instruction(instruction)) {
      return reject(Rejection::unsupported, "inline PTX of more than one instruction is unsupported on the cpu device");
    }
    if (instruction.empty()) return PtxCall{"((void)0)", at_};
    size_t end = 0;
    while (end < instruction.size() &&
           (is_word(instruction[end]) || instruction[end] == '.' || instruction[end] == ':'))
      ++end;
    const std::string mnemonic = instruction.substr(0, end);
    if (mnemonic.empty() || std::isalpha(static_cast<unsigned char>(mnemonic[0])) == 0) {
      const bool ptx = instruction[0] == '@' || instruction[0] == '{';
      return reject(ptx ? Rejection::unsupported : Rejection::forbidden,
                    ptx ? "inline PTX with predicates or blocks is unsupported on the cpu device"
                        : "inline assembly that is not PTX");
    }
    if (!ptx_instructions().contains(mnemonic)) {
      return reject(Rejection::unsupported,
                    "the PTX instruction " + core::clean_line(mnemonic, 80) + " is unsupported on the cpu device");
    }
    std::string arguments;
    if (!translate_operands(std::string_view(instruction).substr(end), arguments)) {
      return reject(Rejection::unsupported,
                    "an operand of inline PTX " + mnemonic + " is of a form that is unsupported on the cpu device");
    }
    return PtxCall{"__kw_ptx_" + as_name(mnemonic) + "(" + arguments + ")", at_};
  }

 private:
  Rejected reject(Rejection reason, std::string message) const { return {reason, std::move(message), line_, ""}; }

  const Token* token() const { return at_ < tokens_.size() ? &tokens_[at_] : nullptr; }
  bool accept(std::string_view text) {
    if (token() == nullptr || !token()->is(text)) return false;
    ++at_;
    return true;
  }

  // asm [volatile] ( "template" : outputs : inputs : clobbers )
  bool read_statement() {
    ++at_;
    while (accept("volatile") || accept("__volatile__")) {
    }
    if (!accept("(")) return false;
    while (token() != nullptr && token()->kind == TokenKind::string) template_ += tokens_[at_++].value;
    for (int section = 0; !accept(")"); ++section) {
      if (accept("::")) {
        ++section;
      } else if (!accept(":")) {
        return false;
      }
      if (!read_operands(section < 2)) return false;
    }
    return true;
  }

  // "=r"(x), "r"(y + 1), ... up to the next colon or the end
  bool read_operands(bool keep) {
    while (token() != nullptr && token()->kind == TokenKind::string) {
      ++at_;
      if (accept("(")) {
        std::string expression;
        for (int depth = 1; depth > 0; ++at_) {
          if (token() == nullptr || token()->is("asm") || token()->is("__asm") || token()->is("__asm__")) return false;
          if (token()->is("(")) ++depth;
          if (token()->is(")")) --depth;
          if (depth > 0) expression += (expression.empty() ? "" : " ") + token()->text;
        }
        if (keep) operands_.push_back("(" + expression + ")");
      }
      if (!accept(",")) break;
    }
    return token() != nullptr;
  }

  // The template without blanks around it and without its final semicolon; false when there are several instructions.
  bool only_instruction(std::string& instruction) const {
    for (const std::string& part : core::split(template_, ';')) {
      const auto begin = std::ranges::find_if_not(part, is_blank);
      if (begin == part.end()) continue;
      if (!instruction.empty()) return false;
      instruction.assign(begin, part.end());
    }
    return true;
  }

  bool translate_operands(std::string_view rest, std::string& arguments) const {
    size_t i = 0, last = 0;  // last: where the last argument begins
    const auto append = [&](const std::string& argument) {
      if (!arguments.empty()) arguments += ", ";
      last = arguments.size();
      arguments += argument;
    };
    while (i < rest.size()) {
      const char c = rest[i];
      if (is_blank(c) || c == ',' || c == '{' || c == '}' || c == '[' || c == ']') {
        ++i;
      } else if (c == '%') {
        const std::optional<std::string> operand = register_operand(rest, i);
        if (!operand) return false;
        append(*operand);
      } else if (c == '+' && !arguments.empty()) {  // [%0 + 16]
        const std::string number = take_number(rest, ++i);
        if (number.empty()) return false;
        // PTX counts bytes, also where the operand is a pointer to something larger.
        arguments = arguments.substr(0, last) + "__kw_ptx_address(" + arguments.substr(last) + ") + " + number;
      } else {
        const std::string number = take_number(rest, i);
        if (number.empty()) return false;
        append(number);
      }
    }
    return true;
  }

  // %3: an operand of the statement; %laneid or %%laneid: a special register.
  std::optional<std::string> register_operand(std::string_view rest, size_t& i) const {
    while (i < rest.size() && rest[i] == '%') ++i;
    const size_t begin = i;
    while (i < rest.size() && (is_word(rest[i]) || rest[i] == '.')) ++i;
    const std::string name(rest.substr(begin, i - begin));
    if (name.empty()) return std::nullopt;
    if (!std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; })) {
      return "__kw_ptx_register_" + as_name(name) + "()";
    }
    const size_t index = name.size() > 3 ? operands_.size() : std::stoul(name);
    if (index >= operands_.size()) return std::nullopt;
    return operands_[index];
  }

  static std::string take_number(std::string_view rest, size_t& i) {
    while (i < rest.size() && is_blank(rest[i])) ++i;
    const size_t begin = i;
    if (i < rest.size() && rest[i] == '-') ++i;
    while (i < rest.size() && (is_word(rest[i]) || rest[i] == '.')) ++i;
    const std::string number(rest.substr(begin, i - begin));
    const size_t digit = !number.empty() && number[0] == '-' ? 1 : 0;
    if (number.size() <= digit || std::isdigit(static_cast<unsigned char>(number[digit])) == 0) return "";
    // 0f3F800000 is a float by its bits.
    if (number.size() == 10 && (number[1] == 'f' || number[1] == 'F'))
      return "__int_as_float(0x" + number.substr(2) + ")";
    return number;
  }

  const std::vector<Token>& tokens_;
  size_t at_;
  int line_;
  std::string template_;
  std::vector<std::string> operands_;
};
}  // namespace

std::variant<PtxCall, Rejected> translate_asm(const std::vector<Token>& tokens, size_t at) {
  return AsmStatement(tokens, at).translate();
}

const std::set<std::string, std::less<>>& ptx_instructions() {
  static const auto instructions = [] {
    std::set<std::string, std::less<>> all;
    for (const PtxFamily& family : kPtxFamilies) {
      for (const std::string& ending : core::split(family.endings, ' ')) {
        all.insert(std::string(family.stem) + (ending == "-" ? "" : "." + ending));
      }
    }
    return all;
  }();
  return instructions;
}

}  // namespace sandbox::cpu::compiler
