// Compilers' messages: whatever a candidate makes a compiler print, the kept part is short and safe to show.
#include "sandbox/cpu/compiler/diagnostics.h"

#include "core/fuzzing.h"
#include "core/strict_json.h"
#include "core/text.h"

using core::fuzzing::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text(core::fuzzing::as_text(bytes, size));
  const sandbox::Rejected rejected = sandbox::cpu::compiler::classify_diagnostics(text, "some folder/solution.cu");
  for (const std::string& shown : {rejected.message, rejected.log, core::clean_text(text, 100)}) {
    require(shown.size() <= 8192 + 64, "what is shown is cut");
    require(core::clean_text(shown, 100000) == shown, "what is clean stays as it is");
    require(!core::Json(shown).dump().empty(), "it is valid UTF-8");
    for (const char c : shown) require((c >= 0x20 && c != 0x7F) || c < 0 || c == '\n' || c == '\t', "no control codes");
  }
  return 0;
}
