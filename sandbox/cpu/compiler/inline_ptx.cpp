#include "sandbox/cpu/compiler/inline_ptx.h"

#include <string_view>
#include <utility>

#include "sandbox/cpu/compiler/ptx_text.h"

namespace sandbox::cpu::compiler {
namespace {
class AsmStatement {
 public:
  AsmStatement(const std::vector<Token>& tokens, size_t at) : tokens_(tokens), at_(at), line_(tokens[at].line) {}

  std::variant<PtxCall, Rejected> translate() {
    if (!read_statement()) {
      return reject(Rejection::unsupported, "inline assembly of this form is unsupported on the cpu device");
    }
    auto translated = translate_ptx(template_, operands_);
    if (const auto* problem = std::get_if<PtxProblem>(&translated)) return reject(problem->reason, problem->message);
    auto& code = std::get<PtxCode>(translated);
    return PtxCall{std::move(code.text), std::move(code.headers), at_};
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
      if (!read_operands(section)) return false;
    }
    return true;
  }

  // "=r"(x), "r"(y + 1), ... up to the next colon or the end
  bool read_operands(int section) {
    while (token() != nullptr && token()->kind == TokenKind::string) {
      ++at_;
      if (accept("(")) {
        std::string expression;
        for (int depth = 1; depth > 0; ++at_) {
          if (token() == nullptr || token()->is("asm") || token()->is("__asm") || token()->is("__asm__")) return false;
          if (token()->is("(")) ++depth;
          if (token()->is(")")) --depth;
          if (depth == 0) continue;
          // Tokens that touch stay together: "<<" is two.
          if (!expression.empty() && token()->begin != tokens_[at_ - 1].end) expression += ' ';
          expression += token()->text;
        }
        if (section < 2) operands_.push_back({"(" + expression + ")", section == 1});
      }
      if (!accept(",")) break;
    }
    return token() != nullptr;
  }

  const std::vector<Token>& tokens_;
  size_t at_;
  int line_;
  std::string template_;
  std::vector<PtxOperand> operands_;
};
}  // namespace

std::variant<PtxCall, Rejected> translate_asm(const std::vector<Token>& tokens, size_t at) {
  return AsmStatement(tokens, at).translate();
}

}  // namespace sandbox::cpu::compiler
