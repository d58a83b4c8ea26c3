#include "sandbox/gpu/source_check.h"

#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "sandbox/tokens.h"

namespace sandbox::gpu {
namespace {
constexpr size_t kMostSourceBytes = size_t{1} << 20;

std::optional<Rejected> refuse_includes(const std::vector<Token>& tokens) {
  const auto forbidden = [](const Token& at, std::string message) {
    return Rejected{Rejection::forbidden, std::move(message), at.line, ""};
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is("%:")) return forbidden(token, "digraphs obscure a kernel");
    const bool directive =
        token.is("#") && token.directive >= 0 && i + 1 < tokens.size() && tokens[i + 1].directive == token.directive;
    if (directive && (tokens[i + 1].is("line") || tokens[i + 1].is("include_next"))) {
      return forbidden(token, "#" + tokens[i + 1].text + " is not for kernels");
    }
    const bool include = (directive && tokens[i + 1].is("include")) || token.is("__has_include");
    if (!include) continue;
    const size_t name = i + 2;
    if (name >= tokens.size() || tokens[name].kind != TokenKind::header_name) {
      return forbidden(token, "#include of a computed name");
    }
    const std::string& header = tokens[name].value;
    if (header.empty() || header[0] == '/' || header.find("..") != std::string::npos) {
      return forbidden(token, "#include of <" + core::clean_text(header, 100) + ">, which is no header for kernels");
    }
  }
  return std::nullopt;
}

std::optional<Rejected> refuse_time_of_day(const std::vector<Token>& tokens) {
  for (const std::string_view name : {"__TIME__", "__DATE__", "__TIMESTAMP__"}) {
    std::vector<int> line(name.size() + 1);  // line[n]: of a token that ends the first n characters; 0: none
    line[0] = 1;
    for (size_t begin = 0; begin < name.size(); ++begin) {
      for (const Token& token : tokens) {
        const bool fits = token.kind == TokenKind::identifier && name.substr(begin, token.text.size()) == token.text;
        if (line[begin] > 0 && fits) line[begin + token.text.size()] = token.line;
      }
    }
    if (line[name.size()] == 0) continue;
    return Rejected{
        Rejection::forbidden,
        "holds " + std::string(name) + " or its pieces: a kernel must not depend on the time of compilation",
        line[name.size()], ""};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Rejected> refuse_source(const std::string& source) {
  if (source.size() > kMostSourceBytes) {
    return Rejected{Rejection::limit, "the source is larger than 1 MiB", std::nullopt, ""};
  }
  if (source.find('\0') != std::string::npos) {
    return Rejected{Rejection::forbidden, "a zero byte in the source", std::nullopt, ""};
  }
  const std::vector<Token> tokens = tokenize(source);
  if (auto refused = refuse_includes(tokens)) return refused;
  return refuse_time_of_day(tokens);
}

// NVRTC writes "solution.cu(12): error: ...", clang "solution.cu:12:3: error: ...".
Rejected rejected_by_compiler(const std::string& log, const std::string& shown_log) {
  Rejected rejected{Rejection::compile_error, "the compiler gave up", std::nullopt, shown_log};
  const size_t error = log.find("error: ");
  if (error == std::string::npos) return rejected;
  const size_t line_begin = log.rfind('\n', error) + 1;
  const std::string line = log.substr(line_begin, log.find('\n', error) - line_begin);
  rejected.message = core::clean_line(line.substr(line.find("error: ") + 7), 400);
  const size_t mark = line.find(kSourceName);
  if (mark != std::string::npos && mark + std::strlen(kSourceName) < line.size()) {
    const char* digits = line.data() + mark + std::strlen(kSourceName) + 1;
    int64_t number = 0;
    if (std::from_chars(digits, line.data() + line.size(), number).ec == std::errc()) rejected.line = number;
  }
  return rejected;
}

}  // namespace sandbox::gpu
