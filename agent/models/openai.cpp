// OpenAI's Responses API (platform.openai.com/docs/api-reference/responses and responses-streaming), and its Chat
// Completions API (.../chat) with the variants of other servers (llama.cpp, vLLM, Ollama, LiteLLM); read 2026-11-21.
#include <algorithm>

#include "agent/models/wire_format.h"

namespace agent::models {
namespace {
using core::Json;

std::vector<std::string> openai_headers(const std::string& key) {
  if (key.empty()) return {};
  return {"Authorization: Bearer " + key};
}

// The API has no budget of thinking tokens, only three efforts that every reasoning model accepts.
std::string reasoning_effort(int64_t thinking_tokens) {
  return thinking_tokens < 4'096 ? "low" : thinking_tokens < 16'384 ? "medium" : "high";
}

// Reasoning models refuse a temperature.
bool takes_temperature(const std::string& model) {
  const bool o_series = model.size() > 1 && model[0] == 'o' && model[1] >= '0' && model[1] <= '9';
  const bool gpt_5_on = model.rfind("gpt-", 0) == 0 && model.size() > 4 && model[4] >= '5' && model[4] <= '9';
  return !o_series && !gpt_5_on;
}

// `input` includes tokens read from or written to a cache; `details` counts those.
Usage openai_usage(int64_t input, const Json& details, int64_t output) {
  const int64_t read = std::min(input, count_of(details, "cached_tokens"));
  const int64_t written = std::min(input - read, count_of(details, "cache_write_tokens"));  // GPT-5.6 and later
  return {.input = input - read - written,
          .cache_read = read,
          .cache_written = written,
          .output = output,
          .estimated = false};
}

class OpenAiResponses : public WireFormat {
 public:
  std::string path(const std::string&) const override { return "/responses"; }

  std::vector<std::string> headers(const std::string& key) const override { return openai_headers(key); }

  Json request(const std::string& model, const Prompt& prompt, const Sampling& sampling) const override {
    Json request = {{"model", model},
                    {"stream", true},
                    {"store", false},  // we never fetch a stored reply
                    {"max_output_tokens", sampling.max_output_tokens}};
    if (!prompt.system.empty()) request["instructions"] = prompt.system;
    request["input"] = Json::array();
    for (const Turn& turn : prompt.turns) {
      const bool user = turn.speaker == Turn::Speaker::user;
      Json part = {{"type", user ? "input_text" : "output_text"}, {"text", turn.text()}};
      request["input"].push_back({{"role", user ? "user" : "assistant"}, {"content", Json::array({std::move(part)})}});
    }
    if (sampling.thinking_tokens > 0) request["reasoning"] = {{"effort", reasoning_effort(sampling.thinking_tokens)}};
    if (sampling.temperature && takes_temperature(model)) request["temperature"] = *sampling.temperature;
    return request;
  }

  void read_event(const Json& event, Reply& reply) const override {
    const std::string type = text_of(event, "type");
    if (type == "response.output_text.delta") {
      reply.text += text_of(event, "delta");
    } else if (type == "response.refusal.delta") {
      reply.refusal += text_of(event, "delta");
    } else if (type == "response.created") {
      reply.model = text_of(member(event, "response"), "model");
    } else if (type == "response.completed" || type == "response.incomplete" || type == "response.failed") {
      read_whole(member(event, "response"), reply);
      reply.over = true;
    } else if (type == "error") {
      reply.error = read_error(event);  // {"type": "error", "error": {...}}
      if (!reply.error) reply.error = ProviderError{text_of(event, "code"), text_of(event, "message"), {}};
    }
  }

  // Also reads the end of a stream, which repeats the deltas.
  void read_whole(const Json& answer, Reply& reply) const override {
    if (const std::string model = text_of(answer, "model"); !model.empty()) reply.model = model;
    std::string text, refusal;
    for (const Json& item : items_of(answer, "output")) {
      for (const Json& part : items_of(item, "content")) {
        const std::string type = text_of(part, "type");
        if (type == "output_text") text += text_of(part, "text");
        if (type == "refusal") refusal += text_of(part, "refusal");
      }
    }
    if (reply.text.empty()) reply.text = std::move(text);
    if (reply.refusal.empty()) reply.refusal = std::move(refusal);
    read_status(answer, reply);
    if (const Json& usage = member(answer, "usage"); usage.is_object()) {
      reply.usage = openai_usage(count_of(usage, "input_tokens"), member(usage, "input_tokens_details"),
                                 count_of(usage, "output_tokens"));
    }
  }

 private:
  static void read_status(const Json& answer, Reply& reply) {
    const std::string status = text_of(answer, "status");
    if (status == "completed") {
      const bool refused = reply.text.empty() && !reply.refusal.empty();
      reply.stop = refused ? Reply::Stop::declined : Reply::Stop::finished;
    } else if (status == "incomplete") {
      const bool filtered = text_of(member(answer, "incomplete_details"), "reason") == "content_filter";
      reply.stop = filtered ? Reply::Stop::declined : Reply::Stop::out_of_tokens;
    } else if (status == "failed") {
      reply.error = read_error(answer).value_or(ProviderError{"server_error", "the response failed", {}});
    }
  }
};

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

std::unique_ptr<WireFormat> openai_responses_format() { return std::make_unique<OpenAiResponses>(); }
std::unique_ptr<WireFormat> openai_chat_format(bool compatible) { return std::make_unique<OpenAiChat>(compatible); }

}  // namespace agent::models
