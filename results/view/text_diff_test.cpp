#include "results/view/text_diff.h"

#include <gtest/gtest.h>

namespace results::view {
namespace {

TEST(TextDiff, ShowsChangesInTheirContext) {
  EXPECT_EQ(unified_diff("a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nD\ne\nf\ng\n"),
            "@@ -1,7 +1,7 @@\n a\n b\n c\n-d\n+D\n e\n f\n g\n");
}

TEST(TextDiff, OfTheSameIsEmpty) {
  EXPECT_EQ(unified_diff("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(unified_diff("", ""), "");
}

TEST(TextDiff, OfNothingIsAllOfIt) {
  EXPECT_EQ(unified_diff("", "a\nb\n").substr(sizeof "@@ -1,0 +1,2 @@" - 1), "\n+a\n+b\n");
  EXPECT_EQ(unified_diff("a\n", "").substr(sizeof "@@ -1,1 +1,0 @@" - 1), "\n-a\n");
}

}  // namespace
}  // namespace results::view
