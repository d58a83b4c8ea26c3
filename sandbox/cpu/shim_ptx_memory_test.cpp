// PTX in blocks, and its loads, stores and atomic updates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu {
namespace {
using test::Device;
using testing::HasSubstr;

// Whatever a kernel finds wrong, it notes in `wrong` with the number of the line.
constexpr const char* kExpect =
    "#define EXPECT(...) if (!(__VA_ARGS__) && *wrong == 0) *wrong = __LINE__ - first\n"
    "#define SHARED(p) (unsigned)__cvta_generic_to_shared(p)\n"
    "extern \"C\" __global__ void k(float* wrong) { const int first = __LINE__;";

void expect_right(const std::string& body, int64_t threads = 1) {
  for (const Build build : {Build::fast, Build::check}) {
    Device device(kExpect + body + "}", build);
    const float* wrong = device.add_floats("wrong", 1);
    const auto fault = device.launch("k", 1, threads, runtime::Order::seeded);
    EXPECT_FALSE(fault) << fault->describe() << body;
    EXPECT_EQ(*wrong, 0) << "is the line of:" << body;
  }
}

TEST(ShimPtxMemory, LoadsAndStoresOfEveryWidth) {
  std::string body = R"(
    alignas(16) __shared__ unsigned char shared[16], other[32];
    for (int i = 0; i < 16; ++i) shared[i] = 0xf0 + i;
    unsigned a, b, c, d; unsigned long long l, m; unsigned short h, g; float x, y, z, w; double e;
)";
  // In both state spaces, volatile or not.
  for (const std::string prefix : {".global", ".volatile.global", ".shared", ".shared::cta", ".volatile.shared", ""}) {
    const bool in_window = prefix.find("shared") != prefix.npos;
    const std::string from = in_window ? "\"r\"(SHARED(shared))" : "\"l\"(shared)",
                      to = in_window ? "\"r\"(SHARED(other))" : "\"l\"(other)";
    const auto load = [&](const std::string& type, const std::string& list, const std::string& outputs) {
      const auto count = std::to_string(std::ranges::count(outputs, '('));
      return "asm volatile(\"ld" + prefix + "." + type + " " + list + ", [%" + count + "];\" : " + outputs + " : " +
             from + ");\n";
    };
    const auto store = [&](const std::string& type, const std::string& list, const std::string& inputs) {
      return "asm volatile(\"st" + prefix + "." + type + " [%0 + 16], " + list + ";\" :: " + to + ", " + inputs +
             ");\n";
    };
    body += load("u8", "%0", "\"=r\"(a)") + "EXPECT(a == 0xf0);\n";
    body += load("s8", "%0", "\"=r\"(a)") + "EXPECT(a == 0xfffffff0);\n";
    body += load("u16", "%0", "\"=h\"(h)") + "EXPECT(h == 0xf1f0);\n";
    body += load("b16", "%0", "\"=h\"(h)") + "EXPECT(h == 0xf1f0);\n";
    body += load("s16", "%0", "\"=r\"(a)") + "EXPECT(a == 0xfffff1f0);\n";
    for (const char* type : {"u32", "s32", "b32"}) body += load(type, "%0", "\"=r\"(a)") + "EXPECT(a == 0xf3f2f1f0);\n";
    body += load("f32", "%0", "\"=f\"(x)") + "EXPECT(__float_as_uint(x) == 0xf3f2f1f0);\n";
    for (const char* type : {"u64", "b64"}) {
      body += load(type, "%0", "\"=l\"(l)") + "EXPECT(l == 0xf7f6f5f4f3f2f1f0);\n";
    }
    body += load("f64", "%0", "\"=d\"(e)") + "EXPECT(__double_as_longlong(e) == 0xf7f6f5f4f3f2f1f0);\n";
    body += load("v2.b16", "{%0, %1}", "\"=h\"(h), \"=h\"(g)") + "EXPECT(h == 0xf1f0 && g == 0xf3f2);\n";
    for (const char* type : {"v2.u32", "v2.b32", "v2.s32"}) {
      body += load(type, "{%0, %1}", "\"=r\"(a), \"=r\"(b)") + "EXPECT(a == 0xf3f2f1f0 && b == 0xf7f6f5f4);\n";
    }
    body += load("v2.f32", "{%0, %1}", "\"=f\"(x), \"=f\"(y)") + "EXPECT(__float_as_uint(y) == 0xf7f6f5f4);\n";
    for (const char* type : {"v2.b64", "v2.u64"}) {
      body += load(type, "{%0, %1}", "\"=l\"(l), \"=l\"(m)") + "EXPECT(m == 0xfffefdfcfbfaf9f8);\n";
    }
    for (const char* type : {"v4.u32", "v4.b32", "v4.s32"}) {
      body += load(type, "{%0, %1, %2, %3}", "\"=r\"(a), \"=r\"(b), \"=r\"(c), \"=r\"(d)") +
              "EXPECT(a == 0xf3f2f1f0 && b == 0xf7f6f5f4 && c == 0xfbfaf9f8 && d == 0xfffefdfc);\n";
    }
    body += load("v4.f32", "{%0, %1, %2, %3}", "\"=f\"(x), \"=f\"(y), \"=f\"(z), \"=f\"(w)") +
            "EXPECT(__float_as_uint(x) == 0xf3f2f1f0 && __float_as_uint(w) == 0xfffefdfc);\n";
    body += store("u8", "%1", "\"r\"(0x12345678)") + "EXPECT(other[16] == 0x78);\n";
    body += store("b16", "%1", "\"h\"((unsigned short)0x1234)") + "EXPECT(*(short*)(other + 16) == 0x1234);\n";
    for (const char* type : {"u32", "s32", "b32"}) {
      body += store(type, "%1", "\"r\"(0x5678)") + "EXPECT(*(int*)(other + 16) == 0x5678);\n";
    }
    body += store("f32", "%1", "\"f\"(2.5f)") + "EXPECT(*(float*)(other + 16) == 2.5f);\n";
    body += store("f32", "0.25", "\"f\"(0)") + "EXPECT(*(float*)(other + 16) == 0.25f);\n";
    body += store("u64", "%1", "\"l\"(1ull << 40)") + "EXPECT(*(long long*)(other + 16) == 1ll << 40);\n";
    body += store("v2.f32", "{%1, 1.0}", "\"f\"(3.5f)") +
            "EXPECT(((float*)other)[4] == 3.5f && ((float*)other)[5] == 1);\n";
    body += store("v2.b64", "{%1, 7}", "\"l\"(1ull << 40)") + "EXPECT(((long long*)other)[3] == 7);\n";
    body += store("v4.b32", "{%1, %1, 3, 4}", "\"r\"(1)") + "EXPECT(((int*)other)[5] == 1 && ((int*)other)[7] == 4);\n";
    body += store("v4.f32", "{%1, %1, %1, %1}", "\"f\"(1.5f)") + "EXPECT(((float*)other)[7] == 1.5f);\n";
  }
  expect_right(body);
}

TEST(ShimPtxMemory, CacheHintsMeanNothing) {
  std::string body = "__shared__ int s; s = 5; int r;\n";
  for (const char* name :
       {"ld.global.nc.s32", "ld.global.ca.s32", "ld.global.cg.b32", "ld.global.cs.b32",
        "ld.global.nc.L1::no_allocate.b32", "ld.global.L1::evict_first.b32",
        "ld.global.nc.L1::no_allocate.L2::256B.u32", "ld.weak.global.u32", "ld.relaxed.gpu.global.u32",
        "ld.relaxed.sys.global.s32", "ld.acquire.gpu.global.b32", "ld.acquire.cta.global.s32", "ld.acquire.sys.b32"}) {
    body += "asm volatile(\"" + std::string(name) + " %0, [%1];\" : \"=r\"(r) : \"l\"(&s)); EXPECT(r == s); ++s;\n";
  }
  for (const char* name : {"st.global.cs.s32", "st.global.wt.u32", "st.global.cg.b32", "st.global.wb.b32",
                           "st.global.L1::no_allocate.b32", "st.relaxed.gpu.global.u32", "st.release.gpu.global.b32"}) {
    body += "asm volatile(\"" + std::string(name) + " [%0], %1;\" :: \"l\"(&s), \"r\"(++r)); EXPECT(r == s);\n";
  }
  expect_right(body);
}

TEST(ShimPtxMemory, CachePoliciesMeanNothing) {
  std::string hinted = R"(
    unsigned long long policy = 0;
    alignas(16) __shared__ unsigned s[4];
    unsigned a, b, c, d;
    s[0] = 1; s[1] = 2; s[2] = 3; s[3] = 4;
)";
  for (const char* name : {"ld.global.L2::cache_hint.v4.u32", "ld.global.nc.L1::no_allocate.L2::cache_hint.v4.b32",
                           "ld.global.L1::evict_last.L2::cache_hint.L2::128B.v4.s32"}) {
    hinted +=
        "asm volatile(\"" + std::string(name) +
        " {%0, %1, %2, %3}, [%4], %5;\" : \"=r\"(a), \"=r\"(b), \"=r\"(c), \"=r\"(d) : \"l\"(s), \"l\"(policy));\n"
        "EXPECT(a == 1 && b == 2 && c == 3 && d == 4);\n";
  }
  expect_right(hinted + R"(
    asm volatile("st.global.L1::no_allocate.L2::cache_hint.v2.b32 [%0], {%1, %2}, %3;" :: "l"(s), "r"(7), "r"(8), "l"(policy));
    EXPECT(s[0] == 7 && s[1] == 8);
    asm volatile("st.global.L2::cache_hint.u32 [%0 + 8], %1, %2;" :: "l"(s), "r"(9), "l"(policy)); EXPECT(s[2] == 9);
    asm volatile("red.global.add.L2::cache_hint.u32 [%0], %1, %2;" :: "l"(s), "r"(1), "l"(policy)); EXPECT(s[0] == 8);
    asm volatile("atom.global.cas.L2::cache_hint.b32 %0, [%1], 8, 5, %2;" : "=r"(a) : "l"(s), "l"(policy));
    EXPECT(a == 8 && s[0] == 5);
)");
  expect_right(R"(
    unsigned long long policy = 1;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    EXPECT(policy == 0);
    asm volatile("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(policy));
    EXPECT(policy == 0);
)");
}

TEST(ShimPtxMemory, AtomicUpdates) {
  expect_right(R"(
    __shared__ alignas(16) unsigned s[4]; __shared__ unsigned long long wide; alignas(16) __shared__ float f[4];
    unsigned r; unsigned long long l; float x, y;
    s[0] = 10;
    asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(s), "r"(5)); EXPECT(r == 10 && s[0] == 15);
    asm volatile("atom.shared.add.s32 %0, [%1], -6;" : "=r"(r) : "r"(SHARED(s))); EXPECT(r == 15 && s[0] == 9);
    asm volatile("red.shared::cta.add.u32 [%0 + 4], %1;" :: "r"(SHARED(s) - 4), "r"(1)); EXPECT(s[0] == 10);
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;" :: "l"(s), "r"(1)); EXPECT(s[0] == 11);
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(r) : "l"(s)); EXPECT(r == 11 && s[0] == 12);
    asm volatile("atom.add.u32 %0, [%1], 1;" : "=r"(r) : "l"(s)); EXPECT(s[0] == 13);
    asm volatile("atom.global.max.s32 %0, [%1], %2;" : "=r"(r) : "l"(s), "r"(-1)); EXPECT(s[0] == 13);
    asm volatile("atom.global.max.u32 %0, [%1], %2;" : "=r"(r) : "l"(s), "r"(-1)); EXPECT(s[0] == ~0u);
    asm volatile("red.shared.min.s32 [%0], 7;" :: "r"(SHARED(s))); EXPECT(s[0] == ~0u);
    asm volatile("red.shared.min.u32 [%0], 7;" :: "r"(SHARED(s))); EXPECT(s[0] == 7);
    asm volatile("atom.global.exch.b32 %0, [%1], 3;" : "=r"(r) : "l"(s)); EXPECT(r == 7 && s[0] == 3);
    asm volatile("atom.shared.cas.b32 %0, [%1], 3, 4;" : "=r"(r) : "r"(SHARED(s))); EXPECT(r == 3 && s[0] == 4);
    asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 3, 5;" : "=r"(r) : "l"(s)); EXPECT(r == 4 && s[0] == 4);
    asm volatile("red.global.or.b32 [%0], 3;" :: "l"(s)); EXPECT(s[0] == 7);
    asm volatile("red.global.and.b32 [%0], 5;" :: "l"(s)); EXPECT(s[0] == 5);
    asm volatile("red.global.xor.b32 [%0], 1;" :: "l"(s)); EXPECT(s[0] == 4);
    asm volatile("atom.global.inc.u32 %0, [%1], 4;" : "=r"(r) : "l"(s)); EXPECT(r == 4 && s[0] == 0);
    asm volatile("atom.global.dec.u32 %0, [%1], 9;" : "=r"(r) : "l"(s)); EXPECT(s[0] == 9);
    wide = 1;
    asm volatile("red.global.add.u64 [%0], %1;" :: "l"(&wide), "l"(1ull << 40)); EXPECT(wide == (1ull << 40) + 1);
    asm volatile("atom.global.exch.b64 %0, [%1], 6;" : "=l"(l) : "l"(&wide)); EXPECT(wide == 6 && l == (1ull << 40) + 1);
    asm volatile("red.global.min.s64 [%0], -1;" :: "l"(&wide)); EXPECT(wide == ~0ull);
    f[0] = f[1] = f[2] = f[3] = 1;
    asm volatile("red.global.add.f32 [%0], %1;" :: "l"(f), "f"(0.5f)); EXPECT(f[0] == 1.5f);
    asm volatile("atom.shared.add.f32 %0, [%1], 1.0;" : "=f"(x) : "r"(SHARED(f))); EXPECT(x == 1.5f && f[0] == 2.5f);
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %1, 2.0, 3.0};" :: "l"(f), "f"(1.0f));
    EXPECT(f[0] == 3.5f && f[1] == 2 && f[2] == 3 && f[3] == 4);
    asm volatile("red.global.add.v2.f32 [%0 + 8], {%1, %2};" :: "l"(f), "f"(1.0f), "f"(2.0f)); EXPECT(f[2] == 4 && f[3] == 6);
    asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %3};" : "=f"(x), "=f"(y) : "l"(f), "f"(1.0f));
    EXPECT(x == 3.5f && y == 2 && f[0] == 4.5f && f[1] == 3);
    s[0] = 0x3c003c00;
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(s), "r"(0x3c004000)); EXPECT(s[0] == 0x40004200);
    s[1] = 0x3f803f80;
    asm volatile("atom.global.add.noftz.bf16x2 %0, [%1 + 4], %2;" : "=r"(r) : "l"(s), "r"(0x3f804000));
    EXPECT(r == 0x3f803f80 && s[1] == 0x40004040);
    s[0] = s[1] = s[2] = s[3] = 0;
    asm volatile("red.global.add.noftz.v4.bf16x2 [%0], {%1, 0, 0, %1};" :: "l"(s), "r"(0x3f804000));
    EXPECT(s[0] == 0x3f804000 && s[1] == 0 && s[3] == 0x3f804000);
    unsigned short h = 0x3c00;
    asm volatile("atom.global.add.noftz.f16 %0, [%1 + 4], %2;" : "=h"(h) : "l"(s), "h"(h)); EXPECT(h == 0 && s[1] == 0x3c00);
    asm volatile("red.global.add.noftz.bf16 [%0 + 6], %1;" :: "l"(s), "h"((unsigned short)0x3f80)); EXPECT(s[1] == 0x3f803c00);
)");
}

// They are the same for their own block, and none for other blocks.
TEST(ShimPtxMemory, UpdatesInTheScopeOfABlock) {
  expect_right(R"(
    __shared__ alignas(16) unsigned s[4]; unsigned r; unsigned short h;
    s[0] = 10; s[1] = 0;
    asm volatile("atom.global.cta.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(s), "r"(5)); EXPECT(r == 10 && s[0] == 15);
    asm volatile("atom.acq_rel.cta.shared.cas.b32 %0, [%1], 15, 4;" : "=r"(r) : "r"(SHARED(s))); EXPECT(r == 15 && s[0] == 4);
    asm volatile("red.relaxed.cta.global.add.s64 [%0], %1;" :: "l"(s), "l"(1ull << 32)); EXPECT(s[0] == 4 && s[1] == 1);
    asm volatile("red.relaxed.cta.global.add.noftz.f16x2 [%0 + 4], %1;" :: "l"(s), "r"(0x3c000000)); EXPECT(s[1] == 0x3c000001);
    asm volatile("atom.cta.global.add.noftz.f16 %0, [%1 + 6], %2;" : "=h"(h) : "l"(s), "h"((unsigned short)0x3c00));
    EXPECT(h == 0x3c00 && s[1] == 0x40000001);
    s[2] = s[3] = 0;
    asm volatile("red.cta.global.add.v2.f32 [%0 + 8], {%1, %1};" :: "l"(s), "f"(1.0f)); EXPECT(s[2] == 0x3f800000 && s[3] == s[2]);
)");
  for (const std::string update :
       {"atom.global.cta.add.u32 %0, [%1], 1;", "red.relaxed.cta.global.add.u32 [%1], %0;",
        "atom.cta.global.max.s32 %0, [%1], %0;", "atom.acq_rel.cta.global.cas.b32 %0, [%1], 0, 1;",
        "red.cta.global.add.noftz.f16x2 [%1], %0;", "red.relaxed.cta.global.add.v2.f32 [%1], {%0, %0};"}) {
    for (const bool in_block : {true, false}) {
      Device device("extern \"C\" __global__ void k(float* y) { unsigned r = 1;\nasm volatile(\"" +
                        (in_block ? update : test::replaced(update, ".cta", ".gpu")) + "\" : \"+r\"(r) : \"l\"(y)); }",
                    Build::check);
      device.add_floats("y", 4);
      const auto fault = device.launch("k", 4, 1);
      ASSERT_EQ(fault.has_value(), in_block) << update;
      EXPECT_TRUE(!fault || fault->kind == FaultKind::race) << fault->describe();
    }
  }
}

TEST(ShimPtxMemory, AddressSpaces) {
  expect_right(R"(
    __shared__ float s[4];
    s[1] = 3;
    unsigned a; unsigned long long generic; float x;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(a) : "l"(s));
    EXPECT(a == SHARED(s));
    asm("{ .reg .u64 t; cvt.u64.u32 t, %1; cvta.shared.u64 %0, t; }" : "=l"(generic) : "r"(a));
    EXPECT(generic == (unsigned long long)s);
    asm("cvta.to.global.u64 %0, %1;" : "=l"(generic) : "l"(wrong));
    EXPECT(generic == (unsigned long long)wrong);
    asm volatile("ld.shared.f32 %0, [%1+4];" : "=f"(x) : "r"(a));
    EXPECT(x == 3);
)");
}

TEST(ShimPtxMemory, BlocksLoopsAndPredicates) {
  expect_right(R"(
    unsigned sum, n = 5, x = 1;
    asm volatile("{\n.reg .pred more;\n.reg .u32 i;\nmov.u32 i, 0;\nmov.u32 %0, 0;\nLOOP_%=:\nadd.u32 %0, %0, i;\n"
                 "add.u32 i, i, 1;\nsetp.lt.u32 more, i, %1;\n@more bra LOOP_%=;\n}" : "=r"(sum) : "r"(n));
    EXPECT(sum == 10);
    // Inputs keep their value although the output is the same variable.
    asm volatile("mov.u32 %0, 7; add.u32 %0, %0, %1;" : "=r"(x) : "r"(x)); EXPECT(x == 8);
    // One statement wherever C++ wants one.
    if (n == 5) asm volatile("mov.u32 %0, 1; add.u32 %0, %0, 1;" : "=r"(x)); else x = 9;
    EXPECT(x == 2);
    for (int i = 0; i < 3; ++i) asm volatile("{ .reg .pred p; setp.ge.s32 p, %1, 1; @p add.u32 %0, %0, 10; }" : "+r"(x) : "r"(i));
    EXPECT(x == 22);
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 1; @!p bra SKIP; mov.u32 %0, 3; SKIP: }" : "+r"(x)); EXPECT(x == 22);
    asm volatile("" : "+r"(x) :: "memory");
    #define TWICE(v) asm volatile("" : "+r"(v)); asm volatile("{ .reg .b32 t; add.u32 t, %0, %0; mov.u32 %0, t; }" : "+r"(v))
    TWICE(x); TWICE(x); EXPECT(x == 88);
)");
}

template <typename Fault>
void expect_fault(const std::string& body, Fault kind, const std::string& message, int line, int64_t threads = 64) {
  Device device("extern \"C\" __global__ void k(float* out) {\n" + body + "\n}", Build::check);
  device.add_floats("out", 64);
  const auto fault = device.launch("k", 1, threads);
  ASSERT_TRUE(fault) << body;
  EXPECT_EQ(fault->kind, kind) << fault->describe();
  EXPECT_THAT(fault->message, HasSubstr(message));
  EXPECT_EQ(fault->line, line) << fault->describe();
}

TEST(ShimPtxMemory, FaultsInSharedMemory) {
  const std::string shared =
      "__shared__ float s[64]; const unsigned at = (unsigned)__cvta_generic_to_shared(s) + 4 * threadIdx.x; float x = "
      "0;\n";
  expect_fault(shared + "asm volatile(\"st.shared.f32 [%0 + 4], %1;\" :: \"r\"(at), \"f\"(x));",
               FaultKind::out_of_bounds, "writes 4 bytes", 3);
  expect_fault(shared +
                   "asm volatile(\"st.shared.f32 [%0], %1;\" :: \"r\"(at), \"f\"(x));\n"
                   "asm volatile(\"ld.shared.f32 %0, [%1];\" : \"=f\"(x) : \"r\"(at - 4 * threadIdx.x));\nout[0] = x;",
               FaultKind::race, "", 4);
  expect_fault(shared + "asm volatile(\"ld.shared.f32 %0, [%1];\" : \"=f\"(x) : \"r\"(at)); out[0] = x;",
               FaultKind::uninitialised, "", 3);
  expect_fault(shared + "asm volatile(\"{ trap; }\");", FaultKind::trap, "trap", 3);
  expect_fault(shared + "asm volatile(\"red.global.add.v4.f32 [%0], {%1, %1, %1, %1};\" :: \"l\"(out + 1), \"f\"(x));",
               FaultKind::trap, "multiple", 3);
}

// Block 1 waits for block 0's flag, and thread 0 for thread 32's.
TEST(ShimPtxMemory, PollingEndsAndPublishes) {
  for (const Build build : {Build::fast, Build::check}) {
    Device device(R"(
      extern "C" __global__ void k(float* data, unsigned* flag, float* out) {
        __shared__ unsigned ready;
        if (threadIdx.x == 0) ready = 0;
        __syncthreads();
        if (threadIdx.x == 0) {
          unsigned seen;
          do asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"((unsigned)__cvta_generic_to_shared(&ready)));
          while (seen == 0);
        }
        if (threadIdx.x == 32) asm volatile("atom.shared.exch.b32 _, [%0], 1;" :: "r"((unsigned)__cvta_generic_to_shared(&ready)));
        __syncthreads();
        if (threadIdx.x != 0) return;
        if (blockIdx.x == 0) {
          data[0] = 5;
          asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
        } else {
          asm volatile("{ .reg .pred p; .reg .u32 r; WAIT: ld.acquire.gpu.global.u32 r, [%0]; setp.eq.u32 p, r, 0; @p bra WAIT; }"
                       :: "l"(flag) : "memory");
          out[0] = data[0];
        }
      })",
                  build);
    device.add_floats("data", 1);
    device.add_floats("flag", 1);
    const float* out = device.add_floats("out", 1);
    const auto fault = device.launch("k", 2, 64);
    EXPECT_FALSE(fault) << fault->describe();
    EXPECT_EQ(*out, 5);
  }
}

}  // namespace
}  // namespace sandbox::cpu
