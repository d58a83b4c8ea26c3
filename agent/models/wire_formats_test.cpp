// Requests and answers of each protocol, the answers word for word as the providers' documentation shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/models/reply_reader.h"
#include "agent/models/wire_format.h"

namespace agent::models {
namespace {
using Cause = NoCompletion::Cause;
using core::Json;
using testing::HasSubstr;

struct Read {
  Reply reply;
  std::optional<FailedTry> failed;
};

// In pieces of `step` bytes.
Read read_answer(const WireFormat& format, const std::string& body, const char* type = "text/event-stream",
                 int status = 200, size_t step = 7, bool whole = true) {
  ReplyReader reader(format, 1 << 20);
  reader.begin(status, type);
  for (size_t at = 0; at < body.size(); at += step) reader.feed(std::string_view(body).substr(at, step));
  const std::optional<FailedTry> failed = reader.end(whole);
  return {reader.reply(), failed};
}

void expect_usage(const Reply& reply, int64_t input, int64_t cache_read, int64_t cache_written, int64_t output) {
  ASSERT_TRUE(reply.usage.has_value());
  EXPECT_EQ(reply.usage->input, input);
  EXPECT_EQ(reply.usage->cache_read, cache_read);
  EXPECT_EQ(reply.usage->cache_written, cache_written);
  EXPECT_EQ(reply.usage->output, output);
  EXPECT_FALSE(reply.usage->estimated);
}

Prompt three_turns() {
  return {"Be brief.",
          {{Turn::Speaker::user, {{"Rules.\n", true}, {"More rules.\n", true}, {"Task.", false}}},
           {Turn::Speaker::assistant, {{"Try.", false}}},
           {Turn::Speaker::user, {{"Again.", false}, {" \n", true}}}}};
}

// --- Anthropic

const std::string kAnthropicStream =
    R"(event: message_start
data: {"type": "message_start", "message": {"id": "msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGgszyY", "type": "message", "role": "assistant", "content": [], "model": "claude-opus-4-5-20251101", "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 25, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 4000, "output_tokens": 1}}}

event: content_block_start
data: {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "I need to find the GCD of 1071 and 462"}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds..."}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 0}

event: ping
data: {"type": "ping"}

event: content_block_start
data: {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hello"}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "!"}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 1}

event: message_delta
data: {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence":null}, "usage": {"output_tokens": 15}}

event: message_stop
data: {"type": "message_stop"}

)";

TEST(Anthropic, ReadsAStreamInAnyPieces) {
  for (const size_t step : {size_t{1}, size_t{7}, size_t{64}, kAnthropicStream.size()}) {
    const auto [reply, failed] = read_answer(*anthropic_format(), kAnthropicStream, "text/event-stream", 200, step);
    EXPECT_FALSE(failed);
    EXPECT_EQ(reply.text, "Hello!");
    EXPECT_EQ(reply.model, "claude-opus-4-5-20251101");
    EXPECT_EQ(reply.stop, Reply::Stop::finished);
    EXPECT_TRUE(reply.over);
    expect_usage(reply, 25, 4000, 100, 15);
  }
}

TEST(Anthropic, EveryBeginningOfAStreamIsCutOff) {
  const size_t stop = kAnthropicStream.find("\"end_turn\"");
  for (size_t length = 0; length < stop; length += 11) {
    for (const bool whole : {false, true}) {  // the connection broke, or closed normally
      const Read read =
          read_answer(*anthropic_format(), kAnthropicStream.substr(0, length), "text/event-stream", 200, 50, whole);
      ASSERT_TRUE(read.failed) << length;
      EXPECT_EQ(read.failed->cause, Cause::cut_off) << length << read.failed->what;
    }
  }
}

TEST(Anthropic, ReadsAWholeAnswer) {
  const auto [reply, failed] = read_answer(*anthropic_format(), R"({"content": [{"text": "Hi! My name is Claude.",
      "type": "text"}], "id": "msg_013Zva2CMHLNnXjNJJKqJ2EF", "model": "claude-sonnet-4-5", "role": "assistant",
      "stop_reason": "max_tokens", "stop_sequence": null, "type": "message",
      "usage": {"input_tokens": 2095, "output_tokens": 503}})",
                                           "application/json");
  EXPECT_FALSE(failed);
  EXPECT_EQ(reply.text, "Hi! My name is Claude.");
  EXPECT_EQ(reply.stop, Reply::Stop::out_of_tokens);
  expect_usage(reply, 2095, 0, 0, 503);
}

TEST(Anthropic, ErrorsAndRefusals) {
  const auto cause = [](const std::string& body, int status) {
    const char* type = status == 200 ? "text/event-stream" : "application/json";
    const Read read = read_answer(*anthropic_format(), body, type, status);
    return read.failed ? name_of(read.failed->cause) : "none";
  };
  const std::string overloaded = R"({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})";
  EXPECT_EQ(cause("event: error\ndata: " + overloaded + "\n\n", 200), "overloaded");
  EXPECT_EQ(cause(overloaded, 529), "overloaded");
  EXPECT_EQ(cause(R"({"type":"error","error":{"type":"not_found_error","message":"The requested resource could not be)"
                  R"( found."},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"})",
                  404),
            "bad_request");
  EXPECT_EQ(cause(R"({"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}})", 401),
            "unauthorized");
  EXPECT_EQ(cause(R"({"type":"error","error":{"type":"rate_limit_error","message":"..."}})", 429), "rate_limited");
  std::string refused = kAnthropicStream;
  refused.replace(refused.find("end_turn"), 8, "refusal");
  EXPECT_EQ(cause(refused, 200), "declined");
}

TEST(Anthropic, StableSectionsEndInACacheBreakpoint) {
  const Json request = anthropic_format()->request("claude-opus-5", three_turns(), {900, {}, 0});
  EXPECT_EQ(request, Json::parse(R"({"model": "claude-opus-5", "max_tokens": 900, "stream": true,
      "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
      "messages": [
        {"role": "user", "content": [
          {"type": "text", "text": "Rules.\nMore rules.\n", "cache_control": {"type": "ephemeral"}},
          {"type": "text", "text": "Task."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Try."}]},
        {"role": "user", "content": [{"type": "text", "text": "Again."}]}]})"));
}

TEST(Anthropic, ThinkingAndTemperatureFitTheModel) {
  const auto request = [](const char* model, int64_t thinking) {
    return anthropic_format()->request(model, three_turns(), {9000, 0.5, thinking});
  };
  const Json budget = {{"type", "enabled"}, {"budget_tokens", 2000}};
  const Json adaptive = {{"type", "adaptive"}};
  for (const char* model : {"claude-sonnet-4-5-20250929", "claude-opus-4-20250514", "claude-opus-4-1",
                            "claude-3-7-sonnet-20250219", "claude-3-7-sonnet-latest", "claude-haiku-4-5"}) {
    EXPECT_EQ(request(model, 2000)["thinking"], budget) << model;
    EXPECT_FALSE(request(model, 2000).contains("temperature")) << model;
    EXPECT_EQ(request(model, 0)["temperature"], 0.5) << model;
    EXPECT_FALSE(request(model, 0).contains("thinking")) << model;
  }
  EXPECT_EQ(request("claude-opus-4-6", 2000)["thinking"], adaptive);
  EXPECT_EQ(request("claude-opus-4-6", 0)["temperature"], 0.5);
  for (const char* model : {"claude-opus-4-7", "claude-opus-5", "claude-sonnet-5-5", "claude-fable-5", "other"}) {
    EXPECT_EQ(request(model, 2000)["thinking"], adaptive) << model;
    EXPECT_FALSE(request(model, 0).contains("temperature")) << model;
  }
}

TEST(Anthropic, TheKeyHasItsOwnHeader) {
  EXPECT_THAT(anthropic_format()->headers("abc"),
              testing::ElementsAre("anthropic-version: 2023-06-01", "x-api-key: abc"));
  EXPECT_THAT(anthropic_format()->headers(""), testing::ElementsAre("anthropic-version: 2023-06-01"));
  EXPECT_EQ(anthropic_format()->path("m"), "/v1/messages");
}

// --- OpenAI, Chat Completions

const std::string kChatStream =
    R"(data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini", "system_fingerprint": "fp_44709d6fcb", "choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini", "system_fingerprint": "fp_44709d6fcb", "choices":[{"index":0,"delta":{"reasoning_content":"hm"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini", "system_fingerprint": "fp_44709d6fcb", "choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini", "system_fingerprint": "fp_44709d6fcb", "choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}

data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini", "choices":[],"usage":{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920},"completion_tokens_details":{"reasoning_tokens":0}}}

data: [DONE]

)";

TEST(OpenAiChat, ReadsAStreamWithItsUsage) {
  for (const bool compatible : {true, false}) {
    const auto [reply, failed] = read_answer(*openai_chat_format(compatible), kChatStream);
    EXPECT_FALSE(failed);
    EXPECT_EQ(reply.text, "Hello");
    EXPECT_EQ(reply.model, "gpt-4o-mini");
    EXPECT_EQ(reply.stop, Reply::Stop::finished);
    EXPECT_TRUE(reply.over);
    expect_usage(reply, 86, 1920, 0, 300);
  }
}

TEST(OpenAiChat, ReadsAWholeAnswerAndErrors) {
  const auto format = openai_chat_format(true);
  const Read whole =
      read_answer(*format, R"({"id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "object": "chat.completion",
      "model": "gpt-4.1-2025-04-14", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello!",
      "refusal": null, "annotations": []}, "logprobs": null, "finish_reason": "length"}],
      "usage": {"prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29}})",
                  "application/json");
  EXPECT_FALSE(whole.failed);
  EXPECT_EQ(whole.reply.text, "Hello!");
  EXPECT_EQ(whole.reply.stop, Reply::Stop::out_of_tokens);
  expect_usage(whole.reply, 19, 0, 0, 10);
  // llama.cpp, Ollama, older vLLM, FastAPI.
  for (const char* body :
       {R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})",
        R"({"error":"Loading model"})", R"({"object":"error","message":"Loading model","type":"x","code":503})",
        R"({"detail":"Loading model"})"}) {
    const Read read = read_answer(*format, body, "application/json", 503);
    ASSERT_TRUE(read.failed);
    EXPECT_EQ(read.failed->cause, Cause::overloaded);
    EXPECT_THAT(read.failed->what, HasSubstr("Loading model"));
    EXPECT_TRUE(read_answer(*format, body, "application/json", 200).failed) << "not a reply with any status";
  }
}

TEST(OpenAiChat, RequestsSuitOpenAiOrAnyServer) {
  const Sampling sampling = {9000, 0.5, 5000};
  const Json compatible = openai_chat_format(true)->request("", three_turns(), sampling);
  EXPECT_EQ(compatible, Json::parse(R"({"stream": true, "stream_options": {"include_usage": true}, "max_tokens": 9000,
      "temperature": 0.5, "messages": [{"role": "system", "content": "Be brief."},
      {"role": "user", "content": "Rules.\nMore rules.\nTask."}, {"role": "assistant", "content": "Try."},
      {"role": "user", "content": "Again. \n"}]})"));
  const Json openai = openai_chat_format(false)->request("gpt-5.4", three_turns(), sampling);
  EXPECT_EQ(openai["max_completion_tokens"], 9000);
  EXPECT_EQ(openai["reasoning_effort"], "medium");
  EXPECT_FALSE(openai.contains("max_tokens") || openai.contains("temperature"));
  EXPECT_EQ(openai_chat_format(false)->request("gpt-4o", three_turns(), sampling)["temperature"], 0.5);
}

// --- OpenAI, Responses

const std::string kResponsesStream =
    R"(event: response.created
data: {"type":"response.created","response":{"id":"resp_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654","object":"response","created_at":1741290958,"status":"in_progress","error":null,"incomplete_details":null,"model":"gpt-4.1-2025-04-14","output":[],"usage":null}}

event: response.in_progress
data: {"type":"response.in_progress","response":{"id":"resp_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654","status":"in_progress","model":"gpt-4.1-2025-04-14","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"id":"msg_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5eb654","type":"message","status":"in_progress","role":"assistant","content":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","item_id":"msg_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5eb654","output_index":0,"content_index":0,"delta":"Hi"}

event: response.output_text.delta
data: {"type":"response.output_text.delta","item_id":"msg_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5eb654","output_index":0,"content_index":0,"delta":" there!"}

event: response.output_text.done
data: {"type":"response.output_text.done","item_id":"msg_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5eb654","output_index":0,"content_index":0,"text":"Hi there!"}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654","object":"response","status":"completed","error":null,"incomplete_details":null,"model":"gpt-4.1-2025-04-14","output":[{"id":"msg_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5eb654","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hi there!","annotations":[]}]}],"usage":{"input_tokens":37,"input_tokens_details":{"cached_tokens":30,"cache_write_tokens":3},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":48}}}

)";

TEST(OpenAiResponses, ReadsAStreamOnce) {
  const auto [reply, failed] = read_answer(*openai_responses_format(), kResponsesStream);
  EXPECT_FALSE(failed);
  EXPECT_EQ(reply.text, "Hi there!");
  EXPECT_EQ(reply.model, "gpt-4.1-2025-04-14");
  EXPECT_TRUE(reply.over);
  expect_usage(reply, 4, 30, 3, 11);
}

TEST(OpenAiResponses, ReadsWholeAnswersFailuresAndLimits) {
  const auto format = openai_responses_format();
  const std::string usage = R"(,"usage":{"input_tokens":37,"output_tokens":11})";
  const std::string text =
      R"({"output":[{"type":"reasoning","summary":[]},{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],)";
  const auto read = [&](const std::string& rest) { return read_answer(*format, rest, "application/json"); };
  EXPECT_EQ(read(text + R"("status":"completed")" + usage + "}").reply.text, "Hi");
  const Read limited = read(text + R"("status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}})");
  EXPECT_FALSE(limited.failed);
  EXPECT_EQ(limited.reply.stop, Reply::Stop::out_of_tokens);
  EXPECT_EQ(read(R"({"status":"incomplete","incomplete_details":{"reason":"content_filter"}})").failed->cause,
            Cause::declined);
  EXPECT_EQ(read(R"({"status":"completed","output":[{"content":[{"type":"refusal","refusal":"No."}]}]})").failed->cause,
            Cause::declined);
  const std::string failure = R"({"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}})";
  EXPECT_EQ(read(failure).failed->cause, Cause::rate_limited);
  const Read streamed = read_answer(*format, "data: {\"type\":\"response.failed\",\"response\":" + failure + "}\n\n");
  EXPECT_EQ(streamed.failed->cause, Cause::rate_limited);
  const Read broken =
      read_answer(*format, "data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"sorry\"}\n\n");
  EXPECT_EQ(broken.failed->cause, Cause::overloaded);
  EXPECT_THAT(broken.failed->what, HasSubstr("sorry"));
}

TEST(OpenAiResponses, Requests) {
  const Json request = openai_responses_format()->request("gpt-5.4", three_turns(), {9000, 0.5, 20'000});
  EXPECT_EQ(request, Json::parse(R"({"model": "gpt-5.4", "stream": true, "store": false, "max_output_tokens": 9000,
      "instructions": "Be brief.", "reasoning": {"effort": "high"}, "input": [
      {"role": "user", "content": [{"type": "input_text", "text": "Rules.\nMore rules.\nTask."}]},
      {"role": "assistant", "content": [{"type": "output_text", "text": "Try."}]},
      {"role": "user", "content": [{"type": "input_text", "text": "Again. \n"}]}]})"));
}

// --- Gemini

TEST(Gemini, ReadsAStreamThatJustEnds) {
  const auto [reply, failed] =
      read_answer(*gemini_format(),
                  "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"I should think.\",\"thought\": "
                  "true}],\"role\": \"model\"},\"index\": 0}],\"usageMetadata\": {\"promptTokenCount\": "
                  "1000,\"cachedContentTokenCount\": 600,\"totalTokenCount\": 1040,\"thoughtsTokenCount\": 40},"
                  "\"modelVersion\": \"gemini-2.5-flash\"}\r\n\r\n"
                  "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"AI \"}],\"role\": "
                  "\"model\"},\"index\": 0}],\"modelVersion\": \"gemini-2.5-flash\"}\r\n\r\n"
                  "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"learns\"},{\"thoughtSignature\": "
                  "\"CpgCA\"}],\"role\": \"model\"},\"finishReason\": \"STOP\",\"index\": 0}],\"usageMetadata\": "
                  "{\"promptTokenCount\": 1000,\"cachedContentTokenCount\": 600,\"candidatesTokenCount\": "
                  "7,\"thoughtsTokenCount\": 50,\"totalTokenCount\": 1057}}\r\n\r\n");
  EXPECT_FALSE(failed);
  EXPECT_EQ(reply.text, "AI learns");
  EXPECT_EQ(reply.model, "gemini-2.5-flash");
  expect_usage(reply, 400, 600, 0, 57);
}

TEST(Gemini, BlocksErrorsAndLimits) {
  const auto read = [](const std::string& body, int status = 200) {
    return read_answer(*gemini_format(), body, "application/json; charset=UTF-8", status);
  };
  EXPECT_EQ(
      read(R"({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}})").failed->cause,
      Cause::declined);
  EXPECT_EQ(read(R"({"candidates": [{"finishReason": "RECITATION"}]})").failed->cause, Cause::declined);
  EXPECT_EQ(read(R"({"candidates": [{"finishReason": "MAX_TOKENS"}]})").failed->cause, Cause::empty);
  const Read cut = read(R"([{"candidates": [{"content": {"parts": [{"text": "a"}]}}]},
                            {"candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "MAX_TOKENS"}]}])");
  EXPECT_FALSE(cut.failed);
  EXPECT_EQ(cut.reply.text, "ab");
  EXPECT_EQ(cut.reply.stop, Reply::Stop::out_of_tokens);
  const Read no_key = read(R"({"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.",
      "status": "INVALID_ARGUMENT", "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
      "reason": "API_KEY_INVALID"}]}})",
                           400);
  EXPECT_EQ(no_key.failed->cause, Cause::unauthorized);
  const Read limited = read(R"([{"error": {"code": 429, "message": "You exceeded your current quota",
      "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo",
      "retryDelay": "34.074824224s"}]}}])",
                            429);
  EXPECT_EQ(limited.failed->cause, Cause::rate_limited);
  EXPECT_EQ(limited.failed->retry_after, std::chrono::milliseconds(34'075));
}

TEST(Gemini, Requests) {
  const auto format = gemini_format();
  EXPECT_EQ(format->path("gemini-2.5-pro"), "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse");
  EXPECT_EQ(format->path("a/../b?c"), "/v1beta/models/a%2F..%2Fb%3Fc:streamGenerateContent?alt=sse");
  EXPECT_THAT(format->headers("abc"), testing::ElementsAre("x-goog-api-key: abc"));
  EXPECT_EQ(format->request("m", three_turns(), {9000, 0.5, 2000}), Json::parse(R"({
      "systemInstruction": {"parts": [{"text": "Be brief."}]},
      "contents": [{"role": "user", "parts": [{"text": "Rules.\nMore rules.\nTask."}]},
                   {"role": "model", "parts": [{"text": "Try."}]}, {"role": "user", "parts": [{"text": "Again. \n"}]}],
      "generationConfig": {"maxOutputTokens": 9000, "temperature": 0.5, "thinkingConfig": {"thinkingBudget": 2000}}})"));
}

// --- All of them

TEST(WireFormats, FieldsOfOtherTypesCountAsAbsent) {
  const auto formats = {anthropic_format, openai_responses_format, gemini_format,
                        +[] { return openai_chat_format(true); }};
  std::vector<std::string> events = {"null",
                                     "[]",
                                     "7",
                                     "\"text\"",
                                     "{}",
                                     R"({"type":7})",
                                     R"({"choices":[7]})",
                                     R"({"choices":[{"delta":7,"finish_reason":7}],"usage":7,"model":[]})"};
  // Each string and number of the documented streams becomes something else.
  for (std::string stream : {kAnthropicStream, kChatStream, kResponsesStream}) {
    for (size_t at = stream.find("\":"); at != std::string::npos; at = stream.find("\":", at + 1)) {
      std::string line = stream.substr(stream.rfind("data: ", at) + 6);
      line = line.substr(0, line.find('\n'));
      if (!Json::accept(line)) continue;
      const Json flat = Json::parse(line).flatten();
      for (const auto& [pointer, value] : flat.items()) {
        for (const Json& other : {Json(), Json(-1e300), Json::array({1}), Json("x")}) {
          Json changed = Json::parse(line);
          changed[Json::json_pointer(pointer)] = other;
          events.push_back(changed.dump());
        }
      }
      at = stream.find('\n', at);
      if (at == std::string::npos) break;
    }
  }
  ASSERT_GT(events.size(), 200u);
  for (const auto& make : formats) {
    const auto format = make();
    for (const std::string& event : events) {
      Reply reply;
      EXPECT_NO_THROW(format->read_event(Json::parse(event), reply)) << event;
      EXPECT_NO_THROW(format->read_whole(Json::parse(event), reply)) << event;
      if (reply.usage) {
        EXPECT_GE(reply.usage->input, 0) << event;
        EXPECT_GE(reply.usage->output, 0) << event;
      }
    }
  }
}
}  // namespace
}  // namespace agent::models
