#include "sandbox/cuda/cubin.h"

#include <gelf.h>

#include <cstring>
#include <memory>

#include "core/error.h"

namespace sandbox::cuda {
namespace {
constexpr std::string_view kInfoPrefix = ".nv.info.";  // one such section for each entry point
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
}  // namespace

std::map<std::string, int64_t> kernels_of(std::string_view cubin) {
  elf_version(EV_CURRENT);
  std::string copy(cubin);  // libelf wants to write
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(copy.data(), copy.size()), elf_end);
  size_t names = 0;
  if (!elf || elf_getshdrstrndx(elf.get(), &names) != 0) throw core::InputError("", "the compiler gave no cubin");
  std::map<std::string, int64_t> kernels;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* raw = elf_strptr(elf.get(), names, header.sh_name);
    const std::string_view name = raw != nullptr ? raw : "";
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || name.substr(0, kInfoPrefix.size()) != kInfoPrefix) continue;
    kernels[std::string(name.substr(kInfoPrefix.size()))] = count_parameters(*data);
  }
  return kernels;
}

}  // namespace sandbox::cuda
