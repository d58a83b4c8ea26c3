#include "sandbox/cuda/cubin.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "core/error.h"

namespace sandbox::cuda {
namespace {
constexpr std::string_view kInfoPrefix = ".nv.info.";  // one such section for each entry point
constexpr std::string_view kGlobal = ".nv.global";     // and .nv.global.init
constexpr uint8_t kFormatSized = 4;                    // the value is a size, and that many bytes follow
constexpr uint8_t kParameterInfo = 0x17;               // EIATTR_KPARAM_INFO, one for each parameter

int64_t count_parameters(const Elf_Data& data) {
  const auto* bytes = static_cast<const uint8_t*>(data.d_buf);
  int64_t parameters = 0;
  for (size_t at = 0; at + 4 <= data.d_size;) {
    uint16_t size = 0;
    std::memcpy(&size, bytes + at + 2, sizeof size);
    if (bytes[at + 1] == kParameterInfo) ++parameters;
    at += 4 + (bytes[at] == kFormatSized ? size : 0u);
  }
  return parameters;
}

// Calls visit(section, name, header) for every section.
template <typename Visit>
void for_each_section(std::string_view cubin, Visit visit) {
  elf_version(EV_CURRENT);
  std::string copy(cubin);  // libelf wants to write
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(copy.data(), copy.size()), elf_end);
  size_t names = 0;
  if (!elf || elf_getshdrstrndx(elf.get(), &names) != 0) throw core::InputError("", "the compiler gave no cubin");
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf.get(), names, header.sh_name);
    visit(section, std::string_view(name != nullptr ? name : ""), header);
  }
}

// Sizes are the cubin's word: they may add up to more than 64 bits.
uint64_t sum(uint64_t a, uint64_t b) {
  return __builtin_add_overflow(a, b, &a) ? std::numeric_limits<uint64_t>::max() : a;
}
}  // namespace

std::map<std::string, int64_t> kernels_of(std::string_view cubin) {
  std::map<std::string, int64_t> kernels;
  for_each_section(cubin, [&](Elf_Scn* section, std::string_view name, const GElf_Shdr&) {
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || name.substr(0, kInfoPrefix.size()) != kInfoPrefix) return;
    kernels[std::string(name.substr(kInfoPrefix.size()))] = count_parameters(*data);
  });
  return kernels;
}

// ptxas cuts the size of a section to 32 bits; its symbols tell what was asked for. The larger of both counts.
int64_t global_bytes(std::string_view cubin) {
  std::map<size_t, uint64_t> sections;  // of globals, by index
  for_each_section(cubin, [&](Elf_Scn* section, std::string_view name, const GElf_Shdr& header) {
    if (name.substr(0, kGlobal.size()) == kGlobal) sections[elf_ndxscn(section)] = header.sh_size;
  });
  uint64_t by_symbol = 0;
  for_each_section(cubin, [&](Elf_Scn* section, std::string_view, const GElf_Shdr& header) {
    Elf_Data* data = header.sh_type == SHT_SYMTAB ? elf_getdata(section, nullptr) : nullptr;
    GElf_Sym symbol;
    for (int i = 0; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      if (sections.count(symbol.st_shndx) > 0) by_symbol = sum(by_symbol, symbol.st_size);
    }
  });
  uint64_t by_section = 0;
  for (const auto& [index, bytes] : sections) by_section = sum(by_section, bytes);
  return static_cast<int64_t>(std::min<uint64_t>(std::max(by_symbol, by_section), std::numeric_limits<int64_t>::max()));
}

}  // namespace sandbox::cuda
