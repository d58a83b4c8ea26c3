// Rules for PTX, on NVRTC's output for CUDA C++. Needs the CUDA Toolkit, but no GPU.
#ifdef KW_HAVE_NVRTC
#include "sandbox/cuda/inspection/ptx_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/cuda/compiler/nvrtc_fixture.h"

namespace sandbox::cuda::inspection {
namespace {
using testing::HasSubstr;

// The finding for a kernel with this body, which may use y, x and i; "" if accepted.
std::string check_finding(const std::string& body, const std::string& before = "", bool cooperative = false) {
  const std::string source =
      before + "\nextern \"C\" __global__ void k(float* y, const float* x, int i) {\n" + body + "\n}\n";
  const auto rejected = check_ptx(compiler::test::raw_output(source).ptx, cooperative);
  return rejected ? rejected->message : "";
}

TEST(PtxCheck, AcceptsReadOnlyTables) {
  EXPECT_EQ(check_finding("y[i] = table[i] + zeros[i] + once[i] + T<4>::values[i] + cc[i] + f(table, i) + g(i);",
                          "__device__ const float table[] = {1, 2, 3, 4};\n__device__ const int zeros[4] = {};\n"
                          "static constexpr int once[5] = {5, 6, 7, 8, 9};\n__constant__ float cc[4] = {1, 2, 3, 4};\n"
                          "template <int N> struct T { static constexpr int values[3] = {N, 2, 3}; };\n"
                          "__device__ __noinline__ float f(const float* t, int i) { return t[i] * 2; }\n"
                          "__device__ float g(int i) { static const int own[3] = {9, 8, 1}; return own[i]; }"),
            "");
  EXPECT_EQ(check_finding("assert(i < 4); y[i] = x[i];"), "");
  EXPECT_EQ(check_finding("y[i] = sinf(x[i]) + (float)cos((double)x[i]) + tgammaf(x[i]);"),
            "");  // with tables of their own
  EXPECT_EQ(check_finding("y[i] = x[threadIdx.x] + __popc(__activemask()) + warpSize; __nanosleep(20);"), "");
  EXPECT_EQ(check_finding("unsigned lane; asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane)); y[lane] = x[i];"),
            "");
  EXPECT_EQ(check_finding(
                "switch (i) { case 0: y[0] = 1; break; case 1: y[5] = 2; break; case 2: y[4] = x[4]; break; case 3: "
                "y[1] = x[0]; break; case 4: y[2] = x[9]; break; default: y[9] = 0; }"),
            "");
}

TEST(PtxCheck, RefusesWhatKeepsState) {
  EXPECT_THAT(check_finding("y[i] = ++calls;", "__device__ int calls;"),
              HasSubstr("writes to the __device__ variable calls"));
  EXPECT_THAT(check_finding("static int calls; y[i] = atomicAdd(&calls, 1);"),
              HasSubstr("writes to the __device__ variable"));
  EXPECT_THAT(
      check_finding("y[i] = table[i]; ((float*)table)[i] = x[i];", "__device__ const float table[] = {1, 2, 3};"),
      HasSubstr("writes to the __device__ variable table"));
  EXPECT_THAT(
      check_finding("y[i] = 1; set(memory + i, x[i]);",
                    "__device__ float memory[9];\n__device__ __noinline__ void set(float* at, float v) { *at = v; }"),
      HasSubstr("writes to the __device__ variable memory"));
  EXPECT_THAT(
      check_finding("*at(i) = x[i]; y[i] = 2;",
                    "__device__ float memory[9];\n__device__ __noinline__ float* at(int i) { return memory + i; }"),
      HasSubstr("writes to the __device__ variable memory"));
  EXPECT_THAT(check_finding("(i > 3 ? (float*)table : y)[i] = x[i]; y[i] = table[1];", "__constant__ float table[4];"),
              HasSubstr("writes to the __device__ variable table"));
  EXPECT_THAT(check_finding("__shared__ float* p[2]; p[i & 1] = i > 3 ? memory : y; __syncthreads(); p[1][i] = x[i];",
                            "__device__ float memory[9];"),
              HasSubstr("the address of the __device__ variable memory"));
  EXPECT_THAT(check_finding("(*where[i & 1])[i] = x[i]; y[0] = 1;",
                            "__device__ float a[9], b[9];\n__device__ float (*where[2])[9] = {&a, &b};"),
              HasSubstr("holds an address"));
  EXPECT_THAT(
      check_finding("asm volatile(\"{ .reg .u64 p; mov.u64 p, memory; st.global.f32 [p], %0; }\" :: \"f\"(x[i])); y[i] "
                    "= memory[i];",
                    "extern \"C\" { __device__ float memory[9]; }"),
      HasSubstr("writes to the __device__ variable memory"));
  EXPECT_THAT(check_finding("float* p = (float*)malloc(8); p[0] = x[i]; y[i] = p[0]; free(p);"),
              HasSubstr("device heap"));
  EXPECT_THAT(check_finding("y[i] = m;", "__managed__ float m;"), HasSubstr("managed"));
}

TEST(PtxCheck, TensorMemoryEndsWithTheLaunch) {
  const std::string alloc =
      "__shared__ unsigned slot; const unsigned at = (unsigned)__cvta_generic_to_shared(&slot); unsigned word;\n"
      "asm volatile(\"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;\" :: \"r\"(at) : "
      "\"memory\");\n";
  const std::string free = "asm volatile(\"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;\" :: \"r\"(slot));\n";
  const std::string store =
      "asm volatile(\"tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};\" :: \"r\"(slot), \"r\"(i));\n";
  const std::string load =
      "asm volatile(\"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\" : \"=r\"(word) : \"r\"(slot)); y[i] = "
      "word;\n";
  const auto finding = [&](const std::string& body) {
    const std::string source = "extern \"C\" __global__ void k(float* y, int i) {\n" + body + "}\n";
    const auto rejected = check_ptx(compiler::test::raw_output(source, "sm_100a").ptx, false);
    return rejected ? rejected->message : "";
  };
  EXPECT_EQ(finding(alloc + store + load + free), "");
  EXPECT_THAT(finding(alloc + store + load), HasSubstr("frees none"));
  EXPECT_THAT(finding(alloc + load + free), HasSubstr("nothing in the launch writes"));
}

TEST(PtxCheck, AddressesLeadToReadingOnly) {
  const std::string tables =
      "__device__ int hidden;\n__constant__ unsigned digit[16] = {1, 2, 3};\n"
      "typedef unsigned long long Word;\n";
  const auto use = [&](const std::string& how) {
    return check_finding("const Word at = (Word)&hidden; Word copy = 0; " + how + " *(volatile int*)copy = i;", tables);
  };
  for (const char* how : {
           "for (int b = 0; b < 64; ++b) if (at >> b & 1) copy |= 1ull << b;",
           "for (int b = 0; b < 64; ++b) copy |= (Word)__syncthreads_or(at >> b & 1) << b;",
           "copy = __ballot_sync(~0u, at >> (threadIdx.x & 31) & 1);",
           "for (int b = 0; b < 64; b += 4) copy |= (Word)((volatile unsigned*)digit)[at >> b & 15] << b;",
           "while (copy != at) copy += 4;",
           "copy = __shfl_sync(~0u, at, 3);",
           "copy = at * 3;",
           "copy = __brevll(at);",
           "asm(\"{ .reg .u32 a, b; mov.b64 {a, b}, %1; mov.b64 %0, {a, b}; }\" : \"=l\"(copy) : \"l\"(at));",
           "asm(\"{ .reg .u64 a; add.cc.u64 a, %1, %2; addc.u64 %0, 0, 0; }\" : \"=l\"(copy) : \"l\"(at), \"l\"(x));",
           "asm(\"{ .reg .pred p; isspacep.shared p, %1; selp.u64 %0, 1, 0, p; }\" : \"=l\"(copy) : \"l\"(at + i));",
           "__nanosleep((unsigned)at);",
       }) {
    EXPECT_THAT(use(how), HasSubstr("the address of the __device__ variable hidden")) << how;
  }
  EXPECT_EQ(
      check_finding("const float* from = i > 3 ? one : two + i; float sum = 0; for (int n = 0; n < i; ++n) sum += "
                    "from[n] + one[n * 3]; y[i] = sum + at(two, i) + digits[(int)sum & 3].y;",
                    "__device__ const float one[90] = {1, 2}, two[80] = {3};\n"
                    "__constant__ float2 digits[4] = {{1, 2}};\n"
                    "__device__ __noinline__ float at(const float* t, int i) { return t[i] + t[2 * i]; }"),
      "");
}

TEST(PtxCheck, ConstantMemoryIsNotWritten) {
  const auto with = [](const std::string& text) {
    return check_finding("asm volatile(\"{ .reg .u64 a; " + text + " }\");");
  };
  EXPECT_THAT(with("mov.u64 a, k_param_2; cvta.param.u64 a, a; st.u32 [a + 16], 7;"), HasSubstr("constant memory"));
  EXPECT_THAT(with("cvta.const.u64 a, 64; st.u32 [a], 7;"), HasSubstr("constant memory"));
  EXPECT_EQ(with(".reg .u32 b; mov.u64 a, k_param_2; cvta.param.u64 a, a; ld.u32 b, [a]; prefetch.tensormap [a];"), "");
}

TEST(PtxCheck, RefusesClocksAndSmIds) {
  EXPECT_THAT(check_finding("y[i] = clock64();"), HasSubstr("reads a clock"));
  EXPECT_THAT(check_finding("y[i] = clock();"), HasSubstr("reads a clock"));
  for (const char* name : {"clock", "clock_hi", "globaltimer_lo", "globaltimer_hi"}) {
    EXPECT_THAT(
        check_finding("unsigned t; asm volatile(\"mov.u32 %0, %%" + std::string(name) + ";\" : \"=r\"(t)); y[i] = t;"),
        HasSubstr("reads a clock"));
  }
  for (const char* name : {"smid", "nsmid", "pm0", "envreg7", "warpid", "nwarpid"}) {
    EXPECT_THAT(
        check_finding("unsigned t; asm volatile(\"mov.u32 %0, %%" + std::string(name) + ";\" : \"=r\"(t)); y[i] = t;"),
        HasSubstr(std::string("reads the special register %") + name));
  }
}

TEST(PtxCheck, NothingHidesInAssembly) {
  const auto with = [](const std::string& text) {
    return check_finding("unsigned t; asm volatile(\"" + text + "\" : \"=r\"(t) : \"l\"(x)); y[i] = t;",
                         "#define CAT(a, b) a##b\n#define WORD(a) #a\n#define TEXT(a) WORD(a)");
  };
  EXPECT_THAT(with("mov.u32%0,%%clock;"), HasSubstr("reads a clock"));
  EXPECT_THAT(with("/* \\\" */ mov.u32 %0, /* \\\" */ %%clock;"), HasSubstr("reads a clock"));
  EXPECT_THAT(with("// mov.u32 %0, 1;\\nmov.u32 %0, %%clock;"), HasSubstr("reads a clock"));
  EXPECT_THAT(with(".loc 1 2 3 mov.u32 %0, %%clock;"), HasSubstr("reads a clock"));
  EXPECT_THAT(with(".pragma \\\"nounroll\\\"; L: mov.u32 %0, %%clock;"), HasSubstr("reads a clock"));
  EXPECT_THAT(with("{ .reg .b32 a; mov.u32 a, %%clock; mov.u32 %0, a; }"), HasSubstr("reads a clock"));
  EXPECT_THAT(with("mov.u32 %0, %%\" TEXT(CAT(clo, ck)) \";"), HasSubstr("reads a clock"));
  EXPECT_THAT(with("mov .u32 %0, %%clock;"), HasSubstr("reads a clock"));
  EXPECT_THAT(with("ld /* */ .param\\n.u32 %0, [k_param_2]; prefetch\\n.global .L2::evict_last [%1];"),
              HasSubstr("pins lines in L2"));
  EXPECT_THAT(with("// \\\\\\nmov.u32 %0, 1;"), HasSubstr("after a backslash"));
  EXPECT_THAT(with("// \\rmov.u32 %0, 1;"), HasSubstr("control character"));
  EXPECT_THAT(with("{ .global .b32 hidden; atom.global.add.u32 %0, [hidden], 1; }"), HasSubstr("declares hidden"));
}

// Like inline assembly that ends one function and begins another.
TEST(PtxCheck, VariablesOfAssemblyAreDeclaredAsTheCompilerDoesOrNotAtAll) {
  const auto declared = [](const std::string& variables, const std::string& use) {
    return check_finding(
        "declare(); int v; asm volatile(\"" + use + "\" : \"=r\"(v)); y[i] = v;",
        "__device__ __noinline__ void declare() { asm volatile(\"}\\n" + variables + "\\n.func unused() {\\n\"); }");
  };
  EXPECT_THAT(declared(".global .b32 a, b;", "atom.global.add.u32 %0, [b], 1;"), HasSubstr("declares a"));
  EXPECT_THAT(declared(".global .b32 a<4>;", "atom.global.add.u32 %0, [a2], 1;"), HasSubstr("declares a"));
  EXPECT_THAT(declared(".const .b32 a[2], b;", "ld.const.u32 %0, [b];"), HasSubstr("declares a"));
  EXPECT_THAT(declared(".local .b32 a;", "mov.u32 %0, 1;"), HasSubstr("outside of functions"));
  EXPECT_THAT(declared(".global .b32 a;", "atom.global.add.u32 %0, [a], 1;"), HasSubstr("writes to"));
}

TEST(PtxCheck, RefusesWhatOutlastsALaunchInL2) {
  const auto policy = [](const std::string& kind) {
    return check_finding(
        "float v; unsigned long long p; asm volatile(\"createpolicy.fractional.L2::" + kind +
        ".b64 %0, 1.0;\" : \"=l\"(p)); asm volatile(\"ld.global.L2::cache_hint.f32 %0, [%1], %2;\" : \"=f\"(v) : "
        "\"l\"(x + i), \"l\"(p)); y[i] = v;");
  };
  EXPECT_EQ(policy("evict_first"), "");
  EXPECT_THAT(policy("evict_last"), HasSubstr("pins lines in L2"));
  const auto constant = [](const std::string& value) {
    return check_finding(
        "float v; asm volatile(\"ld.global.L2::cache_hint.f32 %0, [%1], %2;\" : \"=f\"(v) : \"l\"(x + i), "
        "\"l\"(" +
        value + ")); y[i] = v;");
  };
  EXPECT_EQ(constant("0x12F0000000000000ull"), "");
  EXPECT_EQ(constant("i > 3 ? 0x12F0000000000000ull : 0x10F0000000000000ull"), "");
  EXPECT_EQ(constant("i > 3 ? 0x1200000000000000ull : 0x16F0000000000000ull"), "");  // of cuda::annotated_ptr
  for (const char* value : {"0x14F0000000000000ull", "0x1400000000000000ull", "0x15F0000000000000ull",
                            "0x08F0000000000000ull", "0x10F0000000000001ull", "0x30F0000000000000ull"}) {
    EXPECT_THAT(constant(value), HasSubstr("L2 policy")) << value;
  }
  EXPECT_THAT(constant("0x1480000000000000ull + ((unsigned long long)(i & 0x70) << 48)"), HasSubstr("L2 policy"));
  const auto converted = [](const std::string& value) {
    return check_finding("asm volatile(\"{ .reg .b64 p; createpolicy.cvt.L2.b64 p, " + value +
                         "; applypriority.global.L2::evict_normal [%0], 128; }\" :: \"l\"(x)); y[i] = 1;");
  };
  EXPECT_EQ(converted("0x12F0000000000000"), "");
  EXPECT_THAT(converted("0x14F0000000000000"), HasSubstr("L2 policy"));
  EXPECT_THAT(
      check_finding(
          "asm volatile(\"st.global .L2::cache_hint .f32 [%0], 0f00000000, 0x14F0000000000000;\" :: \"l\"(y));"),
      HasSubstr("L2 policy"));
  EXPECT_THAT(check_finding("asm volatile(\"prefetch.global.L2::evict_last [%0];\" :: \"l\"(x)); y[i] = 1;"),
              HasSubstr("pins lines in L2"));
  EXPECT_THAT(check_finding("asm volatile(\"discard.global.L2 [%0], 128;\" :: \"l\"(y)); y[i] = 1;"),
              HasSubstr("discards lines"));
}

TEST(PtxCheck, LocalMemoryIsDeclaredAndHasASize) {
  EXPECT_THAT(
      check_finding("asm volatile(\"{ .reg .u32 a; ld.local.u32 a, [0xffff00]; st.u32 [%0], a; }\" :: \"l\"(y));"),
      HasSubstr("undeclared local memory"));
  EXPECT_THAT(check_finding("asm volatile(\"{ .reg .u64 a; alloca.u64 a, 64; st.local.u32 [a], 1; }\");"),
              HasSubstr("stack memory at run time"));
  EXPECT_EQ(
      check_finding("float few[20]; for (int j = 0; j < 20; ++j) few[j] = x[j]; y[0] = few[i]; y[1] = sinf(x[i]);"),
      "");
}

TEST(PtxCheck, RefusesCallsThatCannotBeFollowed) {
  EXPECT_THAT(check_finding("y[i] = ((float (*)(int))(unsigned long long)x[0])(i);"), HasSubstr("through a pointer"));
  EXPECT_THAT(
      check_finding("float (*f[2])(int) = {a, b}; y[i] = f[i & 1](i);",
                    "__device__ __noinline__ float a(int i) { return i; }\n__device__ __noinline__ float b(int i) { "
                    "return 2 * i; }"),
      testing::AnyOf(HasSubstr("through a pointer"), HasSubstr("takes the address of the function")));
  EXPECT_THAT(check_finding("printf(\"%d\", i);"), HasSubstr("calls printf"));
}

// A register's name is local to its function.
TEST(PtxCheck, RegistersAreThoseOfTheirScope) {
  const auto with = [](const std::string& elsewhere, const std::string& here) {
    return check_finding(
        "if (i == 3) elsewhere(y); store(y); look(y); asm volatile(\"{ .reg .b64 a; " + here + " }\" :: \"l\"(y));",
        "extern \"C\" __device__ __noinline__ void store(float* at) { *(volatile float*)at = 1; }\n"
        "extern \"C\" __device__ __noinline__ void look(float* at) { asm volatile(\"// %0\" :: \"l\"(at)); }\n"
        "__device__ __noinline__ void elsewhere(float* y) { asm volatile(\"{ " +
            elsewhere + " }\" :: \"l\"(y)); }");
  };
  EXPECT_THAT(with(".reg .b64 %%pm<8>; mov.b64 %%pm3, 1;", "cvt.u64.u32 a, %%pm3; st.b64 [%0], a;"),
              HasSubstr("reads the special register %pm3"));
  EXPECT_THAT(with(".reg .b64 %%envreg7; mov.b64 %%envreg7, 1;", "cvt.u64.u32 a, %%envreg7; st.b64 [%0], a;"),
              HasSubstr("reads the special register %envreg7"));
  EXPECT_THAT(with(".reg .b64 store; mov.b64 store, 1;", "mov.b64 a, store; st.b64 [%0], a;"),
              HasSubstr("takes the address of the function store"));
  EXPECT_THAT(with("",
                   ".reg .b64 look; mov.b64 look, 1; .param .b64 p; st.param.b64 [p], %0; f: .callprototype _ "
                   "(.param .b64 _); call look, (p), f;"),
              HasSubstr("through a pointer"));
  EXPECT_EQ(with(".reg .b64 store; mov.b64 store, 1;", ".reg .b64 b<2>, store; mov.b64 store, 1; mov.b64 b1, store;"),
            "");
}

TEST(PtxCheck, TheBarrierOfAGridIsForCooperativeLaunches) {
  const std::string body = "y[i] = 1; cooperative_groups::this_grid().sync(); y[i + 1] = y[i];";
  EXPECT_EQ(check_finding(body, "#include <cooperative_groups.h>", true), "");
  EXPECT_THAT(check_finding(body, "#include <cooperative_groups.h>", false), HasSubstr("\"cooperative\": true"));
}

TEST(PtxCheck, NamesTheLine) {
  const auto rejected =
      check_ptx(compiler::test::raw_output("__device__ int calls;\nextern \"C\" __global__ void k(int* y) {\n"
                                           "  const int n = y[0];\n  calls = n;\n}\n")
                    .ptx,
                false);
  ASSERT_TRUE(rejected);
  EXPECT_EQ(rejected->line, 4);
}

TEST(PtxCheck, DamageIsRefusedOrHarmless) {
  const std::string ptx = compiler::test::raw_output(
                              "__device__ const int t[3] = {1, 2, 3};\n__device__ __noinline__ int f(int i) { "
                              "return t[i]; }\nextern \"C\" __global__ void k(int* y) { y[0] = f(y[1]); }\n")
                              .ptx;
  EXPECT_FALSE(check_ptx(ptx, false));
  int refused = 0;
  for (size_t at = 0; at < ptx.size(); at += 3) {
    for (const char other : {'\0', ';', '{', '"', '[', '.'}) {
      std::string damaged = ptx;
      damaged[at] = other;
      refused += check_ptx(damaged, false).has_value() ? 1 : 0;
    }
    refused += check_ptx(std::string_view(ptx).substr(0, at), false).has_value() ? 1 : 0;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace sandbox::cuda::inspection
#endif
