#include "sandbox/cpu/inspection/elf_check.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::inspection {
namespace {
using testing::ElementsAre;

TEST(ElfCheck, FactsOfAnHonestBinary) {
  const Built binary = test::built(
      "extern \"C\" __global__ void a(float* x) { __shared__ float s[8]; extern __shared__ int d[]; s[threadIdx.x] = "
      "d[0]; "
      "__syncthreads(); x[0] = s[1]; }\nextern \"C\" __global__ void b() {}\n");
  const BinaryFacts facts = inspect_binary(binary.binary.get(), Build::fast);
  EXPECT_THAT(facts.kernels,
              testing::UnorderedElementsAre(testing::Pair("a", testing::Ge(0)), testing::Pair("b", testing::Ge(0))));
  EXPECT_EQ(facts.static_shared_bytes, 32u);
  EXPECT_EQ(facts.shared.size(), 3u);  // with the gap
  EXPECT_GE(facts.shared_segment_bytes, 233472u + 32u);
}

TEST(ElfCheck, GapsCostNothing) {
  const Built binary = test::built(
      "extern \"C\" __global__ void a(float* x, int i) { __shared__ float s[8], t[1]; s[threadIdx.x] = t[i] = 1; "
      "__syncthreads(); x[0] = s[i] + t[i]; }",
      Build::check);
  const BinaryFacts facts = inspect_binary(binary.binary.get(), Build::check);
  EXPECT_EQ(facts.static_shared_bytes, 36u);
  EXPECT_GE(facts.shared_segment_bytes, 36u + 128u);
  // The compiler's own constructor is only let through where it belongs.
  EXPECT_THROW(inspect_binary(binary.binary.get(), Build::fast), BinaryRefused);
}

TEST(ElfCheck, RefusesWhatIsNoSharedObject) {
  for (const std::string& bytes : {std::string(), std::string("MZ"),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string(4096, '\0')}) {
    const core::UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
    ASSERT_EQ(::write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    EXPECT_THROW(inspect_binary(file.get(), Build::fast), BinaryRefused);
  }
}

TEST(ElfCheck, DamageAnywhereIsRefusedOrHarmless) {
  const Built binary = test::built("extern \"C\" __global__ void a(float* x) { x[0] = 1; }");
  std::string bytes(binary.binary_bytes, '\0');
  ASSERT_EQ(::pread(binary.binary.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  int refused = 0;
  for (size_t at = 0; at < bytes.size(); at += 37) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(~damaged[at]);
    const core::UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
    ASSERT_EQ(::write(file.get(), damaged.data(), damaged.size()), static_cast<ssize_t>(damaged.size()));
    try {
      EXPECT_LE(inspect_binary(file.get(), Build::fast).kernels.size(), 1u);
    } catch (const BinaryRefused&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

// The word that tells a kernel's parameters was read beyond the end of a section of fewer than four bytes.
TEST(ElfCheck, DescriptorsStandInTheirSection) {
  const Built binary = test::built("extern \"C\" __global__ void a(float* x) { x[0] = 1; }");
  std::string bytes(binary.binary_bytes, '\0');
  ASSERT_EQ(::pread(binary.binary.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto section = [&](size_t index) {
    return reinterpret_cast<Elf64_Shdr*>(bytes.data() + header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  size_t cut = 0;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    if (section(i)->sh_type != SHT_DYNSYM) continue;
    const char* names = bytes.data() + section(section(i)->sh_link)->sh_offset;
    for (size_t at = 0; at < section(i)->sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, bytes.data() + section(i)->sh_offset + at, sizeof symbol);
      if (std::string_view(names + symbol.st_name) == "__kw_kernel_a") cut = symbol.st_shndx;
    }
  }
  ASSERT_NE(cut, 0u);
  section(cut)->sh_size = 2;
  const core::UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_THROW(inspect_binary(file.get(), Build::fast), BinaryRefused);
}

TEST(ElfCheck, LoadingGoesThroughIt) {
  const Built binary = test::built("extern \"C\" __global__ void a(float* x) { x[0] = 1; }", Build::check);
  EXPECT_THROW(runtime::Module::load(binary.binary.get(), Build::fast), core::InputError);
}

}  // namespace
}  // namespace sandbox::cpu::inspection
