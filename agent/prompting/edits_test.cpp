#include "agent/prompting/edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent::prompting {
namespace {
using testing::HasSubstr;
using testing::Not;

std::string edited(const std::string& text, const std::vector<Edit>& edits) {
  const auto result = apply_edits(text, edits);
  if (const auto* failed = std::get_if<EditFailed>(&result)) return "failed: " + failed->reason;
  return std::get<std::string>(result);
}

TEST(Edits, AreAppliedOneAfterAnother) {
  EXPECT_EQ(edited("a\nb\nc\n", {{"b\n", "x\ny\n"}, {"x\ny\nc\n", "z\n"}}), "a\nz\n");
  EXPECT_EQ(edited("a\nb\nc\n", {{"b\n", ""}}), "a\nc\n");
  EXPECT_EQ(edited("a\nb", {{"\nb\n\n", "c"}}), "a\nc\n");
  EXPECT_EQ(edited("a \r\n\tb\t\r\nc\n", {{"a\n\tb", "x"}}), "x\nc\n");
}

TEST(Edits, MissingLinesAreQuoted) {
  const std::string result = edited("  a\nb\n", {{"b\n", "c\n"}, {"a\nsome \x1b[31mother\n", ""}});
  EXPECT_THAT(result, HasSubstr("failed: edit 2 of 2 searches for lines that do not occur exactly in the parent"));
  EXPECT_THAT(result, HasSubstr("`a | some ?[31mother`"));
  EXPECT_THAT(edited("ab\n", {{"a\n", "x\n"}}), HasSubstr("do not occur exactly"));  // whole lines
}

TEST(Edits, RepeatedLinesAreAmbiguous) {
  EXPECT_THAT(edited("a\nb\na\n", {{"a", "x"}}), HasSubstr("more than once in the parent; quote more of them: `a`"));
  EXPECT_THAT(edited("a\na\na\n", {{"a\na", "x"}}), HasSubstr("more than once"));  // overlapping
  EXPECT_EQ(edited("a\nb\na\n", {{"b\na", "x"}}), "a\nx\n");
}

TEST(Edits, SearchingForNothingFails) {
  EXPECT_THAT(edited("a\n", {{"\n \n", "x"}}), HasSubstr("has an empty search"));
  EXPECT_THAT(edited("", {{"a", "x"}}), HasSubstr("do not occur exactly"));
}

TEST(Edits, ManyEqualLinesTakeNoLonger) {
  std::string text, search = "y\n";
  for (int i = 0; i < 60'000; ++i) text += "x\n";
  for (int i = 0; i < 30'000; ++i) search += "x\n";
  EXPECT_THAT(edited(text, {{search, ""}}), HasSubstr("do not occur exactly"));
  EXPECT_THAT(edited(text, {{search + "y\n", ""}}), Not(HasSubstr(std::string(1000, 'x'))));
}

}  // namespace
}  // namespace agent::prompting
