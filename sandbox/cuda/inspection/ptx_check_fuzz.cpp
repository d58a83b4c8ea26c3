// PTX: any text is cut into statements and checked, or refused.
#include "sandbox/cuda/inspection/ptx_check.h"

#include "core/error.h"
#include "core/fuzzing.h"
#include "sandbox/cuda/inspection/ptx_text.h"

using core::fuzzing::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text = core::fuzzing::as_text(bytes, size);
  try {
    const sandbox::cuda::inspection::PtxText ptx = sandbox::cuda::inspection::parse_ptx(text, "solution.cu");
    for (const sandbox::cuda::inspection::PtxStatement& statement : ptx.statements) {
      require(!statement.tokens.empty(), "a statement holds something");
      require(statement.function < static_cast<int>(ptx.functions.size()), "it stands in a function of the text");
      for (size_t i = statement.opcode().find('.', 1) == std::string_view::npos ? 0 : 1; i < statement.tokens.size();
           ++i) {
        const std::string_view token = statement.tokens[i];  // an opcode may be joined from pieces
        require(token.data() >= text.data() && token.data() + token.size() <= text.data() + text.size(),
                "tokens are views of the text");
      }
      sandbox::cuda::inspection::operands_of(statement);
    }
  } catch (const core::InputError&) {
  }
  for (const bool cooperative : {false, true}) {
    const auto rejected = sandbox::cuda::inspection::check_ptx(text, cooperative);
    if (rejected) require(!rejected->message.empty(), "a refusal has a reason");
  }
  return 0;
}
