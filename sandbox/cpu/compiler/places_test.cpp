#include "sandbox/cpu/compiler/places.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/text.h"

namespace sandbox::cpu::compiler {
namespace {

// The numbers of the lines of the source on which the spread text has this text.
std::vector<int64_t> lines_with(const std::string& source, const std::string& text) {
  std::vector<int64_t> found;
  const std::vector<std::string> lines = core::split(spread_lines(source), '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(text) != std::string::npos) found.push_back(line_of_place(static_cast<int64_t>(i) + 1));
  }
  return found;
}

TEST(Places, KeepTheLineOfEachToken) {
  const std::string source =
      "#define LONG(a) \\\n"
      "  do { first(a); } \\\n"
      "  while (0)  // of a\\\n comment\n"
      "int fifth; /* two\n lines */ int sixth; const char* s = R\"(raw\ntext)\"; int seventh;\n"
      "int eighth;";
  EXPECT_EQ(lines_with(source, "fifth"), std::vector<int64_t>{5});
  EXPECT_EQ(lines_with(source, "sixth"), std::vector<int64_t>{6});
  EXPECT_EQ(lines_with(source, "seventh"), std::vector<int64_t>{7});
  EXPECT_EQ(lines_with(source, "eighth"), std::vector<int64_t>{8});
  EXPECT_NE(spread_lines(source).find("#define LONG(a) \\\n  do { first(a); } \\\n  while (0)"), std::string::npos);
}

TEST(Places, PutEachSideOfAConditionOnALineOfItsOwn) {
  const std::string text = spread_lines("y = x > 0 && z ? one(x) : two(x);\nif (a) b(); else c();");
  const std::vector<std::string> lines = core::split(text, '\n');
  const auto place = [&](const std::string& of) {
    return std::ranges::find_if(lines, [&](const std::string& line) { return line.find(of) != std::string::npos; }) -
           lines.begin();
  };
  EXPECT_LT(place("x > 0"), place("z ?"));
  EXPECT_LT(place("z ?"), place("one("));
  EXPECT_LT(place("one("), place("two("));
  EXPECT_LT(place("if (a"), place("b("));
  EXPECT_LT(place("b("), place("else c("));
  EXPECT_EQ(line_of_place(place("two(") + 1), 1);
  EXPECT_EQ(line_of_place(place("if (a") + 1), 2);
}

TEST(Places, LeaveTheRestOfALongLineTogether) {
  std::string source;
  for (int i = 0; i < 100; ++i) source += "f(" + std::to_string(i) + ");";
  source += "\nlast();";
  EXPECT_EQ(lines_with(source, "f(99)"), std::vector<int64_t>{1});
  EXPECT_EQ(lines_with(source, "last"), std::vector<int64_t>{2});
}

}  // namespace
}  // namespace sandbox::cpu::compiler
