// Finding loops and their safe transformations.
#include "verifier/audit/loops.h"

#include <gtest/gtest.h>

namespace verifier::audit {
namespace {

struct LoopCase {
  const char* name;
  const char* source;
  bool any_order, only_sums;
};
std::ostream& operator<<(std::ostream& out, const LoopCase& one) { return out << one.name; }
class OneLoop : public testing::TestWithParam<LoopCase> {};

TEST_P(OneLoop, IsUnderstood) {
  const auto loops = find_loops(GetParam().source);
  ASSERT_GE(loops.size(), 1u);
  EXPECT_EQ(loops[0].any_order, GetParam().any_order);
  EXPECT_EQ(loops[0].only_sums, GetParam().only_sums);
}
const LoopCase kCases[] = {
    {"sum", "for (int i = 0; i < N; ++i) s += x[i];", true, true},
    {"sum_under_a_condition", "for (int i = 0; i < N; i++) { if (x[i] > 0) s += x[i]; else t += x[i]; }", true, true},
    {"strided", "for (int i = threadIdx.x; i < N; i += blockDim.x) s += x[i];", true, true},
    {"of_declared", "for (int i = 0; i < N; ++i) { const float v = x[i]; s += v * v; }", true, true},
    {"maximum", "for (int i = 1; i < N; ++i) m = fmaxf(m, x[i]);", true, false},
    {"stores", "for (int i = 0; i < N; ++i) y[i] = x[i] * s;", true, false},
    {"nested", "for (int k = 0; k < K; k += 4) { for (int j = 0; j < 4; ++j) s += x[k + j]; }", true, true},
    {"prefix_sum", "for (int i = 0; i < N; ++i) { s += x[i]; y[i] = s; }", false, false},
    {"recurrence", "for (int i = 0; i < N; ++i) s = s * 0.5f + x[i];", false, false},
    {"last_one_wins", "for (int i = 0; i < N; ++i) s = x[i];", false, false},
    {"reads_what_it_stores", "for (int i = 1; i < N; ++i) y[i] = y[i - 1] + x[i];", false, false},
    {"through_a_pointer", "for (int i = 0; i < N; ++i) { *p = x[i]; }", false, false},
    {"leaves_early", "for (int i = 0; i < N; ++i) { if (x[i] < 0) break; s += x[i]; }", false, false},
    {"counts_itself", "for (int i = 0; i < N; ++i) { s += x[i]; i += 1; }", false, false},
    {"pointer_walks", "for (int i = 0; i < N; ++i) s += *p++;", false, false},
    {"address_taken", "for (int i = 0; i < N; ++i) add(&s, x[i]);", false, false},
};
INSTANTIATE_TEST_SUITE_P(Cases, OneLoop, testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Loops, OthersAreLeftAlone) {
  EXPECT_TRUE(find_loops("for (int h = 128; h > 0; h /= 2) s += x[h];").empty());
  EXPECT_TRUE(find_loops("for (int i = 0; i <= N; ++i) s += x[i];").empty());
  EXPECT_TRUE(find_loops("for (int i = 0; i < N && x[i] > 0; ++i) s += x[i];").empty());
  EXPECT_TRUE(find_loops("for (int i = 0, j = 1; i < N; ++i) s += x[i];").empty());
  EXPECT_TRUE(find_loops("for (;;) {}").empty());
  EXPECT_TRUE(find_loops("for (int i = 0; i < N; ++i").empty());
  EXPECT_TRUE(find_loops("// for (int i = 0; i < N; ++i) s += x[i];").empty());
}

TEST(Loops, HavePositions) {
  const std::string source = "{\n  for (int n = a + 1; n < N * 2; n += step) { s += x[n] + (1); }\n}";
  const auto loops = find_loops(source);
  ASSERT_EQ(loops.size(), 1u);
  const Loop& loop = loops[0];
  EXPECT_EQ(loop.line, 2);
  EXPECT_EQ(loop.type + "|" + loop.variable + "|" + loop.start + "|" + loop.limit + "|" + loop.step,
            "int|n|a + 1|N * 2|step");
  EXPECT_EQ(source.substr(loop.limit_begin, loop.limit_end - loop.limit_begin), "N * 2");
  ASSERT_EQ(loop.sums.size(), 1u);
  const LoopSum& sum = loop.sums[0];
  EXPECT_EQ(source.substr(sum.begin, sum.end - sum.begin), "s += x[n] + (1);");
  EXPECT_EQ(source.substr(sum.expression_begin, sum.expression_end - sum.expression_begin), "x[n] + (1)");
  EXPECT_EQ(source.substr(loop.end), "\n}");
}

}  // namespace
}  // namespace verifier::audit
