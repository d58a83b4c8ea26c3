// Rules for a candidate's machine code: it may compute, and call by name. Every instruction is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sandbox::cpu::inspection {

struct CodeSection {
  uint64_t address;
  const uint8_t* bytes;
  size_t size;
  bool linkage = false;  // the linker's stubs (.plt)
};
struct AddressRange {
  uint64_t begin, end;
};

// Returns why the binary is refused, as the end of a sentence about it: calls and jumps through pointers other than the
// linker's table of addresses at `table`; jumps into the middle of instructions or out of the code; system calls,
// clocks, and instructions that only an operating system or a library needs.
std::optional<std::string> refuse_code(const std::vector<CodeSection>& code, const std::vector<AddressRange>& table);

// The addresses to which this function's direct calls return.
std::vector<uint64_t> returns_of_calls(const std::vector<CodeSection>& code, uint64_t function);

}  // namespace sandbox::cpu::inspection
