#include "sandbox/cpu/compiler/ptx_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/cpu/compiler/ptx_instructions.h"

namespace sandbox::cpu::compiler {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// %0 is (x), an output; %1 is (a), %2 is (b), inputs.
std::string translated(std::string_view text) {
  const auto result = translate_ptx(text, {{"(x)", false}, {"(a)", true}, {"(b)", true}});
  if (const auto* problem = std::get_if<PtxProblem>(&result)) {
    return (problem->reason == Rejection::unsupported ? "unsupported: " : "forbidden: ") + problem->message;
  }
  return std::get<PtxCode>(result).text;
}

TEST(PtxText, OneInstructionIsOneCall) {
  EXPECT_EQ(translated(" ex2.approx.f32 %0, %1 ;\n\t"), "__kw_ptx_ex2_approx_f32((x), (a))");
  EXPECT_EQ(translated("{ mov.u32 %0, %%laneid; }"), "__kw_ptx_mov_u32((x), __kw_ptx_register_laneid())");
  EXPECT_EQ(translated("add.u32 %0, %1, %2;  // a + b"), "__kw_ptx_add<unsigned>((x), (a), (b))");
  EXPECT_EQ(translated(""), "((void)0)");
  EXPECT_EQ(translated(" ;; /* nothing */ {} "), "((void)0)");
}

TEST(PtxText, SeveralBecomeAStatement) {
  EXPECT_EQ(translated("add.u32 %0, %1, %2; trap;"),
            "({ const auto __kw_i1 = (a); const auto __kw_i2 = (b); __kw_ptx_add<unsigned>((x), __kw_i1, __kw_i2); "
            "__kw_ptx_trap(); (void)0; })");
  EXPECT_EQ(translated("{\n.reg .pred p;\n.reg .b64 %r<2>, wide;\n setp.ne.b32 p, %1, 0;\n @p mov.b64 %r1, 5;\n"
                       " @!p mov.b64 wide, %%r1; }"),
            "({ bool __kw_r0_p; unsigned long long __kw_r1_r0; unsigned long long __kw_r2_r1; unsigned long long "
            "__kw_r3_wide; const auto __kw_i1 = (a); __kw_ptx_setp_ne<unsigned>(__kw_r0_p, __kw_i1, 0); if (__kw_r0_p) "
            "__kw_ptx_mov_b64(__kw_r2_r1, 5); if (!__kw_r0_p) __kw_ptx_mov_b64(__kw_r3_wide, __kw_r2_r1); (void)0; })");
}

TEST(PtxText, DestinationsThatNobodyWants) {
  EXPECT_EQ(
      translated("{ .reg .pred p; setp.eq.s32 _|p, %1, 0; }"),
      "({ bool __kw_r0_p; const auto __kw_i1 = (a); __kw_ptx_setp_eq<int>(__kw_ptx_nowhere, __kw_r0_p, __kw_i1, 0); "
      "(void)0; })");
  EXPECT_EQ(translated("mov.b64 {_, %0}, %1;"), "__kw_ptx_mov_b64(__kw_ptx_nowhere, (x), (a))");
}

TEST(PtxText, LabelsBelongToTheirBlock) {
  const std::string text = translated(
      "{ .reg .pred p; again: setp.lt.s32 p, %1, 2; { .reg .pred p; again: @p bra again; bra.uni OUT_%=; }\n"
      "@!p bra again; OUT_%=: }");
  EXPECT_THAT(text, StartsWith("({ __label__ __kw_l2_OUT_, __kw_l0_again, __kw_l1_again; bool __kw_r0_p; "
                               "bool __kw_r1_p; "));
  EXPECT_THAT(text, HasSubstr("__kw_l1_again:; if (__kw_r1_p) goto __kw_l1_again; goto __kw_l2_OUT_; "
                              "if (!__kw_r0_p) goto __kw_l0_again; __kw_l2_OUT_:; (void)0; })"));
}

TEST(PtxText, AddressesOfStateSpaces) {
  EXPECT_EQ(translated("ld.shared::cta.v2.f32 {%0, %0}, [%1 + 16];"),
            "__kw_ptx_ld_v2<float>((x), (x), __kw_ptx_shared(__kw_ptx_address((a)) + 16))");
  EXPECT_EQ(translated("ld.global.u32 %0, [%1+-4];"), "__kw_ptx_ld<unsigned>((x), __kw_ptx_address((a)) + -4)");
  EXPECT_EQ(translated("ld.global.u32 %0, [%1 + %2];"), "__kw_ptx_ld<unsigned>((x), __kw_ptx_address((a)) + (b))");
  EXPECT_EQ(translated("st.shared.u32 [%1], %2;"), "__kw_ptx_st<unsigned>(__kw_ptx_shared((a)), (b))");
  EXPECT_EQ(translated("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %0, %0, %0}, [%1];"),
            "__kw_ptx_ld_nc_v4<unsigned>((x), (x), (x), (x), (a))");
  EXPECT_EQ(translated("ld.acquire.gpu.global.u32 %0, [%1];"),
            "(__kw_poll(), __kw_ptx_ld_relaxed<unsigned>((x), (a)))");
  EXPECT_EQ(translated("st.release.sys.global.u32 [%1], %2;"),
            "(__threadfence(), __kw_ptx_st_relaxed<unsigned>((a), (b)))");
  EXPECT_EQ(translated("ld.volatile.global.v2.b64 {%0, _}, [%1];"),
            "(__kw_poll(), __kw_ptx_ld_volatile_v2<unsigned long long>((x), __kw_ptx_nowhere, (a)))");
  EXPECT_EQ(translated("st.relaxed.gpu.u32 [%1], %2;"), "__kw_ptx_st_relaxed<unsigned>((a), (b))");
  EXPECT_EQ(translated("red.relaxed.gpu.global.add.v2.f32 [%1], {%2, %2};"),
            "__kw_ptx_atom_add_v2_f32(__kw_ptx_nowhere, __kw_ptx_nowhere, (a), (b), (b))");
  EXPECT_EQ(translated("red.global.v2.f32.add [%1], {%2, %2};"),
            "__kw_ptx_atom_add_v2_f32(__kw_ptx_nowhere, __kw_ptx_nowhere, (a), (b), (b))");
  EXPECT_EQ(translated("atom.acq_rel.gpu.shared.add.u32 _, [%1], 1;"),
            "(__threadfence(), __kw_ptx_atom_add<unsigned>(__kw_ptx_nowhere, __kw_ptx_shared((a)), 1))");
  EXPECT_EQ(translated("ldmatrix.sync.aligned.x1.m8n8.shared.b16 {%0}, [%1];"),
            "__kw_ptx_ldmatrix_sync_aligned_m8n8_x1_shared_b16((x), __kw_ptx_shared((a)))");
}

TEST(PtxText, CacheHints) {
  EXPECT_EQ(translated("ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v2.u32 {%0, %0}, [%1], %2;"),
            "__kw_ptx_ld_nc_v2<unsigned>((x), (x), (a))");
  EXPECT_EQ(translated("ld.global.L1::evict_first.L2::evict_last.f32 %0, [%1];"), "__kw_ptx_ld<float>((x), (a))");
  EXPECT_EQ(translated("st.global.L2::cache_hint.v2.b32 [%1], {%2, %2}, %1 ;"),
            "__kw_ptx_st_v2<unsigned>((a), (b), (b))");
  EXPECT_EQ(translated("red.global.add.L2::cache_hint.u32 [%1], 1, %2;"),
            "__kw_ptx_atom_add<unsigned>(__kw_ptx_nowhere, (a), 1)");
  EXPECT_EQ(translated("atom.global.cas.L2::cache_hint.b32 %0, [%1], 1, 2, %2;"),
            "__kw_ptx_atom_cas<unsigned>((x), (a), 1, 2)");
  EXPECT_EQ(translated("cp.async.cg.shared.global.L2::cache_hint [%1], [%2], 16, %1;"),
            "__kw_ptx_cp_async_cg_shared_global((a), (b), 16)");
  EXPECT_EQ(translated("prefetch.global.L2::evict_last [%1];"), "__kw_ptx_prefetch_L2((a))");
}

TEST(PtxText, ScopeOfABlock) {
  EXPECT_EQ(translated("red.relaxed.cta.global.add.v2.f32 [%1], {%2, %2};"),
            "__kw_ptx_atom_add_v2_f32_block(__kw_ptx_nowhere, __kw_ptx_nowhere, (a), (b), (b))");
  EXPECT_EQ(translated("atom.global.acq_rel.cta.max.s32 %0, [%1], %2;"),
            "(__threadfence_block(), __kw_ptx_atom_max_block<int>((x), (a), (b)))");
  EXPECT_EQ(translated("st.release.cta.global.u32 [%1], %2;"),
            "(__threadfence_block(), __kw_ptx_st_relaxed<unsigned>((a), (b)))");
}

TEST(PtxText, NumbersOfInstructions) {
  EXPECT_EQ(translated("add.f32 %0, %1, 0.5;"), "__kw_ptx_add_f32((x), (a), 0.5f)");
  EXPECT_EQ(translated("add.f32 %0, %1, 0f3F800000;"), "__kw_ptx_add_f32((x), (a), __int_as_float(0x3F800000))");
  EXPECT_EQ(translated("mov.f64 %0, 0d3FF0000000000000;"),
            "__kw_ptx_mov<double>((x), __longlong_as_double(0x3FF0000000000000))");
  EXPECT_EQ(translated("shl.b32 %0, WARP_SZ, -1;"), "__kw_ptx_shl<unsigned>((x), 32, -1)");
}

TEST(PtxText, NamesTheHeadersOfItsFunctions) {
  const auto result = translate_ptx("{ .reg .b32 r; ld.shared.u32 r, [%0]; add.u32 r, r, 1; }", {{"(a)", true}});
  EXPECT_THAT(std::get<PtxCode>(result).headers, ElementsAre("kw_ptx.h", "kw_ptx_memory.h"));
}

TEST(PtxText, RefusesWithAReason) {
  struct Wrong {
    std::string_view text, message;
  };
  for (const Wrong& wrong : {
           Wrong{"{ mov.u32 %0, 1; tensormap.replace.b32 %0; foo.b32 %0; }",
                 "unsupported: the PTX instruction tensormap.replace.b32 is unsupported on the cpu device"},
           {"ld.local.f32 %0, [%1];", "unsupported: the PTX instruction ld.local.f32"},
           {"red.global.add.f32.foo [%1], %2;", "unsupported: the PTX instruction red.global.add.f32.foo"},
           {"ld.global.L2::cache_hint.f32 %0, [%1];", "unsupported: an operand of inline PTX ld.global.L2::cache_hint"},
           {"mov.L2::cache_hint.u32 %0, %1, %2;", "unsupported: the PTX instruction mov.L2::cache_hint.u32"},
           {"discard.global.L2 [%1], 128;", "unsupported: the PTX instruction discard.global.L2"},
           {"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;",
            "unsupported: the PTX instruction createpolicy.fractional.L2::evict_last"},
           {"@p mov.u32 %0, 1;", "unsupported: a predicate of inline PTX that is no register"},
           {"mov.u32 %0, p;", "unsupported: an operand of inline PTX mov.u32"},
           {"mov.u32 %0, %3;", "unsupported: an operand of inline PTX mov.u32"},
           {"mov.u32 %0, $x;", "unsupported: an operand of inline PTX mov.u32"},
           {"ld.global.u32 %0, [%1;", "unsupported: an operand of inline PTX ld.global.u32"},
           {"ld.global.u32 %0, [%1 + 1 + 2];", "unsupported: an operand of inline PTX ld.global.u32"},
           {"ld.global.u32 %0, [+4];", "unsupported: an operand of inline PTX ld.global.u32"},
           {"{ { .reg .b32 r; } mov.u32 r, 1; }", "unsupported: an operand of inline PTX mov.u32"},
           {"bra elsewhere;", "unsupported: bra to a label that is not in the same inline PTX"},
           {"{ inner: } bra inner;", "unsupported: bra to a label that is not in the same inline PTX"},
           {"a: a: trap;", "unsupported: inline PTX with a label twice"},
           {"{ trap;", "unsupported: inline PTX with unbalanced braces"},
           {"trap; }", "unsupported: inline PTX with unbalanced braces"},
           {".reg .b128 r; trap;", "unsupported: a register of type .b128"},
           {".reg .b32 r<9999>; trap;", "unsupported: inline PTX with more than 1024 registers"},
           {".reg .b32 r<x>;", "unsupported: a .reg of this form"},
           {".reg .b32 r", "unsupported: a .reg of this form"},
           {".pragma \"nounroll\";", "unsupported: the directive .pragma"},
           {".incbin \"/etc/passwd\"", "forbidden: inline assembly that is not PTX"},
           {"trap; .byte 0xcc", "forbidden: inline assembly that is not PTX"},
           {"1: trap;", "forbidden: inline assembly that is not PTX"},
       }) {
    EXPECT_THAT(translated(wrong.text), StartsWith(std::string(wrong.message))) << wrong.text;
  }
}

TEST(PtxText, PutsNothingOfTheTextIntoTheCode) {
  for (const char* text : {"mov.u32 %0, %x(system);", "mov.u32 %0, 1);", "mov.u32 %0, \"\";", "add.u32 %0, %1, 1'0;",
                           "@system() trap;", "{ .reg .b32 a(; }", "a()b: trap;"}) {
    const std::string result = translated(text);
    EXPECT_TRUE(result.starts_with("unsupported") || result.starts_with("forbidden")) << text << " becomes " << result;
  }
  EXPECT_EQ(translated("{ .reg .b32 $a$; mov.u32 $a$, %%x$y; }"),
            "({ unsigned __kw_r0__a_; __kw_ptx_mov_u32(__kw_r0__a_, __kw_ptx_register_x_y()); (void)0; })");
}

}  // namespace
}  // namespace sandbox::cpu::compiler
