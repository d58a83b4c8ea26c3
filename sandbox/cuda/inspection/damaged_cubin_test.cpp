// Hand-made cubins that no compiler emits; needs no NVRTC.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "sandbox/cuda/inspection/cubin.h"

namespace sandbox::cuda::inspection {
namespace {
// One section of this name and type, without content in the file, and the names of sections.
std::string cubin_with(const std::string& name, uint32_t type, uint64_t flags) {
  const std::string names = std::string("\0.shstrtab\0", 11) + name + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = 190;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  std::vector<Elf64_Shdr> sections(3);
  const uint64_t end = sizeof header + sections.size() * sizeof(Elf64_Shdr);
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = end;
  sections[1].sh_size = names.size();
  sections[2].sh_name = 11;
  sections[2].sh_type = type;
  sections[2].sh_flags = flags;
  sections[2].sh_offset = end;
  sections[2].sh_size = 4096;
  std::string cubin(end, '\0');
  std::memcpy(cubin.data(), &header, sizeof header);
  std::memcpy(cubin.data() + sizeof header, sections.data(), sections.size() * sizeof(Elf64_Shdr));
  return cubin + names;
}

TEST(DamagedCubin, SectionsThatClaimContentTheyHaveNot) {
  EXPECT_TRUE(kernels_of(cubin_with(".nv.info.k", SHT_NOBITS, 0)).empty());
  EXPECT_THROW(inspect_cubin(cubin_with(".nv.info", SHT_NOBITS, 0)), core::InputError);
  EXPECT_EQ(global_bytes(cubin_with(".nv.global", SHT_NOBITS, SHF_WRITE)), 4096);
}

}  // namespace
}  // namespace sandbox::cuda::inspection
