// For tests of models over HTTP: a model that asks the test's server, and that server's answers.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "agent/models/http_model.h"
#include "agent/models/http_server_fixture.h"
#include "agent/models/model_fixture.h"

namespace agent::models::test {

inline constexpr char kKey[] = "sk-secret-0123456789abcdef";
inline const std::string kStart = R"(data: {"model":"tiny-1","choices":[{"index":0,"delta":{"content":"Hel"}}]})"
                                  "\n\n";
inline const std::string kRest =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":2}}\n\n"
    "data: [DONE]\n\n";

class HttpModelTest : public testing::Test {
 protected:
  HttpModelSetup setup(const std::string& url) const {
    HttpModelSetup all;
    all.name = "http://server";
    all.model = "tiny";
    all.base_url = url + "/v1";
    all.format = openai_chat_format(true);
    all.key = Key(kKey, "test");
    all.key_hint = "KW_API_KEY";
    all.limits = {std::chrono::milliseconds(2000), std::chrono::milliseconds(2000), std::chrono::milliseconds(2000),
                  std::chrono::milliseconds(20'000)};
    all.retry = {3, 3, std::chrono::milliseconds(2), std::chrono::milliseconds(10), std::chrono::milliseconds(5000)};
    all.most_reply_bytes = 64 << 10;
    return all;
  }
  Answer answer_of(HttpServer& server) { return answer_with(setup(server.url())); }
  Answer answer_with(HttpModelSetup all, const Sampling& sampling = {}) {
    const auto model = http_model(std::move(all));
    return wait_for(ask(*model, prompt_of("Softmax."), {"softmax_f32", 1}, sampling));
  }
};

}  // namespace agent::models::test
