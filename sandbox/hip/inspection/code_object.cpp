#include "sandbox/hip/inspection/code_object.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/gpu/elf_sections.h"
#include "sandbox/hip/inspection/machine_code.h"

namespace sandbox::hip::inspection {
namespace {
using nlohmann::json;
constexpr const char* kNoCodeObject = "the binary is no AMD code object";
constexpr uint16_t kMachine = 224;      // EM_AMDGPU
constexpr uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA
constexpr uint64_t kPage = 4096;

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr uint64_t kMostLoadedBytes = uint64_t{1} << 30;
constexpr size_t kMostNoteBytes = size_t{1} << 20;
constexpr int kMostDepth = 12;                          // of the note; compilers reach 5
constexpr int64_t kMostScratchBytes = (16 << 10) + 16;  // as kw_scrub_local_16384 has (run_kernels.cu)

// Hidden arguments that a kernel may have besides its own.
constexpr std::string_view kHonestHidden[] = {
    "hidden_none",          "hidden_global_offset_x",  "hidden_global_offset_y",   "hidden_global_offset_z",
    "hidden_block_count_x", "hidden_block_count_y",    "hidden_block_count_z",     "hidden_group_size_x",
    "hidden_group_size_y",  "hidden_group_size_z",     "hidden_remainder_x",       "hidden_remainder_y",
    "hidden_remainder_z",   "hidden_grid_dims",        "hidden_private_base",      "hidden_shared_base",
    "hidden_queue_ptr",     "hidden_dynamic_lds_size", "hidden_multigrid_sync_arg"};  // null but for a cooperative
                                                                                      // launch
constexpr std::string_view kHonestArguments[] = {"by_value", "global_buffer"};

// The kernel descriptor: 64 bytes, named <kernel>.kd.
struct Descriptor {
  uint32_t shared_bytes, scratch_bytes, argument_bytes, reserved;
  int64_t entry;  // of the code, from the descriptor
  uint8_t reserved_too[20];
  uint32_t resources_3, resources_1, resources_2;
  uint16_t properties;
  uint8_t rest[6];
};
static_assert(sizeof(Descriptor) == 64);
constexpr uint16_t kDispatchId = 1 << 4;     // a register with the number of the launch
constexpr uint16_t kDynamicStack = 1 << 11;  // scratch that only the running kernel knows

[[noreturn]] void refuse_object(const std::string& what) { throw core::InputError("", "the binary " + what); }
std::string shown(std::string_view name) { return core::clean_line(std::string(name), 100); }

struct Segment {
  GElf_Phdr header;
  std::string_view bytes;  // of the file
  bool is(GElf_Word flag) const { return (header.p_flags & flag) != 0; }
  bool holds(uint64_t address, uint64_t size) const {
    return address >= header.p_vaddr && size <= bytes.size() && address - header.p_vaddr <= bytes.size() - size;
  }
};

// The segments of one type.
std::vector<Segment> segments_of(std::string_view object, GElf_Word type) {
  std::vector<Segment> segments;
  gpu::with_elf(object, kNoCodeObject, [&](Elf* elf, const GElf_Ehdr& file) {
    if (file.e_machine != kMachine || file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_type != ET_DYN) {
      throw core::InputError("", kNoCodeObject);
    }
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; ++i) {
      Segment segment{};
      if (gelf_getphdr(elf, static_cast<int>(i), &segment.header) == nullptr) refuse_object("is damaged");
      const GElf_Phdr& header = segment.header;
      if (header.p_type != type) continue;
      if (header.p_offset > object.size() || header.p_filesz > object.size() - header.p_offset) {
        refuse_object("is damaged");
      }
      segment.bytes = object.substr(header.p_offset, header.p_filesz);
      segments.push_back(segment);
    }
  });
  return segments;
}

// nlohmann's parser calls itself for each level.
struct DepthGuard : json::json_sax_t {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const json::string_t&) override { return true; }
  bool string(json::string_t&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth < kMostDepth; }
  bool key(json::string_t&) override { return true; }
  bool end_object() override { return --depth, true; }
  bool start_array(std::size_t) override { return ++depth < kMostDepth; }
  bool end_array() override { return --depth, true; }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }
  int depth = 0;
};

uint32_t word_at(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

json metadata_of(std::string_view object) {
  if (object.size() > kMostBytes) {
    refuse_object("takes " + std::to_string(object.size()) + " bytes; at most 64 MiB are allowed");
  }
  for (const Segment& segment : segments_of(object, PT_NOTE)) {
    const std::string_view notes = segment.bytes;
    const auto padded = [](uint64_t bytes) { return (bytes + 3) & ~uint64_t{3}; };
    for (size_t at = 0; at + 12 <= notes.size();) {
      const uint64_t name = word_at(notes, at), size = word_at(notes, at + 4), begin = at + 12 + padded(name);
      if (begin > notes.size() || size > notes.size() - begin) break;
      if (word_at(notes, at + 8) == kMetadataNote && notes.substr(at + 12, 6) == "AMDGPU" && size <= kMostNoteBytes) {
        const std::string_view text = notes.substr(begin, size);
        DepthGuard guard;
        if (!json::sax_parse(text.begin(), text.end(), &guard, json::input_format_t::msgpack)) break;
        json metadata = json::from_msgpack(text.begin(), text.end(), true, false);
        if (metadata.is_object() && metadata.contains("amdhsa.kernels") && metadata["amdhsa.kernels"].is_array()) {
          return metadata;
        }
      }
      at = begin + padded(size);
    }
  }
  throw core::InputError("", "the binary has no note about its kernels");
}

int64_t number_in(const json& kernel, const char* key) {
  const auto found = kernel.find(key);
  return found != kernel.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}
std::string text_in(const json& kernel, const char* key) {
  const auto found = kernel.find(key);
  return found != kernel.end() && found->is_string() ? found->get<std::string>() : "";
}

// Calls visit(name, kernel) for every kernel of the note.
template <typename Visit>
void for_each_kernel(const json& metadata, Visit visit) {
  for (const json& kernel : metadata["amdhsa.kernels"]) {
    if (!kernel.is_object() || text_in(kernel, ".name").empty()) refuse_object("has a damaged note about its kernels");
    visit(text_in(kernel, ".name"), kernel);
  }
}

void inspect_arguments(const std::string& name, const json& kernel) {
  if (!kernel.contains(".args")) return;
  for (const json& argument : kernel[".args"]) {
    const std::string kind = argument.is_object() ? text_in(argument, ".value_kind") : "";
    const auto is_one_of = [&](const auto& names) { return std::ranges::find(names, kind) != std::end(names); };
    if (is_one_of(kHonestArguments) || is_one_of(kHonestHidden)) continue;
    refuse_object("asks the runtime for " + (kind.empty() ? "something unknown" : shown(kind)) + " in " + shown(name) +
                  ": printf, assert, device heaps, textures and launches from kernels are not for kernels here");
  }
}

// Writable memory: the linker's table for the dynamic loader, and nothing of the kernel's.
void inspect_segments(std::string_view object) {
  const std::vector<Segment> loaded = segments_of(object, PT_LOAD), dynamic = segments_of(object, PT_DYNAMIC);
  uint64_t end = 0, total = 0;
  bool after_code = false;
  for (const Segment& segment : loaded) {
    const GElf_Phdr& header = segment.header;
    if (header.p_memsz < header.p_filesz || header.p_vaddr < end || header.p_vaddr > kMostLoadedBytes ||
        header.p_memsz > kMostLoadedBytes) {
      refuse_object("has segments that overlap or take more than 1 GiB");
    }
    end = header.p_vaddr + header.p_memsz;
    total += header.p_memsz;
    if (segment.is(PF_X) && (segment.is(PF_W) || header.p_memsz != header.p_filesz)) {
      refuse_object("holds code that it can write, or that is not in the file");
    }
    if (after_code && !segment.is(PF_X | PF_W)) refuse_object("has constants behind its code");
    after_code |= segment.is(PF_X);
    if (!segment.is(PF_W)) continue;
    const bool linkers = dynamic.size() == 1 && dynamic[0].header.p_vaddr == header.p_vaddr &&
                         header.p_memsz < dynamic[0].header.p_memsz + kPage &&
                         header.p_filesz == dynamic[0].header.p_filesz;
    if (linkers) continue;
    std::string name = "a variable";
    gpu::for_each_symbol(object, SHT_SYMTAB, kNoCodeObject, [&](const GElf_Sym& symbol, std::string_view of) {
      const bool inside = symbol.st_value >= header.p_vaddr && symbol.st_value < end;
      if (inside && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT) name = "the variable " + shown(of);
    });
    refuse_object("holds " + name +
                  ", which can be written and would outlast a launch: make it const, or use a workspace");
  }
  if (total > kMostLoadedBytes) refuse_object("takes more than 1 GiB when loaded: use a workspace instead");
}

void inspect_links(std::string_view object) {
  gpu::for_each_section(object, kNoCodeObject, [](Elf*, Elf_Scn*, std::string_view, const GElf_Shdr& header) {
    if ((header.sh_type == SHT_REL || header.sh_type == SHT_RELA) && header.sh_size > 0) {
      refuse_object("holds addresses that are only known when it is loaded: make no tables of pointers");
    }
  });
  for (const GElf_Word table : {SHT_SYMTAB, SHT_DYNSYM}) {
    gpu::for_each_symbol(object, table, kNoCodeObject, [](const GElf_Sym& symbol, std::string_view name) {
      if (symbol.st_shndx == SHN_UNDEF && !name.empty()) {
        refuse_object("uses " + shown(name) + ", which the solution does not define");
      }
    });
  }
}

// The code of the object, with the facts of each executable segment.
std::vector<std::pair<Segment, CodeFacts>> inspect_all_code(std::string_view object, const std::string& architecture,
                                                            const Comgr& comgr) {
  std::vector<std::pair<Segment, CodeFacts>> all;
  for (const Segment& segment : segments_of(object, PT_LOAD)) {
    if (segment.is(PF_X)) all.emplace_back(segment, inspect_code(segment.bytes, architecture, comgr));
  }
  return all;
}

std::optional<Descriptor> descriptor_at(const std::vector<Segment>& loaded, uint64_t address) {
  for (const Segment& segment : loaded) {
    if (segment.is(PF_X | PF_W) || !segment.holds(address, sizeof(Descriptor))) continue;
    Descriptor descriptor;
    std::memcpy(&descriptor, segment.bytes.data() + (address - segment.header.p_vaddr), sizeof descriptor);
    return descriptor;
  }
  return std::nullopt;
}

// The hardware follows the descriptor, and the runtime the note.
void inspect_descriptor(const std::string& name, const json& kernel, const Descriptor& descriptor) {
  if (descriptor.shared_bytes != static_cast<uint64_t>(number_in(kernel, ".group_segment_fixed_size")) ||
      descriptor.scratch_bytes != static_cast<uint64_t>(number_in(kernel, ".private_segment_fixed_size"))) {
    refuse_object("declares other memory for " + shown(name) + " than it uses");
  }
  if (descriptor.scratch_bytes > kMostScratchBytes) {
    refuse_object("gives every thread of " + shown(name) + " " + std::to_string(descriptor.scratch_bytes) +
                  " bytes of scratch; at most " + std::to_string(kMostScratchBytes) +
                  " are allowed: use a workspace instead");
  }
  const auto dynamic = kernel.find(".uses_dynamic_stack");
  const bool noted = dynamic != kernel.end() && dynamic->is_boolean() && dynamic->get<bool>();
  if (noted || (descriptor.properties & kDynamicStack) != 0) {
    refuse_object("needs scratch in " + shown(name) +
                  " whose size only the running kernel knows: use no recursion and no arrays of variable length");
  }
  if ((descriptor.properties & kDispatchId) != 0) {
    refuse_object("asks for the number of the launch in " + shown(name) + ", which has no honest use in kernels");
  }
}
}  // namespace

std::map<std::string, KernelResources> resources_of(std::string_view object) {
  std::map<std::string, KernelResources> all;
  for_each_kernel(metadata_of(object), [&](const std::string& name, const json& kernel) {
    KernelResources& of = all[name];
    if (kernel.contains(".args")) {
      of.parameters = std::ranges::count_if(kernel[".args"], [](const json& argument) {
        return argument.is_object() && !text_in(argument, ".value_kind").starts_with("hidden_");
      });
    }
    of.vector_registers = number_in(kernel, ".vgpr_count");
    of.accumulation_registers = number_in(kernel, ".agpr_count");
    of.scalar_registers = number_in(kernel, ".sgpr_count");
    of.shared_bytes = number_in(kernel, ".group_segment_fixed_size");
    of.scratch_bytes = number_in(kernel, ".private_segment_fixed_size");
    of.vector_spills = number_in(kernel, ".vgpr_spill_count");
    of.scalar_spills = number_in(kernel, ".sgpr_spill_count");
    of.wave = number_in(kernel, ".wavefront_size");
    of.most_threads = number_in(kernel, ".max_flat_workgroup_size");
  });
  return all;
}

std::map<std::string, int64_t> kernels_of(std::string_view object) {
  std::map<std::string, int64_t> kernels;
  for (const auto& [name, resources] : resources_of(object)) kernels[name] = resources.parameters;
  return kernels;
}

bool refers_to_variables(std::string_view object, const std::string& architecture, const Comgr& comgr) {
  return std::ranges::any_of(inspect_all_code(object, architecture, comgr),
                             [](const auto& segment) { return segment.second.refers_to_itself; });
}

void inspect_code_object(std::string_view object, const std::string& architecture, const Comgr& comgr) {
  const json metadata = metadata_of(object);
  const std::string target = text_in(metadata, "amdhsa.target");
  const size_t mark = target.rfind("--");
  if (mark == std::string::npos || target.substr(mark + 2, target.find(':') - mark - 2) != architecture) {
    refuse_object("is for " + shown(target) + " and not for " + architecture);
  }
  inspect_segments(object);
  inspect_links(object);
  const auto code = inspect_all_code(object, architecture, comgr);
  const std::vector<Segment> loaded = segments_of(object, PT_LOAD);
  std::map<std::string, uint64_t> symbols;
  gpu::for_each_symbol(object, SHT_DYNSYM, kNoCodeObject, [&](const GElf_Sym& symbol, std::string_view name) {
    if (!symbols.emplace(name, symbol.st_value).second && !name.empty())
      refuse_object("defines " + shown(name) + " twice");
  });
  std::set<uint64_t> described;
  for_each_kernel(metadata, [&](const std::string& name, const json& kernel) {
    inspect_arguments(name, kernel);
    const auto symbol = symbols.find(name + ".kd");
    const auto descriptor =
        symbol != symbols.end() ? descriptor_at(loaded, symbol->second) : std::optional<Descriptor>();
    if (text_in(kernel, ".symbol") != name + ".kd" || !descriptor) refuse_object("does not describe " + shown(name));
    inspect_descriptor(name, kernel, *descriptor);
    const uint64_t entry = symbol->second + static_cast<uint64_t>(descriptor->entry);
    if (!std::ranges::any_of(code, [&](const auto& segment) {
          return segment.first.holds(entry, 4) && segment.second.begins.count(entry - segment.first.header.p_vaddr) > 0;
        })) {
      refuse_object("begins " + shown(name) + " where no instruction begins");
    }
    described.insert(symbol->second);
  });
  for (const auto& [name, address] : symbols) {
    if (name.ends_with(".kd") && described.count(address) == 0) {
      refuse_object("has the kernel " + shown(name) + ", which its note does not mention");
    }
  }
}

}  // namespace sandbox::hip::inspection
