#include "sandbox/hip/inspection/machine_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "sandbox/hip/compiler/hiprtc_fixture.h"

namespace sandbox::hip::inspection {
namespace {
using testing::HasSubstr;

std::string refusal(const std::string& text) { return refuse_instruction(text).value_or(""); }

TEST(AmdMachineCode, KnowsWhatIsNotForKernels) {
  for (const char* text : {"s_memtime s[0:1]", "\ts_memrealtime s[2:3]", "s_get_shader_cycles_u64 s[0:1]"}) {
    EXPECT_THAT(refusal(text), HasSubstr("reads a clock")) << text;
  }
  for (const char* text : {"s_getreg_b32 s0, hwreg(HW_REG_SHADER_CYCLES, 0, 20)",
                           "s_getreg_b32 s1, hwreg(HW_REG_HW_ID)", "s_getreg_b32 s1, hwreg(HW_REG_XCC_ID)",
                           "s_getreg_b32 s1, hwreg(29)", "s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 1), s2"}) {
    EXPECT_THAT(refusal(text), HasSubstr("clocks and places")) << text;
  }
  for (const char* text : {"s_setpc_b64 s[30:31]", "s_swappc_b64 s[30:31], s[4:5]", "s_call_b64 s[4:5], 12",
                           "s_rfe_b64 s[0:1]", "s_cbranch_i_fork s[0:1], 3"}) {
    EXPECT_THAT(refusal(text), HasSubstr("through a register")) << text;
  }
  EXPECT_THAT(refusal("s_sendmsg sendmsg(MSG_INTERRUPT)"), HasSubstr("sends a message"));
  EXPECT_THAT(refusal("s_sendmsg_rtn_b64 s[0:1], sendmsg(MSG_RTN_GET_REALTIME)"), HasSubstr("a clock or a place"));
  EXPECT_THAT(refusal("s_trap 3"), HasSubstr("trap handler"));
  EXPECT_THAT(refusal("ds_add_u32 v0, v1 gds"), HasSubstr("outlasts a launch"));
  EXPECT_THAT(refusal("ds_gws_barrier v0 gds"), HasSubstr("outlasts a launch"));
  EXPECT_THAT(refusal("s_mov_b32 s0, ttmp11"), HasSubstr("the register ttmp11"));
  EXPECT_THAT(refusal("s_mov_b64 s[0:1], tma"), HasSubstr("the register tma"));
  EXPECT_THAT(refusal("image_load v[0:3], v0, s[0:7] dmask:0xf"), HasSubstr("texture"));
  EXPECT_THAT(refusal("exp mrt0 v0, v0, v0, v0 done"), HasSubstr("colours"));
  EXPECT_THAT(refusal(""), HasSubstr("no instructions"));
}

TEST(AmdMachineCode, LetsOthersPass) {
  for (const char* text :
       {"s_load_dwordx2 s[0:1], s[6:7], 0x0", "v_exp_f32_e32 v0, v1", "s_barrier", "s_endpgm", "ds_add_u32 v0, v1",
        "s_getreg_b32 s14, hwreg(HW_REG_SH_MEM_BASES, 16, 16)", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3",
        "s_trap 2", "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)", "v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[2:3], a[0:3]",
        "s_mov_b32 s2, ttmp9", "s_getpc_b64 s[4:5]", "s_cbranch_execz 29", "global_atomic_add_f32 v0, v1, s[0:1]"}) {
    EXPECT_EQ(refusal(text), "") << text;
  }
}

#ifdef KW_HAVE_HIPRTC
// Instructions of gfx90a, by their words.
std::string finding(const std::vector<uint32_t>& words) {
  const std::string code(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t));
  try {
    inspect_code(code, "gfx90a", compiler::test::comgr());
    return "";
  } catch (const core::InputError& refused) {
    return refused.problem();
  }
}
constexpr uint32_t kEnd = 0xbf810000, kNop = 0xbf800000, kBranch = 0xbf820000, kLoad = 0xc0020002;

TEST(AmdMachineCode, NothingHidesInsideOfAnInstruction) {
  EXPECT_EQ(finding({kNop, kEnd, kNop}), "");
  EXPECT_EQ(finding({kBranch | 0xffff, kEnd}), "");  // to itself
  EXPECT_EQ(finding({kLoad, 4, kEnd}), "");          // s_load_dword, of eight bytes
  EXPECT_THAT(finding({kBranch | 1, kLoad, kEnd, kEnd}), HasSubstr("where no instruction begins"));
  EXPECT_THAT(finding({kBranch | 7, kEnd}), HasSubstr("where no instruction begins"));       // out of the code
  EXPECT_THAT(finding({kBranch | 0xfff0, kEnd}), HasSubstr("where no instruction begins"));  // before it
  EXPECT_THAT(finding({kEnd, kLoad}), HasSubstr("no instructions"));                         // cut
  EXPECT_THAT(finding({0xffffffff, kEnd}), HasSubstr("no instructions"));
}

TEST(AmdMachineCode, TheEndRunsIntoNothing) {
  EXPECT_THAT(finding({kNop}), HasSubstr("runs on"));
  EXPECT_THAT(finding({kEnd, 0x7e000280, kNop}), HasSubstr("runs on"));  // v_mov_b32 v0, 0
  EXPECT_EQ(finding({kEnd, kBranch | 0xfffe, kNop}), "");
}
#endif

}  // namespace
}  // namespace sandbox::hip::inspection
