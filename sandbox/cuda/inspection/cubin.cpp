#include "sandbox/cuda/inspection/cubin.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/gpu/elf_sections.h"

namespace sandbox::cuda::inspection {
namespace {
constexpr const char* kNoCubin = "the binary is no cubin";
constexpr std::string_view kInfoPrefix = ".nv.info.";  // one such section for each entry point
constexpr std::string_view kModuleInfo = ".nv.info";
constexpr std::string_view kGlobal = ".nv.global";  // and .nv.global.init
constexpr uint8_t kFormatSized = 4;                 // the value is a size, and that many bytes follow
constexpr uint8_t kParameterInfo = 0x17;            // EIATTR_KPARAM_INFO, one for each parameter
constexpr uint8_t kFrameSize = 0x11;                // EIATTR_FRAME_SIZE: of a function, by its symbol
constexpr uint8_t kManaged = 0x04;                  // in the st_other of a __managed__ symbol
constexpr uint16_t kMachine = 190;                  // EM_CUDA

constexpr int64_t kMostGlobalBytes = int64_t{1} << 30;
constexpr size_t kMostCubinBytes = size_t{64} << 20;
// All threads of a device have stacks at once: 16 KiB each make 4 GiB on the largest.
constexpr uint32_t kMostStackBytes = 16 << 10;

// Opcodes that read a special register, for every architecture from sm_75 to sm_121 (checked by cubin_test.cpp), and
// the registers' numbers.
constexpr size_t kInstructionBytes = 16;
constexpr uint64_t kReadsSpecial[] = {0x919, 0x9c3, 0x805, 0x8cb};  // S2R, S2UR, CS2R, S2UR's successor
// Opcodes with an operand in constant memory, by three bits. Five bits hold the bank; addresses of __device__ variables
// are in bank four (also checked by cubin_test.cpp).
constexpr uint64_t kConstantForms[] = {3, 5};
constexpr uint64_t kAddressBank = 4;
struct SpecialRegisters {
  uint64_t first, last;
  const char* what;
};
constexpr SpecialRegisters kRefused[] = {
    {0x43, 0x43, "the number of its multiprocessor"}, {0x50, 0x53, "a clock"}, {0x64, 0x73, "performance counters"}};

// Calls visit(attribute, value, bytes of the value) for every record of an .nv.info section.
template <typename Visit>
void for_each_attribute(const Elf_Data& data, Visit visit) {
  const auto* bytes = static_cast<const uint8_t*>(data.d_buf);
  for (size_t at = 0; at + 4 <= data.d_size;) {
    uint16_t size = 0;
    if (bytes[at] == kFormatSized) std::memcpy(&size, bytes + at + 2, sizeof size);
    visit(bytes[at + 1], bytes + at + 4, std::min<size_t>(size, data.d_size - at - 4));
    at += 4 + size_t{size};
  }
}

int64_t count_parameters(const Elf_Data& data) {
  int64_t parameters = 0;
  for_each_attribute(data,
                     [&](uint8_t attribute, const uint8_t*, size_t) { parameters += attribute == kParameterInfo; });
  return parameters;
}

// Calls visit(elf, section, name, header) for every section.
template <typename Visit>
void for_each_section(std::string_view cubin, Visit visit) {
  gpu::for_each_section(cubin, kNoCubin, visit);
}

// Calls visit(symbol, name) for every symbol.
template <typename Visit>
void for_each_symbol(std::string_view cubin, Visit visit) {
  gpu::for_each_symbol(cubin, SHT_SYMTAB, kNoCubin, visit);
}

[[noreturn]] void refuse_cubin(const std::string& what) { throw core::InputError("", "the binary " + what); }

void require_cubin(std::string_view cubin) {
  gpu::with_elf(cubin, kNoCubin, [](Elf*, const GElf_Ehdr& header) {
    if (header.e_machine != kMachine || header.e_ident[EI_CLASS] != ELFCLASS64) refuse_cubin("is no cubin");
  });
}

void inspect_symbol(const GElf_Sym& symbol, std::string_view name) {
  const std::string shown = core::clean_line(std::string(name), 100);
  if ((symbol.st_other & kManaged) != 0 && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT) {
    refuse_cubin("holds the managed variable " + shown + ": use the tensors and workspaces");
  }
  if (symbol.st_shndx != SHN_UNDEF || name.empty() || name == "__assertfail" || name.substr(0, 4) == ".nv.") return;
  refuse_cubin("calls " + shown + " of the driver, which no kernel needs");
}

// Calls visit(the two halves) for every instruction.
template <typename Visit>
void for_each_instruction(const Elf_Data& data, Visit visit) {
  const auto* bytes = static_cast<const uint8_t*>(data.d_buf);
  for (size_t at = 0; at + kInstructionBytes <= data.d_size; at += kInstructionBytes) {
    uint64_t low = 0, high = 0;
    std::memcpy(&low, bytes + at, sizeof low);
    std::memcpy(&high, bytes + at + sizeof low, sizeof high);
    visit(low, high);
  }
}

bool is_code(const GElf_Shdr& header) {
  return header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_EXECINSTR) != 0;
}

void inspect_code(const Elf_Data& data) {
  for_each_instruction(data, [](uint64_t low, uint64_t high) {
    const uint64_t opcode = low & 0xfff, special = (high >> 8) & 0xff;
    if (std::ranges::find(kReadsSpecial, opcode) == std::end(kReadsSpecial)) return;
    for (const SpecialRegisters& refused : kRefused) {
      if (special < refused.first || special > refused.last) continue;
      refuse_cubin(std::string("reads ") + refused.what + ", which has no honest use in kernels");
    }
  });
}

void inspect_stacks(const Elf_Data& data) {
  for_each_attribute(data, [](uint8_t attribute, const uint8_t* value, size_t size) {
    uint32_t bytes = 0;
    if (attribute != kFrameSize || size < 2 * sizeof bytes) return;
    std::memcpy(&bytes, value + sizeof bytes, sizeof bytes);
    if (bytes > kMostStackBytes) {
      refuse_cubin("gives every thread " + std::to_string(bytes) + " bytes of stack; at most " +
                   std::to_string(kMostStackBytes) + " are allowed: use a workspace instead");
    }
  });
}

// Sizes come from the cubin: their sum may exceed 64 bits.
uint64_t sum(uint64_t a, uint64_t b) {
  return __builtin_add_overflow(a, b, &a) ? std::numeric_limits<uint64_t>::max() : a;
}
}  // namespace

std::map<std::string, int64_t> kernels_of(std::string_view cubin) {
  std::map<std::string, int64_t> kernels;
  for_each_section(cubin, [&](Elf*, Elf_Scn* section, std::string_view name, const GElf_Shdr&) {
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr || name.substr(0, kInfoPrefix.size()) != kInfoPrefix) return;
    kernels[std::string(name.substr(kInfoPrefix.size()))] = count_parameters(*data);
  });
  return kernels;
}

// ptxas truncates a section's size to 32 bits; its symbols have the requested size. Uses the larger of both.
int64_t global_bytes(std::string_view cubin) {
  std::map<size_t, uint64_t> sections;  // of globals, by index
  for_each_section(cubin, [&](Elf*, Elf_Scn* section, std::string_view name, const GElf_Shdr& header) {
    if (name.substr(0, kGlobal.size()) == kGlobal) sections[elf_ndxscn(section)] = header.sh_size;
  });
  uint64_t by_symbol = 0;
  for_each_symbol(cubin, [&](const GElf_Sym& symbol, std::string_view) {
    if (sections.count(symbol.st_shndx) > 0) by_symbol = sum(by_symbol, symbol.st_size);
  });
  uint64_t by_section = 0;
  for (const auto& [index, bytes] : sections) by_section = sum(by_section, bytes);
  return static_cast<int64_t>(std::min<uint64_t>(std::max(by_symbol, by_section), std::numeric_limits<int64_t>::max()));
}

bool refers_to_variables(std::string_view cubin) {
  bool found = false;
  for_each_section(cubin, [&](Elf*, Elf_Scn* section, std::string_view, const GElf_Shdr& header) {
    const Elf_Data* data = is_code(header) ? elf_rawdata(section, nullptr) : nullptr;
    if (data == nullptr || data->d_buf == nullptr) return;
    for_each_instruction(*data, [&](uint64_t low, uint64_t) {
      const uint64_t form = low >> 9 & 7, bank = low >> 54 & 31;
      const bool constant = std::ranges::find(kConstantForms, form) != std::end(kConstantForms);
      found |= constant && bank == kAddressBank;
    });
  });
  return found;
}

void inspect_cubin(std::string_view cubin) {
  if (cubin.size() > kMostCubinBytes)
    refuse_cubin("takes " + std::to_string(cubin.size()) + " bytes; at most 64 MiB are allowed");
  require_cubin(cubin);
  if (const int64_t bytes = global_bytes(cubin); bytes > kMostGlobalBytes) {
    throw core::InputError("", "__device__ variables take " + std::to_string(bytes) + " bytes; at most " +
                                   std::to_string(kMostGlobalBytes) + " are allowed: use a workspace instead");
  }
  for_each_symbol(cubin, inspect_symbol);
  for_each_section(cubin, [](Elf*, Elf_Scn* section, std::string_view name, const GElf_Shdr& header) {
    const bool code = is_code(header);
    if (!code && name != kModuleInfo) return;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || (data->d_buf == nullptr && data->d_size > 0)) refuse_cubin("is damaged");
    if (code) inspect_code(*data);
    if (name == kModuleInfo) inspect_stacks(*data);
  });
}

}  // namespace sandbox::cuda::inspection
