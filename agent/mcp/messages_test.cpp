#include "agent/mcp/messages.h"

#include <gtest/gtest.h>

namespace agent::mcp {
namespace {
using core::Json;

template <typename T>
T only(const std::string& line) {
  const ParsedLine parsed = parse_line(line);
  EXPECT_FALSE(parsed.is_batch);
  EXPECT_EQ(parsed.messages.size(), 1u);
  const T* message = std::get_if<T>(&parsed.messages.front());
  EXPECT_NE(message, nullptr) << line;
  return message != nullptr ? *message : T();
}

TEST(Messages, RequestsNotificationsAndResponsesAreTold) {
  const auto request = only<Request>(R"({"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":1}})");
  EXPECT_EQ(request.id, 7);
  EXPECT_EQ(request.method, "ping");
  EXPECT_EQ(request.params, Json({{"a", 1}}));
  EXPECT_EQ(only<Request>(R"({"jsonrpc":"2.0","id":"x","method":"ping"})").params, Json::object());
  EXPECT_EQ(only<Notification>(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").method,
            "notifications/initialized");
  only<Response>(R"({"jsonrpc":"2.0","id":1,"result":{}})");
  only<Response>(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}})");
}

TEST(Messages, FaultsHaveTheirCodeAndTheIdWhereItCanBeRead) {
  const auto is = [](const std::string& line, int code, const Json& id) {
    const auto fault = only<Malformed>(line);
    EXPECT_EQ(fault.code, code) << line;
    EXPECT_EQ(fault.id, id) << line;
    EXPECT_FALSE(fault.message.empty());
  };
  is("{", kParseError, {});
  is("", kParseError, {});
  is(std::string("\"\xff\""), kParseError, {});
  is(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", kParseError, {});
  is(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":)" + std::string(100, '[') + std::string(100, ']') + "}}",
     kParseError, {});
  is("17", kInvalidRequest, {});
  is("[]", kInvalidRequest, {});
  is("{}", kInvalidRequest, {});
  is(R"({"jsonrpc":"1.0","id":3,"method":"ping"})", kInvalidRequest, 3);
  is(R"({"jsonrpc":"2.0","id":3})", kInvalidRequest, 3);
  is(R"({"jsonrpc":"2.0","id":3,"method":5})", kInvalidRequest, 3);
  is(R"({"jsonrpc":"2.0","id":null,"method":"ping"})", kInvalidRequest, {});
  is(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", kInvalidRequest, {});
  is(R"({"jsonrpc":"2.0","id":"a","method":"ping","params":[1]})", kInvalidParams, "a");
}

TEST(Messages, ABatchIsTakenApart) {
  const ParsedLine parsed = parse_line(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},3])");
  EXPECT_TRUE(parsed.is_batch);
  ASSERT_EQ(parsed.messages.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Request>(parsed.messages[0]));
  EXPECT_TRUE(std::holds_alternative<Malformed>(parsed.messages[1]));
}

TEST(Messages, TheIdIsFoundInABeginning) {
  EXPECT_EQ(id_in_beginning(R"({"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"id":3,"x":"aaa)"), 41);
  EXPECT_EQ(id_in_beginning(R"({"params":{"id":3},"id":"later","x":")"), "later");
  EXPECT_EQ(id_in_beginning(R"({"params":{"id":3,"x":"aaaa)"), Json());
  EXPECT_EQ(id_in_beginning(R"({"id":[5],"x":")"), Json());
  EXPECT_EQ(id_in_beginning("aaaa"), Json());
}

TEST(Messages, LinesAreCleanAscii) {
  const std::string line = line_of({{"text", "a\nb \x1b[31mred \xe2\x80\xae back \xc3\xa9"}});
  EXPECT_EQ(line, R"({"text":"a\nb ?[31mred ??? back \u00e9"})");
}

}  // namespace
}  // namespace agent::mcp
