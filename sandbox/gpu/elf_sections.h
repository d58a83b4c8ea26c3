// Visits the sections and symbols of an ELF file in memory, from whatever source. Whatever is damaged is left out.
#pragma once

#include <gelf.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"

namespace sandbox::gpu {

// Calls visit(Elf*) with the whole file. Throws core::InputError with the sentence `otherwise` if it is no ELF file.
template <typename Visit>
void with_elf(std::string_view bytes, const std::string& otherwise, Visit visit) {
  elf_version(EV_CURRENT);
  std::string copy(bytes);  // libelf wants writable memory
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(copy.data(), copy.size()), elf_end);
  GElf_Ehdr header;
  if (!elf || gelf_getehdr(elf.get(), &header) == nullptr) throw core::InputError("", otherwise);
  visit(elf.get(), header);
}

// Calls visit(elf, section, name, header) for every section. Throws as above, also without a table of names.
template <typename Visit>
void for_each_section(std::string_view bytes, const std::string& otherwise, Visit visit) {
  with_elf(bytes, otherwise, [&](Elf* elf, const GElf_Ehdr&) {
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) throw core::InputError("", otherwise);
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      const char* name = elf_strptr(elf, names, header.sh_name);
      visit(elf, section, std::string_view(name != nullptr ? name : ""), header);
    }
  });
}

// Calls visit(symbol, name) for every symbol of the tables of this type: SHT_SYMTAB, SHT_DYNSYM.
template <typename Visit>
void for_each_symbol(std::string_view bytes, GElf_Word table, const std::string& otherwise, Visit visit) {
  for_each_section(bytes, otherwise, [&](Elf* elf, Elf_Scn* section, std::string_view, const GElf_Shdr& header) {
    Elf_Data* data = header.sh_type == table ? elf_getdata(section, nullptr) : nullptr;
    GElf_Sym symbol;
    for (int i = 0; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      visit(symbol, std::string_view(name != nullptr ? name : ""));
    }
  });
}

}  // namespace sandbox::gpu
