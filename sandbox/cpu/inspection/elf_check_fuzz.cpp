// Shared objects: any bytes from a compile worker are inspected or refused.
#include "sandbox/cpu/inspection/elf_check.h"

#include "core/fuzzing.h"
#include "sandbox/process/sealed_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const core::UniqueFd file = sandbox::process::sealed_memory("fuzzed", core::fuzzing::as_text(bytes, size));
  for (const sandbox::Build build : {sandbox::Build::fast, sandbox::Build::check}) {
    try {
      const sandbox::cpu::inspection::BinaryFacts facts = sandbox::cpu::inspection::inspect_binary(file.get(), build);
      for (const auto& [name, parameters] : facts.kernels) {
        core::fuzzing::require(!name.empty() && parameters >= -1, "a kernel has a name");
      }
    } catch (const sandbox::cpu::inspection::BinaryRefused& refused) {
      core::fuzzing::require(!refused.problem().empty(), "a refusal has a reason");
    }
  }
  return 0;
}
