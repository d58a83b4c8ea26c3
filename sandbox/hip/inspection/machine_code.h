// Rules for a candidate's AMD machine code, instruction by instruction: it may compute and branch, no more.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sandbox/hip/inspection/comgr.h"

namespace sandbox::hip::inspection {

// The end of a sentence about the binary ("reads a clock, ..."): why this instruction is refused. nullopt: it is not.
// `text`: as LLVM's disassembler writes it.
std::optional<std::string> refuse_instruction(std::string_view text);

struct CodeFacts {
  std::set<uint64_t> begins;      // of instructions, from the begin of the code
  bool refers_to_itself = false;  // takes an address relative to its own: of a variable of the module
};

// Inspects one executable segment from its first byte to its last. Throws core::InputError with one sentence: clocks,
// places, performance counters, messages to the host, memory that outlasts a launch (GDS), textures; every call, return
// or jump through a register (device functions are inlined: an honest kernel has none); branches into the middle of an
// instruction or out of the code; bytes that are no instructions; an end that would run on into what follows.
CodeFacts inspect_code(std::string_view code, const std::string& architecture, const Comgr& comgr);

}  // namespace sandbox::hip::inspection
