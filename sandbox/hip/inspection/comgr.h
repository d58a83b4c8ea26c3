// AMD's code object manager, opened at run time: the architectures that the installed ROCm knows, and its disassembler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sandbox::hip::inspection {

class Comgr {
 public:
  // Throws core::SystemError with the remedy if there is none.
  static Comgr open();

  // "gfx90a", in the library's order.
  std::vector<std::string> architectures() const;
  // Throws core::SystemError for an architecture that this ROCm does not know: hiprtc would abort the process.
  void require_architecture(const std::string& architecture) const;

  // Calls visit(offset, bytes, text) for every instruction of `code`. Throws core::InputError for bytes that are none.
  using Visit = std::function<void(size_t offset, size_t bytes, std::string_view text)>;
  void disassemble(const std::string& architecture, std::string_view code, const Visit& visit) const;

 private:
  struct Disassembler {
    uint64_t handle = 0;
  };
  using Read = uint64_t (*)(uint64_t from, char* to, uint64_t size, void* user);
  using Print = void (*)(const char* text, void* user);
  using PrintAddress = void (*)(uint64_t address, void* user);

  int (*isa_count_)(size_t*);
  int (*isa_name_)(size_t, const char**);
  int (*create_)(const char*, Read, Print, PrintAddress, Disassembler*);
  int (*destroy_)(Disassembler);
  int (*disassemble_)(Disassembler, uint64_t, void*, uint64_t*);
};

}  // namespace sandbox::hip::inspection
