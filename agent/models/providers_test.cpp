#include "agent/models/providers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <thread>
#include <vector>

#include "agent/models/folder_fixture.h"
#include "agent/models/http_server_fixture.h"
#include "agent/models/model_fixture.h"
#include "agent/models/transcript.h"
#include "core/error.h"
#include "core/strict_json.h"

namespace agent::models {
namespace {
using core::Json;
using test::ask;
using test::completion_of;
using test::HttpSeen;
using test::HttpServer;
using test::HttpWire;
using test::no_completion_of;
using test::prompt_of;
using test::wait_for;
using testing::HasSubstr;
using testing::Not;

ModelOptions options_with(const std::map<std::string, std::string>& variables) {
  ModelOptions options;
  options.environment = [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return options;
}

std::string fault_of(const std::string& name, const ModelOptions& options = options_with({})) {
  try {
    make_model(name, options);
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(MakeModel, EachProviderGetsItsOwnRequests) {
  struct Case {
    const char* name;
    const char* base;
    const char* base_path;
    const char* key;
    const char* path;
    const char* header;
    const char* reply;
  };
  const Case cases[] = {
      {"anthropic:m", "ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY", "/v1/messages", "x-api-key: secret-key",
       R"({"content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"})"},
      {"openai:m", "OPENAI_BASE_URL", "/v1/", "OPENAI_API_KEY", "/v1/responses", "Authorization: Bearer secret-key",
       R"({"status":"completed","output":[{"content":[{"type":"output_text","text":"Hi"}]}]})"},
      {"openai-chat:m", "OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY", "/v1/chat/completions",
       "Authorization: Bearer secret-key", R"({"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]})"},
      {"gemini:m", "GEMINI_BASE_URL", "", "GOOGLE_API_KEY", "/v1beta/models/m:streamGenerateContent?alt=sse",
       "x-goog-api-key: secret-key",
       R"({"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]})"}};
  for (const Case& one : cases) {
    HttpServer server(
        [&](HttpWire& wire, const HttpSeen&, int) { wire.answer("200 OK", "application/json", one.reply); });
    const ModelOptions options = options_with({{one.base, server.url() + one.base_path}, {one.key, "secret-key"}});
    const auto model = make_model(one.name, options);
    EXPECT_EQ(model->name(), one.name);
    EXPECT_EQ(completion_of(wait_for(ask(*model, prompt_of("x")))).text, "Hi") << one.name;
    const HttpSeen seen = server.seen().at(0);
    EXPECT_THAT(seen.head, HasSubstr("POST " + std::string(one.path) + " HTTP")) << one.name;
    EXPECT_THAT(seen.head, HasSubstr(one.header)) << one.name;
    EXPECT_THAT(seen.body, Not(HasSubstr("secret-key"))) << one.name;
  }
}

TEST(MakeModel, AnyServerWithOrWithoutAModelAndAKey) {
  HttpServer server([](HttpWire& wire, const HttpSeen& request, int) {
    const char* const body = request.head.rfind("GET /v1/models ", 0) == 0
                                 ? R"({"object":"list","data":[{"id":"first-7b"},{"id":"second"}]})"
                                 : R"({"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]})";
    wire.answer("200 OK", "application/json", body);
  });
  const auto named = make_model(server.url() + "/v1#some/model:7b", options_with({{"KW_API_KEY", "secret-key"}}));
  wait_for(ask(*named, prompt_of("x")));
  const auto unnamed = make_model(server.url() + "/v1/", options_with({{"OPENAI_API_KEY", "secret-key"}}));
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 3; ++i) answers.push_back(ask(*unnamed, prompt_of("x")));
  for (auto& answer : answers) EXPECT_EQ(completion_of(wait_for(std::move(answer))).model, "first-7b");
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 5u) << "the list is asked for once";
  EXPECT_EQ(Json::parse(seen[0].body)["model"], "some/model:7b");
  EXPECT_THAT(seen[0].head, HasSubstr("POST /v1/chat/completions HTTP"));
  EXPECT_THAT(seen[0].head, HasSubstr("Bearer secret-key"));
  EXPECT_EQ(Json::parse(seen[4].body)["model"], "first-7b");
  EXPECT_THAT(seen[4].head, Not(HasSubstr("Authorization"))) << "another's key";
}

TEST(MakeModel, AServerThatListsNoModelsIsAskedWithoutAName) {
  HttpServer server([](HttpWire& wire, const HttpSeen& request, int) {
    if (request.head.rfind("GET ", 0) == 0) {
      wire.answer("404 Not Found", "text/plain", "");
    } else {
      wire.answer("200 OK", "application/json", R"({"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]})");
    }
  });
  const auto model = make_model(server.url() + "/v1", options_with({}));
  EXPECT_EQ(completion_of(wait_for(ask(*model, prompt_of("x")))).text, "Hi");
  EXPECT_FALSE(Json::parse(server.seen().at(1).body).contains("model"));
}

TEST(MakeModel, CancellingAlsoEndsWaitingForTheListOfModels) {
  HttpServer server([](HttpWire& wire, const HttpSeen&, int) { wire.wait_for_hang_up(); });
  const auto model = make_model(server.url() + "/v1", options_with({}));
  auto first = ask(*model, prompt_of("x")), second = ask(*model, prompt_of("y"));
  while (server.seen().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  model->cancel();
  EXPECT_EQ(no_completion_of(wait_for(std::move(first))).cause, NoCompletion::Cause::cancelled);
  EXPECT_EQ(no_completion_of(wait_for(std::move(second))).cause, NoCompletion::Cause::cancelled);
}

TEST(MakeModel, ARedirectionIsNotFollowed) {
  HttpServer elsewhere([](HttpWire& wire, const HttpSeen&, int) { wire.answer("200 OK", "application/json", "{}"); });
  HttpServer server([&](HttpWire& wire, const HttpSeen&, int) {
    wire.answer("307 Temporary Redirect", "text/plain", "", "Location: " + elsewhere.url() + "/v1\r\n");
  });
  const auto model = make_model(server.url() + "/v1", options_with({{"KW_API_KEY", "secret-key"}}));
  EXPECT_THAT(no_completion_of(wait_for(ask(*model, prompt_of("x")))).what, HasSubstr("redirection"));
  EXPECT_TRUE(elsewhere.seen().empty());
}

TEST(MakeModel, NamesThatMeanNothingAreSaid) {
  EXPECT_THAT(fault_of("antropic:claude"), HasSubstr("did you mean \"anthropic\"?"));
  for (const char* name : {"anthropic", "claude", "", ":", "inbox:", "replay:", "exec:", "http://", "https:///v1",
                           "http://a b/v1", "anthropic:"}) {
    EXPECT_NE(fault_of(name), "none") << name;
  }
  EXPECT_NE(fault_of("replay:/no/such/file"), "none");
}

TEST(MakeModel, AMissingKeyIsSaidAtOnce) {
  EXPECT_THAT(fault_of("anthropic:m"), HasSubstr("ANTHROPIC_API_KEY"));
  EXPECT_THAT(fault_of("gemini:m"), HasSubstr("GEMINI_API_KEY or GOOGLE_API_KEY"));
  EXPECT_EQ(fault_of("anthropic:m", options_with({{"ANTHROPIC_BASE_URL", "http://localhost:1"}})), "none");
  EXPECT_EQ(fault_of("http://localhost:1/v1"), "none");
  EXPECT_NE(fault_of("openai:m", options_with({{"OPENAI_API_KEY", "k"}, {"OPENAI_BASE_URL", "ftp://x"}})), "none");
  EXPECT_NE(fault_of("openai:m", options_with({{"OPENAI_API_KEY", "k"}, {"SSL_CERT_FILE", "/no/such"}})), "none");
}

TEST(MakeModel, SecretsInAUrlAreRefusedAndNotRepeated) {
  for (const char* name : {"http://me:pass-word@host/v1", "http://host/v1?key=pass-word"}) {
    EXPECT_THAT(fault_of(name), HasSubstr("KW_API_KEY")) << name;
    EXPECT_THAT(fault_of(name), Not(HasSubstr("pass-word"))) << name;
  }
  const auto options = options_with({{"OPENAI_BASE_URL", "http://me:pass-word@host/v1"}});
  EXPECT_THAT(fault_of("openai:m", options), Not(HasSubstr("pass-word")));
}

TEST(MakeModel, CommandsFoldersAndTranscripts) {
  const test::Folder folder;
  EXPECT_EQ(completion_of(wait_for(ask(*make_model("exec:echo hi", {}), prompt_of("x")))).text, "hi\n");
  EXPECT_EQ(make_model("inbox:" + (folder.path() / "in").string(), {})->name(),
            "inbox:" + (folder.path() / "in").string());
  Completion reply;
  reply.text = "again";
  write_transcript({{"m", "d", "v", "cpu", ""}, {{{"softmax_f32", 1}, "h", reply}}}, folder.path() / "t.jsonl");
  const auto model = make_model("replay:" + (folder.path() / "t.jsonl").string(), {});
  EXPECT_EQ(completion_of(wait_for(ask(*model, prompt_of("x")))).text, "again");
}
}  // namespace
}  // namespace agent::models
