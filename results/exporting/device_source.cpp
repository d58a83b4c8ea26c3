#include "results/exporting/device_source.h"

#include <algorithm>
#include <set>

#include "results/exporting/host_code.h"
#include "sandbox/tokens.h"

namespace results::exporting {
namespace {
using sandbox::Token;
using sandbox::TokenKind;

struct Directives {
  std::vector<std::string> includes;  // of the top level, as they stand
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

// extern "C" becomes extern "C++", wherever it stands.
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

}  // namespace results::exporting
