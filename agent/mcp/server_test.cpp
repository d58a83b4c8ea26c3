// The protocol, in both eras.
#include "agent/mcp/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/mcp/server_fixture.h"

namespace agent::mcp {
namespace {
using core::Json;
using test::answers_to;
using testing::HasSubstr;

Json stateless_meta() {
  return {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
          {"io.modelcontextprotocol/clientInfo", {{"name", "tester"}, {"version", "1"}}},
          {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
}

std::string request(const Json& id, const std::string& method, Json params = Json::object()) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}.dump();
}

std::string stateless(const Json& id, const std::string& method, Json params = Json::object()) {
  params["_meta"].update(stateless_meta());
  return request(id, method, std::move(params));
}

std::string handshake(const std::string& version) {
  return request(0, "initialize",
                 {{"protocolVersion", version}, {"capabilities", Json::object()}, {"clientInfo", {{"name", "old"}}}});
}

std::string notification(const std::string& method, const Json& params = Json::object()) {
  return Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump();
}

Json call(const std::string& tool, const Json& arguments = Json::object()) {
  return {{"name", tool}, {"arguments", arguments}};
}

Json only_answer(const std::vector<std::string>& lines) {
  const std::vector<Json> all = answers_to(lines);
  EXPECT_EQ(all.size(), 1u) << Json(all).dump(1);
  return all.empty() ? Json() : all.back();
}

int code_of(const Json& answer) { return answer.at("error").at("code").get<int>(); }

TEST(McpServer, DiscoversWithoutAHandshake) {
  const Json answer = only_answer({stateless("d", "server/discover")});
  EXPECT_EQ(answer.at("id"), "d");
  const Json& result = answer.at("result");
  EXPECT_EQ(result.at("supportedVersions"), Json::array({"2026-07-28"}));
  EXPECT_EQ(result.at("resultType"), "complete");
  EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"), "kernelwright");
  EXPECT_EQ(result.at("instructions"), "how to use it");
  EXPECT_TRUE(result.at("capabilities").contains("tools"));
  EXPECT_GE(result.at("ttlMs"), 0);
  EXPECT_EQ(result.at("cacheScope"), "private");
}

TEST(McpServer, RefusesWhatLacksARevisionOrNamesAnother) {
  EXPECT_EQ(code_of(only_answer({request(1, "tools/list")})), kInvalidParams);
  Json params{{"_meta", stateless_meta()}};
  params["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(code_of(only_answer({request(1, "tools/list", params)})), kInvalidParams);
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "1900-01-01";
  const Json answer = only_answer({request(1, "tools/list", params)});
  EXPECT_EQ(code_of(answer), kUnsupportedVersion);
  EXPECT_EQ(answer.at("error").at("data").at("supported"), Json::array({"2026-07-28"}));
  EXPECT_EQ(answer.at("error").at("data").at("requested"), "1900-01-01");
  EXPECT_EQ(code_of(only_answer({stateless(1, "ping")})), kMethodNotFound) << "removed in 2026-07-28";
}

TEST(McpServer, ShakesHandsInEveryOlderRevision) {
  for (const std::string& version : handshake_versions()) {
    const std::vector<Json> all = answers_to(
        {handshake(version), notification("notifications/initialized"), request(1, "ping"), request(2, "tools/list")});
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].at("result").at("protocolVersion"), version);
    EXPECT_EQ(all[0].at("result").at("serverInfo").at("name"), "kernelwright");
    EXPECT_EQ(all[1].at("result"), Json::object());
    EXPECT_FALSE(all[2].at("result").contains("resultType"));
    EXPECT_EQ(all[2].at("result").at("tools").size(), 3u);
  }
  for (const char* other : {"2026-07-28", "2199-01-01"}) {
    EXPECT_EQ(only_answer({handshake(other)}).at("result").at("protocolVersion"), "2025-11-25");
  }
  EXPECT_EQ(code_of(only_answer({request(1, "initialize")})), kInvalidParams);
}

TEST(McpServer, ListsToolsWithSchemasAndHints) {
  const Json tool = only_answer({stateless(1, "tools/list")}).at("result").at("tools").at(0);
  EXPECT_EQ(tool.at("name"), "echo");
  EXPECT_EQ(tool.at("inputSchema").at("type"), "object");
  EXPECT_EQ(tool.at("inputSchema").at("required"), Json::array({"text"}));
  EXPECT_EQ(tool.at("annotations").at("readOnlyHint"), true);
  EXPECT_EQ(code_of(only_answer({stateless(1, "tools/list", {{"cursor", "x"}})})), kInvalidParams);
}

TEST(McpServer, CallsAToolWithProgress) {
  Json params = call("echo", {{"text", "hello"}});
  params["_meta"]["progressToken"] = "p";
  const std::vector<Json> all = answers_to({stateless(1, "tools/call", params)});
  ASSERT_EQ(all.size(), 3u) << "progress increases each time";
  EXPECT_EQ(all[0].at("method"), "notifications/progress");
  EXPECT_EQ(all[1].at("params"),
            (Json{{"progressToken", "p"}, {"progress", 1.0}, {"total", 2.0}, {"message", "halfway"}}));
  const Json& result = all[2].at("result");
  EXPECT_EQ(result.at("structuredContent"), (Json{{"client", "tester"}, {"text", "hello"}}));
  EXPECT_EQ(Json::parse(result.at("content").at(0).at("text").get<std::string>()), result.at("structuredContent"));
  EXPECT_EQ(result.at("isError"), false);
  EXPECT_EQ(answers_to({stateless(1, "tools/call", call("echo", {{"text", "hello"}}))}).size(), 1u) << "nobody asked";
}

TEST(McpServer, WrongArgumentsAreAnErrorThatTheModelReads) {
  const auto error = [](const Json& arguments) {
    const Json result = only_answer({stateless(1, "tools/call", call("echo", arguments))}).at("result");
    EXPECT_EQ(result.at("isError"), true);
    return result.at("content").at(0).at("text").get<std::string>();
  };
  EXPECT_THAT(error(Json::object()), HasSubstr("\"text\" is missing"));
  EXPECT_THAT(error({{"text", 5}}), HasSubstr("echo/text: must be a text"));
  EXPECT_THAT(error({{"text", "a"}, {"txt", 1}}), HasSubstr("did you mean \"text\"?"));
  EXPECT_THAT(error({{"text", std::string(101, 'a')}}), HasSubstr("101 bytes, more than the 100"));
  EXPECT_EQ(code_of(only_answer({stateless(1, "tools/call", call("ecko"))})), kInvalidParams);
  EXPECT_EQ(code_of(only_answer({stateless(1, "tools/call")})), kInvalidParams);
  EXPECT_EQ(code_of(only_answer({stateless(1, "tools/call", {{"name", "echo"}, {"arguments", 3}})})), kInvalidParams);
  EXPECT_EQ(code_of(only_answer({stateless(1, "tools/cal")})), kMethodNotFound);
}

TEST(McpServer, AFailureOfOurOwnIsToldAndLogged) {
  std::vector<std::string> log;
  const std::vector<Json> all = answers_to({stateless(1, "tools/call", call("fail"))}, &log);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].at("result").at("isError"), true);
  EXPECT_THAT(all[0].dump(), HasSubstr("not the kernel's fault: the disk is full"));
  EXPECT_EQ(log, std::vector<std::string>{"fail: the disk is full"});
}

TEST(McpServer, ACancelledCallGetsNoAnswer) {
  const std::vector<Json> all =
      answers_to({stateless(1, "tools/call", call("wait")), stateless(2, "tools/call", call("wait")),
                  notification("notifications/cancelled", {{"requestId", 2}}),
                  stateless(3, "tools/call", call("echo", {{"text", "a"}})),
                  stateless(3, "tools/call", call("echo", {{"text", "b"}})),
                  notification("notifications/cancelled", {{"requestId", 99}}),
                  notification("notifications/cancelled", {{"requestId", {1, 2}}}),
                  notification("notifications/cancelled", {{"requestId", 1}})});
  ASSERT_EQ(all.size(), 2u) << Json(all).dump(1);
  EXPECT_EQ(code_of(all[0]), kInvalidRequest) << "its id is in use";
  EXPECT_EQ(all[1].at("id"), 3);
  EXPECT_EQ(all[1].at("result").at("structuredContent").at("text"), "a");
}

TEST(McpServer, AClientThatLeavesEndsItsCalls) {
  EXPECT_TRUE(answers_to({stateless(1, "tools/call", call("wait"))}).empty());
}

TEST(McpServer, OthersAreAnsweredWhileACallRuns) {
  const std::vector<Json> all = answers_to({stateless(1, "tools/call", call("wait")), stateless(2, "tools/list")});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].at("id"), 2);
}

TEST(McpServer, MoreCallsThanWaitAreRefused) {
  std::vector<std::string> lines;
  for (int id = 0; id < 40; ++id) lines.push_back(stateless(id, "tools/call", call("echo", {{"text", "a"}})));
  const std::vector<Json> all = answers_to(lines);
  ASSERT_EQ(all.size(), 40u);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Json& answer) { return answer.contains("error"); }), 8);
}

TEST(McpServer, ReadsResources) {
  const Json listed = only_answer({stateless(1, "resources/list")}).at("result").at("resources");
  EXPECT_EQ(listed.at(0).at("uri"), "test://page");
  const Json read = only_answer({stateless(1, "resources/read", {{"uri", "test://page"}})}).at("result");
  EXPECT_EQ(read.at("contents").at(0).at("text"), "its text");
  EXPECT_EQ(code_of(only_answer({stateless(1, "resources/read", {{"uri", "test://none"}})})), kInvalidParams);
  const std::vector<Json> old =
      answers_to({handshake("2025-11-25"), request(1, "resources/read", {{"uri", "test://none"}})});
  EXPECT_EQ(code_of(old.at(1)), kResourceNotFound);
  EXPECT_EQ(only_answer({stateless(1, "resources/templates/list")}).at("result").at("resourceTemplates"),
            Json::array());
}

TEST(McpServer, BatchesAreOfOneRevision) {
  const std::string batch = "[" + request(1, "ping") + "," + notification("notifications/x") + ",5," +
                            request(2, "tools/call", call("echo", {{"text", "a"}})) + "]";
  const std::vector<Json> all = answers_to({handshake("2025-03-26"), batch});
  ASSERT_EQ(all.size(), 2u);
  ASSERT_EQ(all[1].size(), 3u);
  EXPECT_EQ(all[1][0].at("id"), 1);
  EXPECT_EQ(code_of(all[1][1]), kInvalidRequest);
  EXPECT_EQ(all[1][2].at("id"), 2);
  EXPECT_EQ(code_of(answers_to({handshake("2025-06-18"), batch}).at(1)), kInvalidRequest);
}

TEST(McpServer, ASubscriptionStaysOpenUntilTheEnd) {
  const Json params{{"notifications", {{"toolsListChanged", true}}}};
  const std::vector<Json> all = answers_to({stateless("s", "subscriptions/listen", params)});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("method"), "notifications/subscriptions/acknowledged");
  EXPECT_EQ(all[0].at("params").at("_meta").at("io.modelcontextprotocol/subscriptionId"), "s");
  EXPECT_EQ(all[1].at("id"), "s");
  EXPECT_EQ(all[1].at("result").at("resultType"), "complete");
  EXPECT_EQ(answers_to({stateless("s", "subscriptions/listen", params),
                        notification("notifications/cancelled", {{"requestId", "s"}})})
                .size(),
            1u);
}

TEST(McpServer, ALineThatIsTooLongIsAnsweredUnderItsId) {
  test::ScriptedChannel channel;
  channel.lines.push_back({R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"x":"aaaa)", true});
  Server server(channel, test::small_offer(), [](const std::string&) {});
  server.serve([] { return false; });
  ASSERT_EQ(channel.sent.size(), 1u);
  EXPECT_EQ(channel.sent[0].at("id"), 9);
  EXPECT_EQ(code_of(channel.sent[0]), kInvalidRequest);
}

}  // namespace
}  // namespace agent::mcp
