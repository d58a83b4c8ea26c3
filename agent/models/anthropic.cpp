// Anthropic's Messages API, version 2023-06-01 (platform.claude.com/docs: Messages, Streaming messages, Prompt caching,
// Extended thinking, Adaptive thinking; read 2026-11-21).
#include <cctype>
#include <cstdlib>

#include "agent/models/wire_format.h"

namespace agent::models {
namespace {
using core::Json;

// "claude-sonnet-4-5-20250929" and "claude-3-7-sonnet-latest" are 405 and 307; 0: not named like these.
int version_of(const std::string& model) {
  if (model.rfind("claude-", 0) != 0) return 0;
  int numbers[2] = {0, 0};
  size_t found = 0;
  for (size_t i = 6; i + 1 < model.size() && found < 2; ++i) {
    const bool starts = model[i] == '-' && std::isdigit(static_cast<unsigned char>(model[i + 1]));
    if (!starts) {
      if (found == 1 && model[i] == '-') break;  // a word follows the first number
      continue;
    }
    const size_t end = model.find_first_not_of("0123456789", i + 1);
    if ((end == std::string::npos ? model.size() : end) - i - 1 > 2) break;  // a date
    numbers[found++] = std::atoi(model.c_str() + i + 1);
  }
  return numbers[0] * 100 + numbers[1];
}

// Up to 4.5, thinking has a budget. Later models decide themselves within max_tokens; from 4.7 on they refuse both a
// budget and a temperature.
bool takes_budget(int version) { return version > 0 && version <= 405; }
bool version_takes_temperature(int version) { return version > 0 && version <= 406; }

Json text_block(const std::string& text, bool end_of_cached) {
  Json block = {{"type", "text"}, {"text", text}};
  if (end_of_cached) block["cache_control"] = {{"type", "ephemeral"}};
  return block;
}

// Joins each run of stable, and of other, sections to one block; the API refuses blank blocks.
Json content_of(const Turn& turn, bool has_last_stable) {
  struct Run {
    std::string text;
    bool stable;
  };
  std::vector<Run> runs;
  for (const Section& section : turn.sections) {
    if (runs.empty() || runs.back().stable != section.stable) runs.push_back({"", section.stable});
    runs.back().text += section.text;
  }
  size_t last_stable = runs.size();
  for (size_t i = 0; i < runs.size(); ++i) {
    if (has_last_stable && runs[i].stable && !is_blank(runs[i].text)) last_stable = i;
  }
  Json blocks = Json::array();
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!is_blank(runs[i].text)) blocks.push_back(text_block(runs[i].text, i == last_stable));
  }
  return blocks;
}

bool has_stable(const Turn& turn) {
  for (const Section& section : turn.sections) {
    if (section.stable && !is_blank(section.text)) return true;
  }
  return false;
}

class Anthropic : public WireFormat {
 public:
  std::string path(const std::string&) const override { return "/v1/messages"; }

  std::vector<std::string> headers(const std::string& key) const override {
    std::vector<std::string> headers = {"anthropic-version: 2023-06-01"};
    if (!key.empty()) headers.push_back("x-api-key: " + key);
    return headers;
  }

  Json request(const std::string& model, const Prompt& prompt, const Sampling& sampling) const override {
    const int version = version_of(model);
    Json request = {{"model", model}, {"max_tokens", sampling.max_output_tokens}, {"stream", true}};
    if (!is_blank(prompt.system)) request["system"] = Json::array({text_block(prompt.system, true)});
    size_t last_stable = prompt.turns.size();
    for (size_t i = 0; i < prompt.turns.size(); ++i) {
      if (has_stable(prompt.turns[i])) last_stable = i;
    }
    request["messages"] = Json::array();
    for (size_t i = 0; i < prompt.turns.size(); ++i) {
      const Turn& turn = prompt.turns[i];
      request["messages"].push_back({{"role", turn.speaker == Turn::Speaker::user ? "user" : "assistant"},
                                     {"content", content_of(turn, i == last_stable)}});
    }
    if (sampling.thinking_tokens > 0) {
      request["thinking"] = takes_budget(version)
                                ? Json{{"type", "enabled"}, {"budget_tokens", sampling.thinking_tokens}}
                                : Json{{"type", "adaptive"}};
    }
    const bool may_vary = version_takes_temperature(version) && sampling.thinking_tokens == 0;
    if (sampling.temperature && may_vary) request["temperature"] = *sampling.temperature;
    return request;
  }

  void read_event(const Json& event, Reply& reply) const override {
    const std::string type = text_of(event, "type");
    if (type == "message_start") {
      const Json& message = member(event, "message");
      reply.model = text_of(message, "model");
      read_usage(member(message, "usage"), reply);
    } else if (type == "content_block_start") {
      read_block(member(event, "content_block"), reply);
    } else if (type == "content_block_delta") {
      const Json& delta = member(event, "delta");
      if (text_of(delta, "type") == "text_delta") reply.text += text_of(delta, "text");
    } else if (type == "message_delta") {
      read_stop(member(event, "delta"), reply);
      read_usage(member(event, "usage"), reply);
    } else if (type == "message_stop") {
      reply.over = true;
    } else if (type == "error") {
      reply.error = read_error(event);
    }
  }

  void read_whole(const Json& answer, Reply& reply) const override {
    reply.model = text_of(answer, "model");
    for (const Json& block : items_of(answer, "content")) read_block(block, reply);
    read_stop(answer, reply);
    read_usage(member(answer, "usage"), reply);
  }

 private:
  static void read_block(const Json& block, Reply& reply) {
    if (text_of(block, "type") == "text") reply.text += text_of(block, "text");
  }

  static void read_stop(const Json& object, Reply& reply) {
    const std::string reason = text_of(object, "stop_reason");
    if (reason.empty()) return;
    if (reason == "refusal") {
      reply.stop = Reply::Stop::declined;
    } else if (reason == "max_tokens" || reason == "model_context_window_exceeded") {
      reply.stop = Reply::Stop::out_of_tokens;
    } else {
      reply.stop = Reply::Stop::finished;
    }
  }

  // Counts are totals so far; later events repeat some of them.
  static void read_usage(const Json& usage, Reply& reply) {
    if (!usage.is_object()) return;
    if (!reply.usage) reply.usage.emplace();
    const auto update = [&](const char* key, int64_t& count) {
      if (member(usage, key).is_number()) count = count_of(usage, key);
    };
    update("input_tokens", reply.usage->input);
    update("cache_read_input_tokens", reply.usage->cache_read);
    update("cache_creation_input_tokens", reply.usage->cache_written);
    update("output_tokens", reply.usage->output);
  }
};
}  // namespace

std::unique_ptr<WireFormat> anthropic_format() { return std::make_unique<Anthropic>(); }

}  // namespace agent::models
