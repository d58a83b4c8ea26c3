// For tests of the hip device without a GPU: a code object with the same source's host build behind it. Everything that
// reads the code object reads it as hiprtc made it; the test driver (runtime_fixture.cpp) executes the host build.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sandbox::hip::test_driver {

inline constexpr uint64_t kHostPart = 0x74726150'74736f48;  // "HostPart"

struct HostPart {
  uint64_t magic = kHostPart, bytes = 0;
};

// The size of an ELF file that ends with its section headers, as lld writes it.
inline size_t elf_bytes(const char* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
}

inline std::string joined(const std::string& code_object, std::string_view host_object) {
  const HostPart part{kHostPart, host_object.size()};
  return code_object + std::string(reinterpret_cast<const char*>(&part), sizeof part) + std::string(host_object);
}

// Empty when there is none.
inline std::string_view host_object_of(const char* image) {
  const char* at = image + elf_bytes(image);
  HostPart part;
  std::memcpy(&part, at, sizeof part);
  return part.magic == kHostPart ? std::string_view(at + sizeof part, part.bytes) : std::string_view();
}

}  // namespace sandbox::hip::test_driver
