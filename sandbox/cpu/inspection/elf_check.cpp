#include "sandbox/cpu/inspection/elf_check.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "core/text.h"
#include "sandbox/cpu/inspection/code_check.h"

namespace sandbox::cpu::inspection {
namespace {
constexpr uint64_t kMostBytes = uint64_t{1} << 30;
constexpr std::string_view kKernelPrefix = "__kw_kernel_";

// Undefined symbols in honest device code: our runtime, and the C library's arithmetic and memory functions.
constexpr std::string_view kAllowed[] = {"memcpy", "memset", "memmove", "memcmp", "__tls_get_addr"};
constexpr std::string_view kMathematics[] = {
    "sin",       "cos",     "tan",      "asin",      "acos",   "atan",      "atan2", "sinh",      "cosh",   "tanh",
    "asinh",     "acosh",   "atanh",    "exp",       "exp2",   "exp10",     "expm1", "log",       "log2",   "log10",
    "log1p",     "pow",     "sqrt",     "cbrt",      "hypot",  "erf",       "erfc",  "tgamma",    "lgamma", "fmod",
    "remainder", "remquo",  "rint",     "nearbyint", "round",  "roundeven", "floor", "ceil",      "trunc",  "fma",
    "fmax",      "fmin",    "fdim",     "ldexp",     "scalbn", "scalbln",   "logb",  "ilogb",     "frexp",  "modf",
    "sincos",    "j0",      "j1",       "jn",        "y0",     "y1",        "yn",    "nextafter", "lrint",  "llrint",
    "lround",    "llround", "copysign", "fabs"};
// CUDA device functions that this device lacks.
constexpr std::string_view kDeviceHeap[] = {"malloc",  "free",    "calloc", "_Znwm",   "_Znam", "_ZdlPv", "_ZdaPv",
                                            "_ZdlPvm", "_ZdaPvm", "printf", "vprintf", "puts",  "putchar"};
// The one function that may run at load time: the compilers' own registration of instrumented code.
constexpr std::string_view kSanitizerConstructors[] = {"_sub_I_00099_0", "tsan.module_ctor"};
constexpr std::string_view kTellsPlace = "__sanitizer_cov_trace_pc";  // shim/kw_abi.h

template <size_t n>
bool named_in(const std::string_view (&names)[n], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

bool is_allowed(std::string_view name, Build build) {
  name = name.substr(0, name.find('@'));  // without the version that the linker found
  if (name.starts_with("__kw_") || named_in(kAllowed, name) || named_in(kMathematics, name)) return true;
  if (build == Build::check && name.starts_with("__wrap_")) return true;
  return name.size() > 1 && name.back() == 'f' &&
         named_in(kMathematics, name.substr(0, name.size() - 1));  // float variants
}

[[noreturn]] void refuse(const std::string& what) { throw BinaryRefused(Rejection::forbidden, what); }

class Inspection {
 public:
  Inspection(int fd, Build build) : build_(build), elf_(elf_begin(fd, ELF_C_READ, nullptr), elf_end) {
    GElf_Ehdr header;
    if (!elf_ || gelf_getehdr(elf_.get(), &header) == nullptr || header.e_type != ET_DYN ||
        elf_getshdrstrndx(elf_.get(), &names_) != 0) {
      refuse("is no shared object");
    }
  }

  BinaryFacts run() {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) refuse("is a damaged shared object");
      inspect_size_and_kind(header);
      if ((header.sh_flags & SHF_EXECINSTR) != 0) take_code(section, header);
      if (header.sh_type == SHT_RELA) inspect_relocations(section, header);
      if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) inspect_symbols(section, header);
    }
    // The checking build's findings are unnamed data; a variable of the source has a name.
    if (state_bytes_ > 0 && !(build_ == Build::check && state_name_.empty() && bss_bytes_ == 0)) {
      refuse("the variable " + (state_name_.empty() ? "of the module" : state_name_) + " keeps state between launches");
    }
    inspect_constructors();
    inspect_segments();
    if (const auto refused = refuse_code(code_, table_)) refuse(*refused);
    if (tells_place_) facts_.covered = returns_of_calls(code_, *tells_place_);
    std::ranges::sort(facts_.shared,
                      [](const SharedVariable& a, const SharedVariable& b) { return a.offset < b.offset; });
    return std::move(facts_);
  }

 private:
  std::string section_name(const GElf_Shdr& header) const {
    const char* name = elf_strptr(elf_.get(), names_, header.sh_name);
    return name != nullptr ? name : "";
  }

  void inspect_size_and_kind(const GElf_Shdr& header) {
    if (header.sh_size > kMostBytes) refuse("asks for " + std::to_string(header.sh_size) + " bytes of static memory");
    const std::string name = section_name(header);
    const bool constructors = header.sh_type == SHT_INIT_ARRAY && build_ == Build::check;
    if (constructors) {
      constructors_ = header.sh_size;
      constructors_at_ = header.sh_addr;
      return;
    }
    if (header.sh_size == 0) return;
    for (std::string_view loader :
         {".init", ".preinit_array", ".fini", ".fini_array", ".ctors", ".dtors", ".init_array"}) {
      if (name == loader) refuse("holds code that runs when it is loaded (" + name + ")");
    }
    if ((header.sh_flags & SHF_WRITE) == 0 || (header.sh_flags & SHF_ALLOC) == 0) return;
    if (name == ".got" || name == ".got.plt") table_.push_back({header.sh_addr, header.sh_addr + header.sh_size});
    if ((header.sh_flags & SHF_TLS) != 0) {
      if (header.sh_type != SHT_NOBITS) refuse("gives a __shared__ variable an initial value");
      return;
    }
    const bool by_linker =
        name == ".dynamic" || name == ".got" || name == ".got.plt" || name.starts_with(".data.rel.ro");
    if (!by_linker) state_bytes_ += header.sh_size;
    if (!by_linker && header.sh_type == SHT_NOBITS) bss_bytes_ += header.sh_size;
  }

  void take_code(Elf_Scn* section, const GElf_Shdr& header) {
    const Elf_Data* data = header.sh_type == SHT_PROGBITS ? elf_rawdata(section, nullptr) : nullptr;
    if (data == nullptr || (data->d_buf == nullptr && data->d_size > 0)) refuse("is a damaged shared object");
    code_.push_back({header.sh_addr, static_cast<const uint8_t*>(data->d_buf), data->d_size,
                     section_name(header).starts_with(".plt")});
    if ((header.sh_flags & SHF_WRITE) != 0) refuse("holds code that it can write");
  }

  void inspect_relocations(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) return;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Rela relocation;
      if (gelf_getrela(data, static_cast<int>(i), &relocation) == nullptr) refuse("is a damaged shared object");
#if defined(__x86_64__)
      constexpr auto kIndirect = R_X86_64_IRELATIVE, kRelative = R_X86_64_RELATIVE;
#else
      constexpr auto kIndirect = R_AARCH64_IRELATIVE, kRelative = R_AARCH64_RELATIVE;
#endif
      const auto type = GELF_R_TYPE(relocation.r_info);
      if (type == kIndirect) refuse("holds code that runs when it is loaded (ifunc)");
      if (type == kRelative) relative_.push_back({relocation.r_offset, static_cast<uint64_t>(relocation.r_addend)});
    }
  }

  void inspect_symbols(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) return;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) refuse("is a damaged shared object");
      const char* raw = elf_strptr(elf_.get(), header.sh_link, symbol.st_name);
      inspect_symbol(symbol, raw != nullptr ? raw : "", header.sh_type == SHT_DYNSYM);
    }
  }

  void inspect_symbol(const GElf_Sym& symbol, const std::string& name, bool dynamic) {
    const auto type = GELF_ST_TYPE(symbol.st_info);
    const std::string shown = core::clean_line(name, 100);
    if (type == STT_GNU_IFUNC) refuse("holds code that runs when it is loaded (ifunc " + shown + ")");
    if (symbol.st_shndx == SHN_UNDEF) {
      if (name.starts_with("__kw_local_")) facts_.fills_locals = true;
      if (name.empty() || is_allowed(name, build_)) return;
      if (named_in(kDeviceHeap, name.substr(0, name.find('@')))) {
        throw BinaryRefused(Rejection::unsupported,
                            "the device heap and printf are unsupported on the cpu device (" + shown + ")");
      }
      refuse("calls " + shown + ", which is no part of the device language");
    }
    if (dynamic) {
      if (name.starts_with(kKernelPrefix)) facts_.kernels[name.substr(kKernelPrefix.size())] = parameters_of(symbol);
      return;
    }
    if (type == STT_TLS) {
      const bool guard = name.starts_with("_ZGV");
      facts_.shared.push_back({guard ? kConstructionGuard : name, symbol.st_value, symbol.st_size});
      if (!guard && !name.starts_with("__kw_") && name.find("__kw_pad_") == std::string::npos) {
        facts_.static_shared_bytes += symbol.st_size;
      }
    }
    if (type == STT_FUNC && named_in(kSanitizerConstructors, name)) sanitizer_constructor_ = symbol.st_value;
    if (type == STT_FUNC && build_ == Build::cover && name == kTellsPlace) tells_place_ = symbol.st_value;
    if (type == STT_OBJECT && state_name_.empty() && in_writable_section(symbol)) state_name_ = shown;
  }

  // The first word of a kernel's descriptor (shim/kw_abi.h).
  int64_t parameters_of(const GElf_Sym& symbol) const {
    Elf_Scn* section = elf_getscn(elf_.get(), symbol.st_shndx);
    GElf_Shdr header;
    const Elf_Data* data = section != nullptr ? elf_rawdata(section, nullptr) : nullptr;
    if (data == nullptr || data->d_buf == nullptr || data->d_size < sizeof(uint32_t) ||
        gelf_getshdr(section, &header) == nullptr || symbol.st_value < header.sh_addr ||
        symbol.st_value - header.sh_addr > data->d_size - sizeof(uint32_t)) {
      refuse("is a damaged shared object");
    }
    uint32_t parameters = 0;
    std::memcpy(&parameters, static_cast<const char*>(data->d_buf) + (symbol.st_value - header.sh_addr),
                sizeof parameters);
    return parameters;
  }

  bool in_writable_section(const GElf_Sym& symbol) const {
    GElf_Shdr header;
    Elf_Scn* section = elf_getscn(elf_.get(), symbol.st_shndx);
    if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return false;
    const std::string name = section_name(header);
    return name == ".data" || name == ".bss" || name.starts_with(".data.") != name.starts_with(".data.rel.ro");
  }

  // In the checking build: at most the compiler's own.
  void inspect_constructors() const {
    if (constructors_ == 0) return;
    const auto slot =
        std::ranges::find_if(relative_, [&](const Relative& relative) { return relative.place == constructors_at_; });
    if (constructors_ != sizeof(uint64_t) || slot == relative_.end() || !sanitizer_constructor_ ||
        slot->target != *sanitizer_constructor_) {
      refuse("holds code that runs when it is loaded (.init_array)");
    }
  }

  void inspect_segments() {
    size_t segments = 0;
    elf_getphdrnum(elf_.get(), &segments);
    for (size_t i = 0; i < segments; ++i) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf_.get(), static_cast<int>(i), &segment) == nullptr) refuse("is a damaged shared object");
      if (segment.p_type == PT_TLS) facts_.shared_segment_bytes = segment.p_memsz;
      if (segment.p_memsz > kMostBytes)
        refuse("asks for " + std::to_string(segment.p_memsz) + " bytes of static memory");
      const bool executable = (segment.p_flags & PF_X) != 0;
      if (executable && (segment.p_flags & PF_W) != 0) refuse("holds code that it can write");
      if (executable && segment.p_type == PT_LOAD) require_looked_at(segment);
    }
  }

  // An executable segment holds only the sections that were inspected.
  void require_looked_at(const GElf_Phdr& segment) const {
    uint64_t bytes = 0;
    for (const CodeSection& section : code_) {
      if (section.address >= segment.p_vaddr && section.address + section.size <= segment.p_vaddr + segment.p_memsz) {
        bytes += section.size;
      }
    }
    constexpr uint64_t kMostPadding = 256;  // between sections
    if (bytes > segment.p_memsz || segment.p_memsz - bytes > kMostPadding) refuse("holds code outside of its sections");
  }

  struct Relative {
    uint64_t place, target;
  };

  Build build_;
  std::unique_ptr<Elf, int (*)(Elf*)> elf_;
  size_t names_ = 0;
  BinaryFacts facts_;
  uint64_t state_bytes_ = 0, bss_bytes_ = 0;  // of writable sections; of those without initial values
  std::string state_name_;
  uint64_t constructors_ = 0, constructors_at_ = 0;
  std::optional<uint64_t> sanitizer_constructor_, tells_place_;
  std::vector<Relative> relative_;
  std::vector<CodeSection> code_;
  std::vector<AddressRange> table_;  // the linker's: read-only once it is loaded
};
}  // namespace

BinaryFacts inspect_binary(int binary_fd, Build build) {
  elf_version(EV_CURRENT);
  return Inspection(binary_fd, build).run();
}

}  // namespace sandbox::cpu::inspection
