#include "core/suggest.h"

#include <gtest/gtest.h>

#include "core/enum_names.h"
#include "core/error.h"

namespace core {
namespace {

const std::vector<std::string> kCommands{"run", "judge", "export", "leaderboard"};

TEST(Suggest, KnowsOneSlip) {
  EXPECT_EQ(nearest("jugde", kCommands), "judge");  // transposed
  EXPECT_EQ(nearest("urn", kCommands), "run");
  EXPECT_EQ(nearest("juge", kCommands), "judge");      // deleted
  EXPECT_EQ(nearest("rum", kCommands), "run");         // substituted
  EXPECT_EQ(nearest("exxport", kCommands), "export");  // inserted
  EXPECT_EQ(nearest("RUN", kCommands), "run");
  EXPECT_EQ(nearest("lead", kCommands), "leaderboard");
}

TEST(Suggest, ListsTheFewThatBeginSo) {
  const std::vector<std::string> names{"gemm_bf16", "gemm_f16", "gemm_f32", "gelu_f32"};
  EXPECT_EQ(did_you_mean("gemm", names), "did you mean \"gemm_bf16\", \"gemm_f16\" or \"gemm_f32\"?");
  EXPECT_EQ(did_you_mean("ge", names), "known names: gemm_bf16, gemm_f16, gemm_f32, gelu_f32");  // too short to say
}

TEST(Suggest, IgnoresDistantNames) {
  EXPECT_EQ(nearest("nur", kCommands), "");
  EXPECT_EQ(nearest("eudgj", kCommands), "");
  EXPECT_EQ(did_you_mean("xyz", {"run", "judge"}, "commands"), "known commands: run, judge");
  EXPECT_EQ(did_you_mean("xyz", {}, "commands"), "there are no known commands");
}

enum class Colour { red, green, blue };
KW_ENUM_NAMES(Colour, red, green,  //
              blue)

static_assert(name_of(Colour::blue) == "blue" && enum_from_name<Colour>("green") == Colour::green);

TEST(EnumNames, AreReadAndWritten) {
  EXPECT_EQ(enum_names<Colour>(), (std::vector<std::string>{"red", "green", "blue"}));
  EXPECT_EQ(name_of(static_cast<Colour>(7)), "");
  EXPECT_EQ(enum_from_name<Colour>("yellow"), std::nullopt);
  EXPECT_EQ(parse_enum<Colour>("red", "here", "colours"), Colour::red);
  try {
    parse_enum<Colour>("gren", "here", "colours");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "here: \"gren\" is not one of the colours\n  did you mean \"green\"?");
  }
}

}  // namespace
}  // namespace core
