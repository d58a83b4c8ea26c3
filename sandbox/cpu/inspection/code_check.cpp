#include "sandbox/cpu/inspection/code_check.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <Zydis/Zydis.h>
#endif

namespace sandbox::cpu::inspection {
namespace {
constexpr const char* kThroughPointer = "calls a function through a pointer: call it by its name";

#if defined(__x86_64__)
constexpr ZydisInstructionCategory kRefusedCategories[] = {
    ZYDIS_CATEGORY_SYSCALL,    ZYDIS_CATEGORY_SYSRET, ZYDIS_CATEGORY_SYSTEM, ZYDIS_CATEGORY_IO,
    ZYDIS_CATEGORY_IOSTRINGOP, ZYDIS_CATEGORY_RDRAND, ZYDIS_CATEGORY_RDSEED, ZYDIS_CATEGORY_RDWRFSGS,
    ZYDIS_CATEGORY_PKU,        ZYDIS_CATEGORY_SGX,    ZYDIS_CATEGORY_VTX,    ZYDIS_CATEGORY_SEGOP,
    ZYDIS_CATEGORY_CET,        ZYDIS_CATEGORY_UINTR};
constexpr ZydisMnemonic kRefusedMnemonics[] = {
    ZYDIS_MNEMONIC_INT,      ZYDIS_MNEMONIC_INT1,   ZYDIS_MNEMONIC_INTO,  ZYDIS_MNEMONIC_CPUID,  ZYDIS_MNEMONIC_RDTSC,
    ZYDIS_MNEMONIC_RDTSCP,   ZYDIS_MNEMONIC_RDPMC,  ZYDIS_MNEMONIC_RDPID, ZYDIS_MNEMONIC_XGETBV, ZYDIS_MNEMONIC_XBEGIN,
    ZYDIS_MNEMONIC_XABORT,   ZYDIS_MNEMONIC_XTEST,  ZYDIS_MNEMONIC_IRET,  ZYDIS_MNEMONIC_IRETD,  ZYDIS_MNEMONIC_IRETQ,
    ZYDIS_MNEMONIC_UMONITOR, ZYDIS_MNEMONIC_UMWAIT, ZYDIS_MNEMONIC_TPAUSE};

template <typename T, size_t n>
bool is_among(const T (&values)[n], T value) {
  return std::ranges::find(values, value) != std::end(values);
}

// mov, pop and their like into a segment register, which hold where thread-local variables are.
bool writes_segment(const ZydisDecodedInstruction& instruction) {
  const bool one_byte = instruction.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
  const bool two_bytes = instruction.opcode_map == ZYDIS_OPCODE_MAP_0F;
  const uint8_t opcode = instruction.opcode;
  return (one_byte && opcode == 0x8e) ||
         (two_bytes && (opcode == 0xa1 || opcode == 0xa9 || opcode == 0xb2 || opcode == 0xb4 || opcode == 0xb5));
}

class Walk {
 public:
  explicit Walk(const std::vector<AddressRange>& table) : table_(table) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  std::optional<std::string> run(const std::vector<CodeSection>& code) {
    for (const CodeSection& section : code) {
      if (auto refused = walk(section)) return refused;
    }
    std::ranges::sort(begins_);
    for (const uint64_t target : targets_) {
      if (!std::binary_search(begins_.begin(), begins_.end(), target)) return "jumps to where no instruction begins";
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> walk(const CodeSection& section) {
    ZydisDecodedInstruction instruction;
    for (size_t at = 0; at < section.size; at += instruction.length) {
      if (!ZYAN_SUCCESS(
              ZydisDecoderDecodeInstruction(&decoder_, nullptr, section.bytes + at, section.size - at, &instruction))) {
        return "holds bytes that are no instructions is_among its code";
      }
      begins_.push_back(section.address + at);
      if (auto refused = look_at(instruction, section.address + at)) return refused;
    }
    return std::nullopt;
  }

  std::optional<std::string> look_at(const ZydisDecodedInstruction& instruction, uint64_t address) {
    if (is_among(kRefusedCategories, instruction.meta.category) || is_among(kRefusedMnemonics, instruction.mnemonic) ||
        writes_segment(instruction)) {
      return std::string("holds the instruction ") + ZydisMnemonicGetString(instruction.mnemonic) +
             ", which no kernel has a use for";
    }
    const uint64_t next = address + instruction.length;
    if (instruction.raw.imm[0].is_relative != 0) {
      targets_.push_back(next + static_cast<uint64_t>(instruction.raw.imm[0].value.s));
      return std::nullopt;
    }
    if (instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return "jumps to another segment";
    const bool transfers =
        instruction.meta.category == ZYDIS_CATEGORY_CALL || instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    if (!transfers) return std::nullopt;
    const auto& modrm = instruction.raw.modrm;
    const bool relative_to_here = (instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && modrm.mod == 0 &&
                                  modrm.rm == 5 && (instruction.attributes & ZYDIS_ATTRIB_HAS_SEGMENT) == 0;
    const uint64_t slot = next + static_cast<uint64_t>(instruction.raw.disp.value);
    const bool in_table = std::ranges::any_of(table_, [&](const AddressRange& range) {
      return slot >= range.begin && slot < range.end && (slot - range.begin) % sizeof(uint64_t) == 0;
    });
    if (!relative_to_here || !in_table) return kThroughPointer;
    return std::nullopt;
  }

  const std::vector<AddressRange>& table_;
  ZydisDecoder decoder_;
  std::vector<uint64_t> begins_, targets_;
};
#endif

#if defined(__aarch64__)
// Instructions are 4 bytes long and aligned, so a few masks recognise them.
std::optional<std::string> look_at(uint32_t instruction, bool linkage) {
  const bool branch_to_register = (instruction & 0xfe000000) == 0xd6000000;
  const bool returns = (instruction & 0xfffffc1f) == 0xd65f0000;
  if (branch_to_register && !returns && !linkage) return kThroughPointer;
  if ((instruction & 0xffe0001c) == 0xd4000000 && (instruction & 3) != 0) return "makes a system call";
  const uint32_t read_register = instruction & 0xffffffe0;
  for (const uint32_t counter : {0xd53be020u, 0xd53be040u, 0xd53be0a0u, 0xd53be0c0u}) {
    if (read_register == counter) return "reads a clock";
  }
  return std::nullopt;
}
#endif
}  // namespace

std::optional<std::string> refuse_code(const std::vector<CodeSection>& code,
                                       [[maybe_unused]] const std::vector<AddressRange>& table) {
#if defined(__x86_64__)
  return Walk(table).run(code);
#elif defined(__aarch64__)
  for (const CodeSection& section : code) {
    for (size_t at = 0; at + sizeof(uint32_t) <= section.size; at += sizeof(uint32_t)) {
      uint32_t instruction = 0;
      std::memcpy(&instruction, section.bytes + at, sizeof instruction);
      if (auto refused = look_at(instruction, section.linkage)) return refused;
    }
  }
  return std::nullopt;
#else
#error "the cpu device knows the instructions of x86-64 and of AArch64 only"
#endif
}

std::vector<uint64_t> returns_of_calls(const std::vector<CodeSection>& code, uint64_t function) {
  std::vector<uint64_t> returns;
  for (const CodeSection& section : code) {
#if defined(__x86_64__)
    constexpr size_t kLength = 5, kStep = 1;  // e8 and a distance; other bytes hardly ever look like one to there
#else
    constexpr size_t kLength = 4, kStep = 4;
#endif
    for (size_t at = 0; at + kLength <= section.size; at += kStep) {
      const uint64_t here = section.address + at;
#if defined(__x86_64__)
      int32_t distance = 0;
      std::memcpy(&distance, section.bytes + at + 1, sizeof distance);
      const bool calls =
          section.bytes[at] == 0xe8 && here + kLength + static_cast<uint64_t>(int64_t{distance}) == function;
#else
      uint32_t instruction = 0;
      std::memcpy(&instruction, section.bytes + at, sizeof instruction);
      const auto distance = static_cast<int32_t>(instruction << 6) >> 4;
      const bool calls = instruction >> 26 == 0x25 && here + static_cast<uint64_t>(int64_t{distance}) == function;
#endif
      if (calls) returns.push_back(here + kLength);
    }
  }
  return returns;
}

}  // namespace sandbox::cpu::inspection
