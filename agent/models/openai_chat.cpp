// OpenAI's Chat Completions API (platform.openai.com/docs/api-reference/chat, read 2026-11-21), and what other servers
// (llama.cpp, vLLM, Ollama, LiteLLM) understand of it.
#include <algorithm>

#include "agent/models/openai.h"
#include "agent/models/wire_format.h"
#include "agent/models/wire_json.h"

namespace agent {
namespace {
using core::Json;

class OpenAiChat : public WireFormat {
 public:
  explicit OpenAiChat(bool compatible) : compatible_(compatible) {}

  std::string path(const std::string&) const override { return "/chat/completions"; }

  std::vector<std::string> headers(const std::string& key) const override { return openai_headers(key); }

  Json request(const std::string& model, const Prompt& prompt, const Sampling& sampling) const override {
    Json request = {{"stream", true}, {"stream_options", {{"include_usage", true}}}};
    if (!model.empty()) request["model"] = model;
    request["messages"] = Json::array();
    if (!prompt.system.empty()) request["messages"].push_back({{"role", "system"}, {"content", prompt.system}});
    for (const Turn& turn : prompt.turns) {
      request["messages"].push_back(
          {{"role", turn.speaker == Turn::Speaker::user ? "user" : "assistant"}, {"content", turn.text()}});
    }
    // OpenAI's reasoning models refuse the old name of the limit, other servers may not know the new one.
    request[compatible_ ? "max_tokens" : "max_completion_tokens"] = sampling.max_output_tokens;
    if (!compatible_ && sampling.thinking_tokens > 0) {
      request["reasoning_effort"] = reasoning_effort(sampling.thinking_tokens);
    }
    if (sampling.temperature && (compatible_ || takes_temperature(model))) {
      request["temperature"] = *sampling.temperature;
    }
    return request;
  }

  void read_event(const Json& event, Reply& reply) const override { read(event, "delta", reply); }
  void read_whole(const Json& answer, Reply& reply) const override { read(answer, "message", reply); }

 private:
  static void read(const Json& answer, const char* part, Reply& reply) {
    if (const std::string model = text_of(answer, "model"); !model.empty()) reply.model = model;
    if (auto error = read_error(answer)) reply.error = std::move(error);
    const Json& choices = items_of(answer, "choices");
    if (!choices.empty()) {
      const Json& message = member(choices.front(), part);
      reply.text += text_of(message, "content");
      reply.refusal += text_of(message, "refusal");
      read_stop(text_of(choices.front(), "finish_reason"), reply);
    }
    read_usage(member(answer, "usage"), reply);
  }

  static void read_stop(const std::string& reason, Reply& reply) {
    if (reason.empty()) return;
    if (reason == "content_filter" || (!reply.refusal.empty() && reply.text.empty())) {
      reply.stop = Reply::Stop::declined;
    } else if (reason == "length") {
      reply.stop = Reply::Stop::out_of_tokens;
    } else {
      reply.stop = Reply::Stop::finished;
    }
  }

  static void read_usage(const Json& usage, Reply& reply) {
    if (!usage.is_object()) return;
    reply.usage = openai_usage(count_of(usage, "prompt_tokens"), member(usage, "prompt_tokens_details"),
                               count_of(usage, "completion_tokens"));
  }

  bool compatible_;
};
}  // namespace

std::unique_ptr<WireFormat> openai_chat_format(bool compatible) { return std::make_unique<OpenAiChat>(compatible); }

}  // namespace agent
