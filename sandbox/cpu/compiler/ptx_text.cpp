#include "sandbox/cpu/compiler/ptx_text.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "core/text.h"
#include "sandbox/cpu/compiler/ptx_instructions.h"

namespace sandbox::cpu::compiler {
namespace {
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Without comments; %% as % and %= (a number that differs from statement to statement) as nothing.
std::string plain_ptx(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view two = text.substr(i, 2);
    if (two == "//" || two == "/*") {
      const size_t end = text.find(two == "//" ? "\n" : "*/", i + 2);
      if (end == text.npos) break;
      i = two == "//" ? end : end + 1;
      plain += ' ';
    } else if (two == "%%" || two == "%=") {
      if (two == "%%") plain += '%';
      ++i;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

constexpr size_t kMostRegisters = 1024;  // of one statement

class PtxText {
 public:
  // copies: whether instructions take inputs from copies.
  PtxText(std::string_view text, const std::vector<PtxOperand>& operands, bool copies)
      : text_(plain_ptx(text)), operands_(operands), copies_(copies), read_(operands.size(), false) {}

  bool needs_body() const { return needs_body_; }

  std::variant<PtxCode, PtxProblem> translate() {
    while (!problem_) {
      skip_blanks();
      if (at_ == text_.size()) break;
      read_statement();
    }
    if (!problem_ && blocks_.size() != 1) refuse("inline PTX with unbalanced braces");
    if (steps_.empty() && !problem_) return PtxCode{"((void)0)", {}};
    std::string body;
    for (const Step& step : steps_) body += step.predicate + (step.label.empty() ? step.call : jump(step)) + "; ";
    if (problem_) return *problem_;
    if (!needs_body_) return PtxCode{steps_[0].call, headers_};
    return PtxCode{"({ " + declarations() + body + "(void)0; })", headers_};
  }

 private:
  struct Step {
    std::string predicate;  // "if (p) "
    std::string call;       // or "name:"
    std::string label;      // where a bra leads
    std::vector<size_t> blocks;
  };

  void refuse(const std::string& what, Rejection reason = Rejection::unsupported) {
    if (problem_) return;
    const bool unsupported = reason == Rejection::unsupported;
    problem_ = PtxProblem{reason, what + (unsupported ? " is unsupported on the cpu device" : "")};
  }

  // ---- statements

  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (here() != c) return false;
    ++at_;
    return true;
  }
  std::string take_word() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void read_statement() {
    if (accept(';')) return;
    if (accept('{')) {
      blocks_.push_back(++block_count_);
      registers_.emplace_back();
    } else if (accept('}')) {
      if (blocks_.size() == 1) return refuse("inline PTX with unbalanced braces");
      blocks_.pop_back();
      registers_.pop_back();
    } else if (here() == '.') {
      read_directive();
    } else if (!read_label()) {
      read_instruction();
    }
  }

  // A name as written: %p and p are the same register.
  std::string take_name() {
    while (here() == '%') ++at_;
    return take_word();
  }

  // name: but not name::part
  bool read_label() {
    const size_t begin = at_;
    const std::string name = take_name();
    skip_blanks();
    if (name.empty() || is_digit(name[0]) || here() != ':' || text_.substr(at_, 2) == "::") {
      at_ = begin;
      return false;
    }
    ++at_;
    const std::string label = "__kw_l" + std::to_string(labels_.size()) + "_" + ptx_name(name);
    if (!labels_.emplace(std::pair(blocks_.back(), name), label).second) refuse("inline PTX with a label twice");
    steps_.push_back({"", label + ":", "", {}});
    needs_body_ = true;
    return true;
  }

  // .reg .b32 a, b<4>;
  void read_directive() {
    ++at_;
    const std::string name = take_word();
    if (name != "reg") {
      const std::set<std::string, std::less<>> known = {"pragma", "param", "shared", "local",        "global",
                                                        "const",  "align", "loc",    "branchtargets"};
      if (!known.contains(name)) return refuse("inline assembly that is not PTX", Rejection::forbidden);
      return refuse("the directive ." + name + " in inline PTX");
    }
    skip_blanks();
    if (!accept('.')) return refuse("a .reg without a type");
    const std::string type = take_word(), variable_type = ptx_type(type);
    if (variable_type.empty()) return refuse("a register of type ." + core::clean_line(type, 20) + " in inline PTX");
    do {
      skip_blanks();
      const std::string register_name = take_name();
      if (register_name.empty() || is_digit(register_name[0])) return refuse("a .reg of this form");
      if (!accept('<')) {
        declare(variable_type, register_name);
        continue;
      }
      skip_blanks();
      const std::string count = take_word();
      if (!std::ranges::all_of(count, is_digit) || count.empty() || count.size() > 4 || !accept('>')) {
        return refuse("a .reg of this form");
      }
      for (int i = 0; i < std::stoi(count); ++i) declare(variable_type, register_name + std::to_string(i));
    } while (accept(','));
    if (!accept(';')) refuse("a .reg of this form");
  }

  void declare(const std::string& type, const std::string& name) {
    if (variables_ == kMostRegisters) return refuse("inline PTX with more than 1024 registers");
    const std::string variable = "__kw_r" + std::to_string(variables_++) + "_" + ptx_name(name);
    registers_.back()[name] = variable;
    needs_body_ = true;
    declared_ += type + " " + variable + "; ";
  }

  const std::string* find_register(const std::string& name) const {
    for (size_t i = registers_.size(); i-- > 0;) {
      const auto found = registers_[i].find(name);
      if (found != registers_[i].end()) return &found->second;
    }
    return nullptr;
  }

  void read_instruction() {
    Step step{"", "", "", blocks_};
    if (accept('@')) {
      needs_body_ = true;
      const bool negated = accept('!');
      skip_blanks();
      // A register, or an operand of the statement.
      size_t i = at_;
      const std::optional<std::string> name = named_operand(text_, i);
      at_ = i;
      if (!name) return refuse("a predicate of inline PTX that is no register");
      step.predicate = negated ? "if (!" + *name + ") " : "if (" + *name + ") ";
      skip_blanks();
    }
    const size_t begin = at_;
    while (is_word(here()) || here() == '.' || here() == ':') ++at_;
    const std::string mnemonic = text_.substr(begin, at_ - begin);
    if (mnemonic.empty() || std::isalpha(static_cast<unsigned char>(mnemonic[0])) == 0) {
      return refuse("inline assembly that is not PTX", Rejection::forbidden);
    }
    std::string rest = take_operands();
    if (mnemonic == "bra" || mnemonic == "bra.uni") {
      const std::string_view target = core::trimmed(rest);
      step.label = target.substr(std::min(target.find_first_not_of('%'), target.size()));
      needs_body_ = true;
    } else {
      const std::optional<PtxForm> form = ptx_form(mnemonic);
      if (!form) return refuse("the PTX instruction " + core::clean_line(mnemonic, 80));
      headers_.insert(form->header);
      std::string arguments;
      for (int i = 0; i < form->nowhere; ++i) arguments += i == 0 ? "__kw_ptx_nowhere" : ", __kw_ptx_nowhere";
      if ((form->policy && !drop_policy(rest)) ||
          !translate_operands(rest, *form, mnemonic.ends_with("f32"), arguments)) {
        return refuse("an operand of inline PTX " + mnemonic + " is of a form that");
      }
      step.call = form->function + "(" + arguments + ")";
      if (!form->before.empty()) step.call = "(" + form->before + ", " + step.call + ")";
    }
    if (!steps_.empty()) needs_body_ = true;
    steps_.push_back(std::move(step));
  }

  // Up to the semicolon, or to the end of the block.
  std::string take_operands() {
    const size_t begin = at_;
    int depth = 0;
    for (; at_ < text_.size() && text_[at_] != ';'; ++at_) {
      if (text_[at_] == '{') ++depth;
      if (text_[at_] == '}' && --depth < 0) break;
    }
    const std::string rest = text_.substr(begin, at_ - begin);
    accept(';');
    return rest;
  }

  // A label is known in the block that has it and in the blocks within.
  std::string jump(const Step& step) {
    for (size_t i = step.blocks.size(); i-- > 0;) {
      const auto found = labels_.find(std::pair(step.blocks[i], step.label));
      if (found != labels_.end()) return "goto " + found->second;
    }
    refuse("bra to a label that is not in the same inline PTX");
    return "";
  }

  std::string declarations() const {
    std::string text;
    for (const auto& [place, label] : labels_) text += (text.empty() ? "__label__ " : ", ") + label;
    if (!text.empty()) text += "; ";
    text += declared_;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (!read_[i]) continue;
      text += "const auto " + input_name(i) + " = " + operands_[i].expression + "; ";
    }
    return text;
  }
  static std::string input_name(size_t index) { return "__kw_i" + std::to_string(index); }

  // ---- operands

  // Takes the last operand away, which must be a register.
  bool drop_policy(std::string& rest) {
    const size_t comma = rest.rfind(',');
    if (comma == rest.npos) return false;
    size_t i = comma + 1;
    if (!named_operand(rest, i) || !core::trimmed(std::string_view(rest).substr(i)).empty()) return false;
    rest.erase(comma);
    return true;
  }

  bool translate_operands(std::string_view rest, const PtxForm& form, bool floats, std::string& arguments) {
    size_t i = 0, last = rest.npos;  // last: where the argument begins that a displacement may follow
    const auto append = [&](const std::string& argument) {
      if (!arguments.empty() && !arguments.ends_with('(')) arguments += ", ";
      last = arguments.size();
      arguments += argument;
    };
    while (i < rest.size()) {
      const char c = rest[i];
      if (c == '[') {
        ++i;
        last = rest.npos;
        if (!form.address.empty()) append(form.address + "(");
      } else if (c == ']') {
        ++i;
        if (!form.address.empty()) arguments += ")";
      } else if (is_blank(c) || c == ',' || c == '{' || c == '}' || c == '|') {
        ++i;
      } else if (c == '+' && last != rest.npos) {  // [%0 + 16]
        ++i;
        const std::optional<std::string> offset = take_operand(rest, i, floats);
        if (!offset) return false;
        // PTX counts bytes, also where the operand is a pointer to something larger.
        arguments = arguments.substr(0, last) + "__kw_ptx_address(" + arguments.substr(last) + ") + " + *offset;
        last = rest.npos;
      } else {
        const std::optional<std::string> operand = take_operand(rest, i, floats);
        if (!operand) return false;
        append(*operand);
      }
    }
    return std::ranges::count(rest, '[') == std::ranges::count(rest, ']');
  }

  std::optional<std::string> take_operand(std::string_view rest, size_t& i, bool floats) {
    while (i < rest.size() && is_blank(rest[i])) ++i;
    if (i == rest.size()) return std::nullopt;
    if (rest[i] == '!') {
      const std::optional<std::string> name = named_operand(rest, ++i);
      if (!name) return name;
      return "!" + *name;
    }
    if (is_digit(rest[i]) || rest[i] == '-') return take_number(rest, i, floats);
    return named_operand(rest, i);
  }

  // %3: an operand of the statement. p or %p: a register of the text. %laneid: a special register.
  std::optional<std::string> named_operand(std::string_view rest, size_t& i) {
    while (i < rest.size() && is_blank(rest[i])) ++i;
    const bool percent = i < rest.size() && rest[i] == '%';
    while (i < rest.size() && rest[i] == '%') ++i;
    const size_t begin = i;
    while (i < rest.size() && (is_word(rest[i]) || (rest[i] == '.' && percent))) ++i;
    const std::string name(rest.substr(begin, i - begin));
    if (name.empty()) return std::nullopt;
    if (percent && std::ranges::all_of(name, is_digit)) {
      const size_t index = name.size() > 3 ? operands_.size() : std::stoul(name);
      if (index >= operands_.size()) return std::nullopt;
      return operand_name(index);
    }
    if (const std::string* variable = find_register(name)) return *variable;
    if (name == "_") return "__kw_ptx_nowhere";
    if (name == "WARP_SZ") return "32";
    if (!percent) return std::nullopt;
    return "__kw_ptx_register_" + ptx_name(name) + "()";
  }

  std::string operand_name(size_t index) {
    if (!operands_[index].is_input || !copies_) return operands_[index].expression;
    read_[index] = true;
    return input_name(index);
  }

  static std::optional<std::string> take_number(std::string_view rest, size_t& i, bool floats) {
    const size_t begin = i;
    if (rest[i] == '-') ++i;
    while (i < rest.size() && (is_word(rest[i]) || rest[i] == '.')) ++i;
    const std::string number(rest.substr(begin, i - begin));
    const size_t digit = number[0] == '-' ? 1 : 0;
    if (number.size() <= digit || !is_digit(number[digit]) || number.find('$') != number.npos) return std::nullopt;
    // 0f3F800000 is a float by its bits.
    const char form = number.size() > 1 ? number[1] : '\0';
    if (number.size() == 10 && (form == 'f' || form == 'F')) return "__int_as_float(0x" + number.substr(2) + ")";
    if (number.size() == 18 && (form == 'd' || form == 'D')) {
      return "__longlong_as_double(0x" + number.substr(2) + ")";
    }
    return floats && number.find('.') != number.npos ? number + "f" : number;
  }

  std::string text_;
  size_t at_ = 0;
  const std::vector<PtxOperand>& operands_;
  bool copies_;
  std::vector<bool> read_;  // inputs that instructions take
  std::vector<Step> steps_;
  bool needs_body_ = false;
  size_t block_count_ = 0, variables_ = 0;
  std::vector<size_t> blocks_ = {0};                                  // those that are open, outermost first
  std::vector<std::map<std::string, std::string>> registers_ = {{}};  // by open block
  std::map<std::pair<size_t, std::string>, std::string> labels_;      // by block and name
  std::string declared_;
  std::set<std::string> headers_;
  std::optional<PtxProblem> problem_;
};
}  // namespace

std::variant<PtxCode, PtxProblem> translate_ptx(std::string_view text, const std::vector<PtxOperand>& operands) {
  PtxText plain(text, operands, false);
  auto translated = plain.translate();
  return plain.needs_body() ? PtxText(text, operands, true).translate() : translated;
}

}  // namespace sandbox::cpu::compiler
