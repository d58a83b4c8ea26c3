#include "core/strict_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/error.h"
#include "core/hash.h"

namespace core {
namespace {

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(StrictJson, UnknownFieldIsRefusedWithPointerAndRemedy) {
  const Json json = parse_json(R"({"axes": {"M": {"mn": 1}}})", "p.json");
  const JsonView view = JsonView(json, "p.json").at("axes").at("M");
  EXPECT_EQ(refusal([&] {
              view.expect_object({}, {"min", "max"});
            }),
            "p.json#/axes/M/mn: unknown field \"mn\"\n  did you mean \"min\"?");
}

TEST(StrictJson, RefusesDuplicatesBadNumbersAndDepth) {
  EXPECT_THAT(refusal([] { parse_json(R"({"a": 1, "a": 2})", "f"); }), testing::HasSubstr("occurs twice"));
  EXPECT_THAT(refusal([] { parse_json("{\"a\": }", "f"); }), testing::HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal([] { parse_json(std::string(100, '['), "f"); }), testing::HasSubstr("nested"));
  const Json number = parse_json("18446744073709551615", "f");
  EXPECT_THAT(refusal([&] { JsonView(number, "f").integer(); }), testing::HasSubstr("between"));
}

TEST(StrictJson, ExpressionErrorsCarryThePointer) {
  const Json json = parse_json(R"({"cost": "4 * / N"})", "p.json");
  EXPECT_THAT(refusal([&] { JsonView(json, "p.json").at("cost").expr(); }), testing::StartsWith("p.json#/cost: "));
}

TEST(Hash, FieldsDoNotRunTogether) {
  EXPECT_NE(Hasher().field("t", "ab").field("t", "c").hex(), Hasher().field("t", "a").field("t", "bc").hex());
  EXPECT_EQ(sha256_hex("x").size(), 64u);
}

}  // namespace
}  // namespace core
