#include "agent/models/server_context.h"

#include <gtest/gtest.h>

#include "agent/models/http_server_fixture.h"

namespace agent::models {
namespace {
using test::HttpSeen;
using test::HttpServer;
using test::HttpWire;

// What a server that answers these two paths says.
std::optional<int64_t> context_of(const std::string& models, const std::string& props, const std::string& model = "") {
  HttpServer server([&](HttpWire& wire, const HttpSeen& seen, int) {
    const bool asks_models = seen.head.rfind("GET /v1/models ", 0) == 0;
    const std::string& body = asks_models ? models : props;
    wire.answer(body.empty() ? "404 Not Found" : "200 OK", "application/json", body);
  });
  ModelOptions options;
  options.environment = [](const std::string&) { return std::nullopt; };
  return context_of_server(server.url() + "/v1" + model, options);
}

TEST(ServerContext, IsWhatTheServerSays) {
  const std::string vllm = R"({"data":[{"id":"a","max_model_len":8192},{"id":"b","max_model_len":4096}]})";
  EXPECT_EQ(context_of(vllm, ""), 8192);
  EXPECT_EQ(context_of(vllm, "", "#b"), 4096);
  EXPECT_EQ(context_of(R"({"data":[{"id":"a"}]})", R"({"default_generation_settings":{"n_ctx":2048}})"), 2048);
}

TEST(ServerContext, IsUnknownWhereTheServerSaysNothingOrNonsense) {
  EXPECT_EQ(context_of("", ""), std::nullopt);
  EXPECT_EQ(context_of("<html>", "[1]"), std::nullopt);
  EXPECT_EQ(context_of(R"({"data":[{"max_model_len":"many"}]})", R"({"default_generation_settings":{"n_ctx":-1}})"),
            std::nullopt);
  ModelOptions options;
  EXPECT_EQ(context_of_server("http://127.0.0.1:1/v1", options), std::nullopt);
  EXPECT_EQ(context_of_server("anthropic:some", options), std::nullopt);
}

}  // namespace
}  // namespace agent::models
