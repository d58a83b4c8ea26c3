#include "results/exporting/device_source.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "benchsuite/shared_headers.h"
#include "core/error.h"
#include "core/text.h"
#include "sandbox/tokens.h"

namespace results::exporting {
namespace {
using sandbox::Token;
using sandbox::TokenKind;

struct Directives {
  std::vector<std::string> includes;  // at the top level, verbatim
  std::set<std::string> macros;
};

Directives read_directives(const std::string& source, const std::vector<Token>& tokens) {
  Directives found;
  int depth = 0;  // of #if
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is("#") || tokens[i].directive < 0 || tokens[i + 1].directive != tokens[i].directive) continue;
    const std::string& word = tokens[i + 1].text;
    if (word.rfind("if", 0) == 0) ++depth;
    if (word == "endif") --depth;
    if (word == "define") found.macros.insert(tokens[i + 2].text);
    if (word == "include" && depth == 0) {
      found.includes.push_back("#include " +
                               source.substr(tokens[i + 2].begin, tokens[i + 2].end - tokens[i + 2].begin));
    }
  }
  return found;
}

// Replaces every extern "C" with extern "C++".
std::string with_cpp_linkage(const std::string& source, const std::vector<Token>& tokens) {
  std::string out;
  size_t copied = 0;
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::string || tokens[i].value != "C" || !tokens[i - 1].is("extern")) continue;
    out += source.substr(copied, tokens[i].begin - copied) + "\"C++\"";
    copied = tokens[i].end;
  }
  return out + source.substr(copied);
}
}  // namespace

std::string in_namespace(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                         const std::string& name_space, const std::string& types) {
  refuse_host_code(solution, binding);
  const std::vector<Token> tokens = sandbox::tokenize(solution.source);
  const Directives directives = read_directives(solution.source, tokens);
  std::string out;
  for (const std::string& include : directives.includes) out += include + "\n";
  out += "\nnamespace " + name_space + " {\n" + types;
  for (const auto& [name, value] : binding) out += "#define " + name + " " + std::to_string(value) + "\n";
  out += "\n" + with_cpp_linkage(solution.source, tokens);
  if (out.back() != '\n') out += '\n';
  out += "\n";
  for (const auto& [name, value] : binding) out += "#undef " + name + "\n";
  for (const std::string& macro : directives.macros) {
    if (binding.count(macro) == 0) out += "#undef " + macro + "\n";
  }
  return out + "}  // namespace " + name_space + "\n";
}

std::vector<std::string> kernels_of(const sandbox::Solution& solution) {
  std::vector<std::string> names;
  for (const sandbox::Launch& launch : solution.launches) {
    if (std::find(names.begin(), names.end(), launch.kernel) == names.end()) names.push_back(launch.kernel);
  }
  return names;
}

namespace {
using sandbox::Token;
using sandbox::TokenKind;

constexpr std::array kForbidden{"__host__",     "__attribute__", "__attribute", "__declspec",
                                "__location__", "_Pragma",       "__pragma",    "__has_include",
                                "gnu",          "__gnu__",       "%:"};
constexpr std::array kPragmas{"unroll", "nounroll", "once", "nv_diag_suppress", "nv_diag_default", "nv_diag_once"};

template <typename Words>
bool is_one_of(const Token& token, const Words& words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return token.is(word); });
}

class Reader {
 public:
  Reader(const sandbox::Solution& solution, const sandbox::TunableBinding& binding)
      : solution_(solution), tokens_(sandbox::tokenize(benchsuite::without_shared_headers(solution.source))) {
    for (const auto& [name, value] : binding) known_.insert(name);
  }

  void read() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (is_one_of(token, kForbidden)) refuse(token, "holds " + token.text);
      if (token.directive >= 0) {
        i = read_directive(i) - 1;
      } else {
        read_code(i);
      }
    }
  }

 private:
  [[noreturn]] void refuse(const Token& at, const std::string& what) const {
    throw core::InputError(core::clean_line(solution_.file) + ":" + std::to_string(at.line),
                           core::clean_line(what) + ": compiled with host code, it could differ from the judged one",
                           "rewrite it without that, or export it --to header, which compiles it as the judge did");
  }

  // True if the directive's tokens from `begin` are only known names and numbers.
  bool is_known(size_t begin, size_t end) const {
    return std::all_of(tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                       tokens_.begin() + static_cast<std::ptrdiff_t>(end), [&](const Token& token) {
                         return token.kind != TokenKind::identifier || token.text == "defined" ||
                                known_.count(token.text) > 0;
                       });
  }

  // True for assembler with operands (a colon), which only occurs in functions.
  bool has_operands(size_t begin, size_t end) const {
    int depth = 0;
    for (size_t i = begin + 1; i < end; ++i) {
      depth += tokens_[i].is("(") ? 1 : tokens_[i].is(")") ? -1 : 0;
      if (depth == 1 && (tokens_[i].is(":") || tokens_[i].is("::"))) return true;
      if (depth == 0 && tokens_[i].is(")")) return false;
    }
    return false;
  }

  void read_define(size_t name, size_t end) {
    int braces = 0;
    for (size_t i = name + 1; i < end; ++i) {
      braces += tokens_[i].is("{") ? 1 : tokens_[i].is("}") ? -1 : 0;
      if (tokens_[i].is("#") && tokens_[i - 1].is("#")) refuse(tokens_[i], "joins names with ##");
      if (is_one_of(tokens_[i], kForbidden)) refuse(tokens_[i], "holds " + tokens_[i].text);
      if (is_assembler(tokens_[i]) && !has_operands(i, end)) refuse(tokens_[i], "has assembler in a macro");
    }
    if (braces != 0) refuse(tokens_[name], "opens or closes a brace in a macro");
    known_.erase(tokens_[name].text);
    if (depth_ == 0 && is_known(name + 1, end)) known_.insert(tokens_[name].text);
  }

  // Checks the directive that begins at `begin`; returns its end.
  size_t read_directive(size_t begin) {
    size_t end = begin;
    while (end < tokens_.size() && tokens_[end].directive == tokens_[begin].directive) ++end;
    if (end - begin < 2) return end;
    const Token& word = tokens_[begin + 1];
    if (word.text.rfind("if", 0) == 0 || word.text.rfind("elif", 0) == 0) {
      if (!is_known(begin + 2, end)) refuse(word, "has an #" + word.text + " that tests macros it does not define");
      if (word.text[0] == 'i') ++depth_;
    } else if (word.is("endif")) {
      --depth_;
    } else if (word.is("define") && end - begin > 2) {
      read_define(begin + 2, end);
    } else if (word.is("undef") && end - begin > 2) {
      known_.erase(tokens_[begin + 2].text);
    } else if (word.is("pragma") && end - begin > 2 && !is_one_of(tokens_[begin + 2], kPragmas)) {
      refuse(word, "has #pragma " + tokens_[begin + 2].text);
    } else if (word.is("include_next") || word.is("line")) {
      refuse(word, "has #" + word.text);
    }
    return end;
  }

  static bool is_assembler(const Token& token) { return token.is("asm") || token.is("__asm__") || token.is("__asm"); }

  // Follows braces: those of namespaces and linkage contain no function code.
  void read_code(size_t i) {
    const Token& token = tokens_[i];
    if (token.is("{")) {
      const bool linkage = i > 0 && tokens_[i - 1].kind == TokenKind::string;
      if (inside_ > 0 || !(linkage || space_)) {
        ++inside_;
      } else {
        ++outside_;
      }
    } else if (token.is("}")) {
      --(inside_ > 0 ? inside_ : outside_);
      if (outside_ < 0) refuse(token, "closes a brace that it did not open");
    } else if (is_assembler(token) && inside_ == 0) {
      refuse(token, "has assembler outside of functions");
    }
    if (token.is("namespace")) space_ = true;
    if (token.is("{") || token.is("}") || token.is(";")) space_ = false;
  }

  const sandbox::Solution& solution_;
  std::vector<Token> tokens_;
  std::set<std::string> known_;   // macros with the same meaning here as for the judge
  int depth_ = 0;                 // of #if
  int inside_ = 0, outside_ = 0;  // braces
  bool space_ = false;            // since the last statement a namespace was named
};
}  // namespace

void refuse_host_code(const sandbox::Solution& solution, const sandbox::TunableBinding& binding) {
  Reader(solution, binding).read();
}

}  // namespace results::exporting
