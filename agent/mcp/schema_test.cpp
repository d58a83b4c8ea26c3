#include "agent/mcp/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace agent::mcp {
namespace {
using core::Json;
using testing::HasSubstr;

const Json& sample() {
  static const Json schema = object_schema({{"text", text_schema("a text", 5)},
                                            {"kind", choice_schema("a choice", {"one", "two"})},
                                            {"count", integer_schema("a count", 1, 10)},
                                            {"share", number_schema("a number")},
                                            {"set", integers_schema("integers by name")},
                                            {"list", list_schema("texts", text_schema("a text"))},
                                            {"yes", boolean_schema("a truth value")}},
                                           {"text"});
  return schema;
}

std::string fault(Json members) {
  if (!members.contains("text")) members["text"] = "a";
  try {
    require_fits(members, sample(), "call");
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Schema, RightArgumentsFit) {
  EXPECT_EQ(fault({{"text", "abcde"},
                   {"kind", "two"},
                   {"count", 10},
                   {"share", 1},
                   {"set", {{"A", -5}}},
                   {"list", {"x", "y"}},
                   {"yes", false}}),
            "");
}

TEST(Schema, EachFaultNamesItsPlace) {
  EXPECT_THAT(fault({{"text", "abcdef"}}), HasSubstr("call/text: has 6 bytes, more than the 5"));
  EXPECT_THAT(fault({{"kind", "tow"}}), HasSubstr("did you mean \"two\"?"));
  EXPECT_THAT(fault({{"count", 0}}), HasSubstr("call/count: 0 is not within 1 and 10"));
  EXPECT_THAT(fault({{"count", 18446744073709551615u}}), HasSubstr("is not within"));
  EXPECT_THAT(fault({{"count", 1.5}}), HasSubstr("must be an integer"));
  EXPECT_THAT(fault({{"share", "1"}}), HasSubstr("must be a number"));
  EXPECT_THAT(fault({{"set", {{"A", "x"}}}}), HasSubstr("call/set/A: must be an integer"));
  EXPECT_THAT(fault({{"set", Json::array()}}), HasSubstr("must be an object"));
  EXPECT_THAT(fault({{"list", {"x", 1}}}), HasSubstr("call/list/1: must be a text"));
  EXPECT_THAT(fault({{"yes", 1}}), HasSubstr("must be true or false"));
  EXPECT_THAT(fault({{"lsit", 1}}), HasSubstr("did you mean \"list\"?"));
  EXPECT_THAT(fault({{"text", nullptr}}), HasSubstr("must be a text"));
}

TEST(Schema, ResultsMayHaveFurtherMembers) {
  require_fits({{"a", 1}, {"b", 2}}, result_schema({{"a", number_schema("")}}, {"a"}), "result");
  EXPECT_THROW(require_fits(Json::array(), sample(), "call"), core::InputError);
}

}  // namespace
}  // namespace agent::mcp
