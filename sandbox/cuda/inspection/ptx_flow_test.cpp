// Flow of addresses, on hand-written PTX.
#include "sandbox/cuda/inspection/ptx_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "sandbox/cuda/inspection/ptx_text.h"

namespace sandbox::cuda::inspection {
namespace {
using testing::HasSubstr;

// The finding for `functions` and a kernel k(p) that may use the variable t; "" if accepted.
std::string flow_finding(const std::string& body, const std::string& functions = "") {
  const std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .b8 t[16] = {1, 2};\n" +
                           functions + "\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<9>;\n" + body + "\n}\n";
  try {
    const PtxText ptx = parse_ptx(text, "solution.cu");
    const auto refused = find_written_variable(ptx);
    return refused ? refused->message : "";
  } catch (const core::InputError& error) {
    return error.problem();
  }
}

TEST(PtxFlow, TablesAreRead) {
  EXPECT_EQ(flow_finding("mov.u64 %rd1, t; cvta.global.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 4; ld.u32 %r1, [%rd3]; "
                         "ld.param.u64 %rd4, [p]; st.global.u32 [%rd4], %r1; st.global.u64 [%rd4], %rd4;"),
            "");
}

TEST(PtxFlow, ArgumentsAreTakenByTheirPlace) {
  const std::string callee =
      ".func (.param .b64 r0, .param .b64 r1) f(.param .b64 a, .param .b64 b) { .reg .b64 %x<4>; "
      "ld.param.b64 %x1, [b]; st.param.b64 [r1], %x1; ret; }";
  const std::string call = "{ .param .b64 u; .param .b64 v; .param .b64 a0; st.param.b64 [a0], t; ";
  EXPECT_THAT(flow_finding(call + "call (_, v), f, (5, a0); ld.param.b64 %rd1, [v]; st.u32 [%rd1], 1; }", callee),
              HasSubstr("writes to"));
  EXPECT_EQ(flow_finding(call + "call (u, v), f, (a0, 5); ld.param.b64 %rd1, [v]; st.u32 [%rd1], 1; }", callee), "");
  EXPECT_THAT(flow_finding(call + "call (u, v), f, (5, a0); ld.param.b64 %rd1, [v]; st.u32 [%rd1], 1; }",
                           callee + "\n.func (.param .b64 r0, .param .b64 r1) f(.param .b64 c, .param .b64 d);"),
              HasSubstr("writes to"));
}

TEST(PtxFlow, NamesAreResolvedInTheirScope) {
  EXPECT_THAT(flow_finding("{ .param .b64 a; st.param.b64 [a], t; { .param .b64 a; } call f, (a); }",
                           ".func f(.param .b64 a) { .reg .b64 x; ld.param.b64 x, [a]; st.u32 [x], 1; }"),
              HasSubstr("writes to"));
  EXPECT_THAT(flow_finding(".reg .u64 q; { mov.u64 q, t; .reg .u64 q; mov.u64 q, 1; } st.u32 [q], 1;"),
              HasSubstr("writes to"));
  EXPECT_THAT(flow_finding(".reg .u64 t<4>; st.u32 [t], 1;"), HasSubstr("writes to"));
  EXPECT_EQ(flow_finding("{ .reg .u64 t; ld.param.u64 t, [p]; st.u32 [t], 1; }"), "");
  EXPECT_EQ(flow_finding("{ .reg .u64 q; mov.u64 q, t; } { .reg .u64 q; ld.param.u64 q, [p]; st.u32 [q], 1; }"), "");
}

TEST(PtxFlow, PartsOfAVectorHoldItsAddresses) {
  EXPECT_THAT(flow_finding("{ .param .b64 r; call (r), f; .reg .v2 .u64 v; ld.param.v2.u64 v, [r]; st.u32 [v.y], 1; }",
                           ".func (.param .align 16 .b8 r[16]) f() { st.param.b64 [r + 8], t; ret; }"),
              HasSubstr("writes to"));
  EXPECT_EQ(flow_finding("mov.u32 %r1, %tid.x; ld.param.v2.u64 {%rd1, %rd2}, [p]; st.u32 [%rd1], %r1;"), "");
}

TEST(PtxFlow, AnInstructionDoesNotHideInAnother) {
  EXPECT_THAT(flow_finding("@@DWARF .byte 1\n st.u32 [t], 1;"), HasSubstr("predicate of nothing"));
  EXPECT_THAT(flow_finding("mov.u32 %r1, 1\n st.u32 [t], 1;"), HasSubstr("within another"));
  EXPECT_THAT(flow_finding("mov.u32 %r1, 1 .x;"), HasSubstr("within another"));
}

TEST(PtxFlow, AddressesAreTracedThroughArgumentsOnTheStack) {
  EXPECT_THAT(
      flow_finding("{ .param .b64 a; st.param.b64 [a], t; call f, (a); }",
                   ".func f(.param .b64 a) { .reg .b64 x, y; mov.b64 x, a; ld.local.b64 y, [x]; st.u32 [y], 1; }"),
      HasSubstr("stores the address"));
}

TEST(PtxFlow, RefusesPtxThatTheCompilerNeverWrites) {
  EXPECT_THAT(flow_finding("", ".reg .u64 everywhere;"), HasSubstr("outside of functions"));
  EXPECT_THAT(flow_finding("", ".func f(.reg .b64 a) { ret; }"), HasSubstr("in registers"));
  EXPECT_THAT(flow_finding("", "st.global.u32 [t], 1;"), HasSubstr("outside of functions"));
  EXPECT_THAT(flow_finding("", ".global .b32 u = t;"), HasSubstr("holds an address"));
  EXPECT_THAT(flow_finding("brx.idx %rd1, %rd2; mov.u64 %rd3, t; brx.idx %rd3, %rd2;"), HasSubstr("computes with"));
}

}  // namespace
}  // namespace sandbox::cuda::inspection
