#include "verifier/judging/messages.h"

#include <gtest/gtest.h>

namespace verifier::judging {
namespace {
// The judge draws shapes for what a source asks, and never sees the source itself.
TEST(Messages, CarryAllThatIsReadOfASource) {
  const sandbox::Solution solution = sandbox::parse_solution(R"cu(/* kernelwright
{"problem": "p", "launches": [{"kernel": "k", "grid": ["M"], "block": [64], "args": ["x", "y", "M", "N"]}]}
*/
extern "C" __global__ void k(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x / 4, part = (int)((float)threadIdx.x * (1.0f / N));
  const unsigned short at = part;
  if (M * N < 70000 && N % 128 == 0) y[row] = x[at] + 2.5f;
}
)cu",
                                                             "s.cu");
  const draws::source::SourceNumbers read = draws::source::numbers_of(solution.source, {}, solution.launches);
  const draws::source::SourceNumbers carried =
      plan_from_json(core::JsonView(plan_json(solution, {}), "plan"), "s.cu").numbers;
  EXPECT_EQ(carried.decisive, read.decisive);
  EXPECT_EQ(carried.others, read.others);
  EXPECT_EQ(carried.ends_of_types, read.ends_of_types);
  EXPECT_EQ(carried.values, read.values);
  EXPECT_EQ(carried.conditions, read.conditions);
  ASSERT_EQ(carried.comparisons.size(), read.comparisons.size());
  for (size_t i = 0; i < read.comparisons.size(); ++i) {
    EXPECT_EQ(carried.comparisons[i].of.text(), read.comparisons[i].of.text());
  }
  for (const draws::source::SourceNumbers& one : {read, carried}) {
    EXPECT_TRUE(one.multiplies_by_reciprocals);
    EXPECT_TRUE(one.renumbers_blocks);
    EXPECT_FALSE(one.conditions.empty() || one.comparisons.empty() || one.values.empty() || one.ends_of_types.empty());
  }
}

}  // namespace
}  // namespace verifier::judging
