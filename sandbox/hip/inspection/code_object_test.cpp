// Inspection of hiprtc's code objects: hostile ones and their honest twins. Needs hiprtc, but no GPU.
#ifdef KW_HAVE_HIPRTC
#include "sandbox/hip/inspection/code_object.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "core/error.h"
#include "sandbox/hip/compiler/hiprtc_fixture.h"

namespace sandbox::hip::inspection {
namespace {
using compiler::test::comgr;
using compiler::test::raw_object;
using testing::HasSubstr;

std::string refused(const std::string& object, const std::string& architecture = "gfx90a") {
  try {
    inspect_code_object(object, architecture, comgr());
    return "";
  } catch (const core::InputError& error) {
    return error.problem();
  }
}

const std::string kHead = "extern \"C\" __global__ void k(float* y, const float* x, int i) { ";

TEST(CodeObject, NamesItsKernelsWithTheirResources) {
  const auto all = resources_of(raw_object(
      "extern \"C\" __global__ void a() {}\nextern \"C\" __global__ void __launch_bounds__(128) b(float* x, int n) { "
      "__shared__ double s[8]; s[threadIdx.x & 7] = x[n]; __syncthreads(); x[n] = s[n & 7]; }\n"));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at("a").parameters, 0);
  EXPECT_EQ(all.at("b").parameters, 2);
  EXPECT_EQ(all.at("b").shared_bytes, 64);
  EXPECT_EQ(all.at("b").wave, 64);
  EXPECT_EQ(all.at("b").most_threads, 128);
  EXPECT_EQ(resources_of(raw_object(kHead + "y[0] = 1; }", "gfx1030")).at("k").wave, 32);
}

struct Case {
  const char *hostile, *message, *honest;  // the twin does the same kind of thing and is accepted
};

TEST(CodeObject, HostileOnesAreRefusedAndTheirTwinsAreNot) {
  const Case cases[] = {
      {"__device__ float kept = 0; extern \"C\" __global__ void k(float* y) { y[0] = kept++; }", "the variable kept",
       "__device__ const float kept = 3; extern \"C\" __global__ void k(float* y) { y[0] = kept; }"},
      {"__constant__ float table[4] = {1, 2, 3, 4}; extern \"C\" __global__ void k(float* y, int i) { y[0] = table[i]; "
       "}",
       "the variable table",
       "__device__ const float table[4] = {1, 2, 3, 4}; extern \"C\" __global__ void k(float* y, int i) { y[0] = "
       "table[i]; }"},
      {"extern \"C\" __global__ void k(float* y) { printf(\"%f\", y[0]); }", "the binary",
       "extern \"C\" __global__ void k(float* y) { assert(y[0] > 0); y[1] = 2; }"},
      {"extern \"C\" __global__ void k(float* y) { y[0] = clock64(); }", "reads a clock",
       "extern \"C\" __global__ void k(float* y) { __builtin_amdgcn_s_sleep(1); y[0] = 1; }"},
      {"extern \"C\" __global__ void k(float* y) { y[0] = wall_clock64(); }", "reads a clock",
       "extern \"C\" __global__ void k(float* y) { y[0] = blockIdx.x + gridDim.y; }"},
      {"extern \"C\" __global__ void k(unsigned* y) { y[0] = __smid(); }", "clocks and places",
       "extern \"C\" __global__ void k(unsigned* y) { y[0] = __lane_id(); }"},
      {"extern \"C\" __global__ void k(unsigned* y) { unsigned r; asm volatile(\"s_getreg_b32 %0, "
       "hwreg(HW_REG_HW_ID)\" "
       ": \"=s\"(r)); y[0] = r; }",
       "clocks and places",
       "extern \"C\" __global__ void k(float* y, int i) { __shared__ float s[64]; s[threadIdx.x] = y[i]; "
       "__syncthreads(); "
       "float* p = i > 3 ? s : y; y[0] = p[i]; }"},
      {"extern \"C\" __global__ void k(float* y, unsigned long at) { y[0] = ((float (*)(float))at)(y[1]); }",
       "through a register",
       "__device__ __noinline__ float twice(float x) { return x * 2; } extern \"C\" __global__ void k(float* y) { y[0] "
       "= "
       "twice(y[1]) + twice(y[2]); }"},
      {"__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } extern \"C\" __global__ void k(int* "
       "y) { "
       "y[0] = fib(y[1]); }",
       "through a register",
       "extern \"C\" __global__ void k(int* y, int i) { switch (i) { case 0: y[0] = 1; break; case 1: y[3] = 2; break; "
       "case 2: y[4] = y[5]; break; case 3: y[7] = 4; break; case 4: __syncthreads(); break; default: y[1] = 9; } }"},
      {"extern \"C\" __global__ void k(unsigned long* y) { asm volatile(\"s_setpc_b64 %0\" : : \"s\"(y[0])); }",
       "through a register", "extern \"C\" __global__ void k(int* y) { asm volatile(\"s_nop 1\"); y[0] = 1; }"},
      {"extern \"C\" __global__ void k(int* y) { asm volatile(\"s_sendmsg sendmsg(MSG_INTERRUPT)\"); y[0] = 1; }",
       "sends a message", "extern \"C\" __global__ void k(int* y) { if (y[0] > 3) __builtin_trap(); y[0] = 1; }"},
      {"extern \"C\" __global__ void k(unsigned* y) { unsigned r; asm volatile(\"s_mov_b32 %0, ttmp11\" : \"=s\"(r)); "
       "y[0] "
       "= r; }",
       "the register ttmp11",
       "extern \"C\" __global__ void k(unsigned* y) { unsigned r; asm volatile(\"s_mov_b32 %0, exec_lo\" : \"=s\"(r)); "
       "y[0] = r; }"},
      {"extern \"C\" __global__ void k(unsigned* y) { asm volatile(\"ds_add_u32 %0, %0 gds\" : : \"v\"(y[0])); }",
       "GDS",
       "extern \"C\" __global__ void k(unsigned* y) { __shared__ unsigned n; n = 0; __syncthreads(); atomicAdd(&n, "
       "1u); "
       "__syncthreads(); y[0] = n; }"},
      {"extern \"C\" __global__ void k(float* y, int i) { float big[5000]; for (int j = 0; j < 5000; ++j) big[j] = "
       "y[j]; "
       "y[0] = big[i]; }",
       "bytes of scratch; at most 16400",
       "extern \"C\" __global__ void k(float* y, int i) { float few[40]; for (int j = 0; j < 40; ++j) few[j] = y[j]; "
       "y[0] "
       "= few[i]; }"},
      {"__device__ char big[2ull << 30]; extern \"C\" __global__ void k(char* y, long i) { y[0] = big[i << 20]; }",
       "more than 1 GiB", "extern \"C\" __global__ void k(char* y, long i) { y[0] = y[i << 20]; }"},
      {"extern \"C\" __device__ float elsewhere(float); extern \"C\" __global__ void k(float* y) { y[0] = "
       "elsewhere(y[1]); }",
       "elsewhere", "extern \"C\" __global__ void k(float* y) { y[0] = sinf(y[1]) + erff(y[2]) + powf(y[3], y[4]); }"}};
  for (const Case& each : cases) {
    std::string of_hostile;
    try {
      of_hostile = refused(raw_object(each.hostile));
    } catch (const std::runtime_error& error) {  // refused by hiprtc's own linker
      of_hostile = error.what();
    }
    EXPECT_THAT(of_hostile, HasSubstr(each.message)) << each.hostile;
    for (const char* architecture : {"gfx906", "gfx90a", "gfx1030"}) {
      EXPECT_EQ(refused(raw_object(each.honest, architecture), architecture), "") << architecture << each.honest;
    }
  }
}

TEST(CodeObject, AddressesOfVariablesAreSeen) {
  const std::string table = "__device__ const float table[64] = {1, 2, 3};\n";
  EXPECT_TRUE(refers_to_variables(raw_object(table + kHead + "y[i] = table[i & 63]; }"), "gfx90a", comgr()));
  EXPECT_FALSE(refers_to_variables(raw_object(table + kHead + "y[i] = x[i] * 3 + sinf(x[1]); }"), "gfx90a", comgr()));
}

TEST(CodeObject, ItIsForTheArchitecture) {
  EXPECT_THAT(refused(raw_object(kHead + "y[0] = 1; }", "gfx906")), HasSubstr("and not for gfx90a"));
}

// Files that a compile worker in foreign hands might write: they say one thing and load another.
class Forged {
 public:
  explicit Forged(std::string bytes) : bytes(std::move(bytes)) {}
  Elf64_Phdr* segment(Elf64_Word type, Elf64_Word flags) {
    auto* header = reinterpret_cast<Elf64_Ehdr*>(bytes.data());
    for (int i = 0; i < header->e_phnum; ++i) {
      auto* found = reinterpret_cast<Elf64_Phdr*>(bytes.data() + header->e_phoff) + i;
      if (found->p_type == type && found->p_flags == flags) return found;
    }
    throw std::runtime_error("no such segment");
  }
  // The descriptor of k: the first thing of .rodata that is a symbol of 64 bytes.
  char* descriptor() {
    auto* header = reinterpret_cast<Elf64_Ehdr*>(bytes.data());
    auto* sections = reinterpret_cast<Elf64_Shdr*>(bytes.data() + header->e_shoff);
    for (int i = 0; i < header->e_shnum; ++i) {
      if (sections[i].sh_type != SHT_DYNSYM) continue;
      for (size_t at = 0; at < sections[i].sh_size; at += sizeof(Elf64_Sym)) {
        auto* symbol = reinterpret_cast<Elf64_Sym*>(bytes.data() + sections[i].sh_offset + at);
        if (symbol->st_size == 64) return bytes.data() + symbol->st_value;  // offsets there are addresses
      }
    }
    throw std::runtime_error("no descriptor");
  }
  std::string bytes;
};

TEST(CodeObject, ForgedOnesAreRefused) {
  const std::string whole =
      raw_object(kHead + "__shared__ float s[64]; s[threadIdx.x] = x[i]; __syncthreads(); y[i] = s[i]; }");
  ASSERT_EQ(refused(whole), "");
  const auto after = [&](const std::function<void(Forged&)>& change) {
    Forged forged(whole);
    change(forged);
    return refused(forged.bytes);
  };
  const auto set32 = [](char* at, uint32_t value) { std::memcpy(at, &value, sizeof value); };
  EXPECT_THAT(after([&](Forged& f) { set32(f.descriptor(), 512); }), HasSubstr("declares other memory"));
  EXPECT_THAT(after([&](Forged& f) { set32(f.descriptor() + 4, 64); }), HasSubstr("declares other memory"));
  EXPECT_THAT(after([&](Forged& f) { f.descriptor()[16] += 4; }), HasSubstr("where no instruction begins"));
  EXPECT_THAT(after([&](Forged& f) { f.descriptor()[57] |= 0x08; }), HasSubstr("only the running kernel knows"));
  EXPECT_THAT(after([&](Forged& f) { f.descriptor()[56] |= 0x10; }), HasSubstr("the number of the launch"));
  EXPECT_THAT(after([&](Forged& f) { f.segment(PT_LOAD, PF_R | PF_X)->p_flags |= PF_W; }), HasSubstr("it can write"));
  EXPECT_THAT(after([&](Forged& f) { f.segment(PT_LOAD, PF_R | PF_X)->p_memsz += 64; }), HasSubstr("not in the file"));
  EXPECT_THAT(after([&](Forged& f) { f.segment(PT_LOAD, PF_R | PF_X)->p_vaddr = 0; }), HasSubstr("overlap"));
  EXPECT_THAT(after([&](Forged& f) { f.segment(PT_LOAD, PF_R | PF_X)->p_flags = PF_R; }), HasSubstr("begins k where"));
  EXPECT_THAT(after([&](Forged& f) {
                Elf64_Phdr* linkers = f.segment(PT_LOAD, PF_R | PF_W);
                linkers->p_flags = PF_R;
              }),
              HasSubstr("constants behind its code"));
  EXPECT_THAT(after([&](Forged& f) { f.segment(PT_LOAD, PF_R | PF_W)->p_memsz += 1 << 20; }),
              HasSubstr("can be written"));
  EXPECT_THAT(after([&](Forged& f) { f.segment(PT_LOAD, PF_R)->p_offset = ~0ull; }), HasSubstr("damaged"));
  EXPECT_THAT(after([&](Forged& f) { f.bytes.replace(f.bytes.find("amdhsa.kernels"), 14, "amdhsa.kernelz"); }),
              HasSubstr("no note"));
  EXPECT_THAT(after([&](Forged& f) {
                const size_t at = f.bytes.find("global_buffer");
                f.bytes.replace(at, 13, "hidden_buffer");
              }),
              HasSubstr("asks the runtime for hidden_buffer"));
}

// nlohmann's parser calls itself for each level of the note.
TEST(CodeObject, ADeepNoteIsRefused) {
  Forged forged(raw_object(kHead + "y[0] = 1; }"));
  const Elf64_Phdr* note = forged.segment(PT_NOTE, PF_R);
  const size_t begin = note->p_offset + 12 + 8;
  std::memset(forged.bytes.data() + begin, 0x91, note->p_filesz - 20);
  EXPECT_THAT(refused(forged.bytes), HasSubstr("no note"));
}

TEST(CodeObject, DamageAnywhereIsRefusedOrHarmless) {
  const std::string whole = raw_object("__device__ const int t[3] = {1, 2, 3};\n" + kHead + "y[0] = t[i & 1]; }");
  EXPECT_EQ(refused(whole), "");
  int refusals = 0;
  for (size_t at = 0; at < whole.size(); at += 11) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    refusals += refused(damaged).empty() ? 0 : 1;
    refusals += refused(whole.substr(0, at)).empty() ? 0 : 1;
  }
  EXPECT_GT(refusals, 100);
}

TEST(CodeObject, AnythingElseIsRefused) {
  EXPECT_THAT(refused("no ELF at all"), HasSubstr("no AMD code object"));
  EXPECT_THROW(kernels_of(""), core::InputError);
}

}  // namespace
}  // namespace sandbox::hip::inspection
#endif
