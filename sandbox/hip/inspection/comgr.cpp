#include "sandbox/hip/inspection/comgr.h"

#include <algorithm>
#include <cstring>

#include "core/dynamic_library.h"
#include "core/error.h"
#include "core/text.h"

namespace sandbox::hip::inspection {
namespace {
constexpr std::string_view kTarget = "amdgcn-amd-amdhsa--";

struct Reading {
  std::string_view code;
  std::string text;  // of the last instruction
};

uint64_t read_code(uint64_t from, char* to, uint64_t size, void* user) {
  const std::string_view code = static_cast<Reading*>(user)->code;
  if (from >= code.size()) return 0;
  size = std::min<uint64_t>(size, code.size() - from);
  std::memcpy(to, code.data() + from, size);
  return size;
}
void keep_text(const char* text, void* user) { static_cast<Reading*>(user)->text = text; }
void ignore_address(uint64_t, void*) {}
}  // namespace

Comgr Comgr::open() {
  static const core::DynamicLibrary library(
      {"libamd_comgr.so.3", "libamd_comgr.so.2", "/opt/rocm/lib/libamd_comgr.so.3", "/opt/rocm/lib/libamd_comgr.so.2"});
  if (!library) {
    throw core::SystemError(
        "AMD's code object manager (libamd_comgr.so) is not found: install ROCm, or Debian's packages libamdhip64-dev, "
        "libhiprtc-builtins5 and libamd-comgr2");
  }
  Comgr comgr;
  const std::string name = "this libamd_comgr";
  library.take(comgr.isa_count_, "amd_comgr_get_isa_count", name);
  library.take(comgr.isa_name_, "amd_comgr_get_isa_name", name);
  library.take(comgr.create_, "amd_comgr_create_disassembly_info", name);
  library.take(comgr.destroy_, "amd_comgr_destroy_disassembly_info", name);
  library.take(comgr.disassemble_, "amd_comgr_disassemble_instruction", name);
  return comgr;
}

std::vector<std::string> Comgr::architectures() const {
  size_t count = 0;
  std::vector<std::string> names;
  if (isa_count_(&count) != 0) throw core::SystemError("libamd_comgr does not list its architectures");
  for (size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    if (isa_name_(i, &name) != 0 || std::strlen(name) <= kTarget.size()) continue;
    names.emplace_back(name + kTarget.size());
  }
  return names;
}

void Comgr::require_architecture(const std::string& architecture) const {
  const std::vector<std::string> known = architectures();
  if (std::ranges::find(known, architecture) != known.end()) return;
  throw core::SystemError("this ROCm does not know " + architecture + "; it knows " + core::join(known, ", "));
}

void Comgr::disassemble(const std::string& architecture, std::string_view code, const Visit& visit) const {
  Disassembler disassembler;
  if (create_((std::string(kTarget) + architecture).c_str(), read_code, keep_text, ignore_address, &disassembler) !=
      0) {
    throw core::SystemError("libamd_comgr does not disassemble code for " + architecture);
  }
  const auto destroy = [&](Disassembler* used) { destroy_(*used); };
  const std::unique_ptr<Disassembler, decltype(destroy)> used(&disassembler, destroy);
  Reading reading{code, ""};
  for (size_t at = 0; at < code.size();) {
    uint64_t bytes = 0;
    reading.text.clear();
    if (disassemble_(disassembler, at, &reading, &bytes) != 0 || bytes == 0 || bytes > code.size() - at) {
      throw core::InputError("", "the binary holds bytes that are no instructions among its code");
    }
    visit(at, bytes, reading.text);
    at += bytes;
  }
}

}  // namespace sandbox::hip::inspection
