// The cpu device's lexer: any source is translated or refused, and every line keeps its number.
#include "sandbox/cpu/compiler/lexer.h"

#include <algorithm>

#include "core/fuzzing.h"
#include "sandbox/tokens.h"

using core::fuzzing::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view source = core::fuzzing::as_text(bytes, size);
  size_t at = 0;
  int line = 1;
  for (const sandbox::Token& token : sandbox::tokenize(source)) {
    require(token.begin >= at && token.end > token.begin && token.end <= source.size(), "tokens stand in order");
    line += static_cast<int>(std::count(source.begin() + at, source.begin() + token.begin, '\n'));
    require(token.line == line, "tokens know their line");
    at = token.begin;
  }
  for (const sandbox::Dialect dialect : {sandbox::Dialect::cuda, sandbox::Dialect::hip}) {
    const auto lexed = sandbox::cpu::compiler::lex(source, dialect);
    if (const auto* accepted = std::get_if<sandbox::cpu::compiler::LexedSource>(&lexed)) {
      const auto lines = [](std::string_view text) { return std::ranges::count(text, '\n'); };
      require(lines(accepted->text) >= lines(source), "every line keeps its number");
    } else {
      require(!std::get<sandbox::Rejected>(lexed).message.empty(), "a refusal has a reason");
    }
  }
  return 0;
}
