#include "verifier/verdicts/first_failure.h"

#include <gtest/gtest.h>

namespace verifier::verdicts {
namespace {

WrongResult wrong_at(const std::string& workload, int64_t elements, bool patterned) {
  WrongResult wrong{{workload, "", "ordinary", ""}, "y", 0, 1, 2, 9, elements, elements};
  if (patterned) wrong.pattern = Pattern{PatternKind::tail, "Only the last row differs."};
  return wrong;
}
std::string named(const FirstFailure& failure) { return std::get<WrongResult>(*failure.verdict()).where.workload; }

TEST(FirstFailure, ALargeShapeSettlesItAtOnce) {
  FirstFailure plain, patterned, other;
  EXPECT_TRUE(plain.add(wrong_at("large", 4096, false)));
  EXPECT_TRUE(patterned.add(wrong_at("small", 4, true)));
  EXPECT_TRUE(other.add(NotWritten{{}, "y", 0, 1, 1}));
  EXPECT_TRUE(std::holds_alternative<NotWritten>(*other.verdict()));
}

TEST(FirstFailure, AFewElementsWaitForAPattern) {
  FirstFailure failure;
  EXPECT_FALSE(failure.add(wrong_at("tiny", 1, false)));
  EXPECT_EQ(named(failure), "tiny");
  EXPECT_FALSE(failure.add(wrong_at("small", 5, false)));
  EXPECT_EQ(named(failure), "tiny");
  WrongResult one = wrong_at("large", 4096, false);
  one.wrong_elements = 1;
  EXPECT_FALSE(failure.add(one));
  EXPECT_TRUE(failure.add(wrong_at("large", 4096, true)));
  EXPECT_EQ(named(failure), "large");
}

TEST(FirstFailure, TheFirstIsNamedWhereNoneShowsAPattern) {
  FirstFailure failure;
  EXPECT_FALSE(failure.verdict().has_value());
  EXPECT_FALSE(failure.add(wrong_at("tiny", 1, false)));
  EXPECT_TRUE(failure.add(GuardDamaged{{}, "y"}));
  EXPECT_EQ(named(failure), "tiny");
}

}  // namespace
}  // namespace verifier::verdicts
