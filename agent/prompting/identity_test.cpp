#include "agent/prompting/identity.h"

#include <gtest/gtest.h>

namespace agent::prompting {
namespace {
constexpr const char* kHeader = R"(/* kernelwright
{"problem": "sum_f32", "description": "one", "tunables": {"BLOCK": [64, 128]},
 "launches": [{"kernel": "k", "grid": [1], "block": ["BLOCK"], "args": ["x", "y", "N"]}]}
*/
)";

std::string with(const std::string& body, const std::string& header = kHeader) { return identity_of(header + body); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Identity, CommentsAndWhiteSpaceDoNotCount) {
  const std::string one = with("extern \"C\" __global__ void k(float* x) { x[0] = 1; }\n");
  EXPECT_EQ(one, with("// told\nextern  \"C\"\n__global__ void k ( float *x ) {\n  x[0] /* here */ = 1;\n}"));
  EXPECT_EQ(one.size(), 64u);
}

TEST(Identity, TheFormOfTheHeaderDoesNotCount) {
  const std::string one = with("void k();");
  EXPECT_EQ(one, with("void k();", replaced(kHeader, "\"one\"", "\"two\"")));
  EXPECT_EQ(one, with("void k();", replaced(kHeader, "\"description\": \"one\", ", "")));
  EXPECT_EQ(one, with("void k();", R"(
/* kernelwright {"launches": [{"args": ["x","y","N"], "block": ["BLOCK"], "grid": [1], "kernel": "k"}],
"tunables": {"BLOCK": [64,128]}, "problem": "sum_f32"} */ )"));
}

TEST(Identity, DifferentCodeDiffers) {
  const std::string one = with("void k() { a = b + c; }");
  EXPECT_NE(one, with("void k() { a = b - c; }"));
  EXPECT_NE(one, with("void k() { a = bb + c; }"));
  EXPECT_NE(one, with("void k() { a = b + c; }", replaced(kHeader, "[64, 128]", "[128, 64]")));
  EXPECT_NE(one, with("void k() { a = b + c; }", replaced(kHeader, "\"grid\": [1]", "\"grid\": [2]")));
}

TEST(Identity, WhiteSpaceThatMeansSomethingCounts) {
  EXPECT_NE(with("int f = a - -b;"), with("int f = a --b;"));
  EXPECT_NE(with("#define f(x) 1\n"), with("#define f (x) 1\n"));
  EXPECT_NE(with("#define A 1\nint x;"), with("#define A 1 int x;"));
  EXPECT_NE(with("const char* s = \"a b\";"), with("const char* s = \"a  b\";"));
}

TEST(Identity, TextWithoutAHeaderIsItself) {
  EXPECT_EQ(identity_of("no header"), identity_of("no header"));
  EXPECT_NE(identity_of("no header"), identity_of("no  header"));
}

}  // namespace
}  // namespace agent::prompting
