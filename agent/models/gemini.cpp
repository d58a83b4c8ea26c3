// Google's Gemini API, v1beta (ai.google.dev/api/generate-content, read 2026-11-21).
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "agent/models/wire_format.h"

namespace agent::models {
namespace {
using core::Json;

// Escapes a name for use as one segment of a path.
std::string escaped(const std::string& name) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.') {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

Json parts_of(const std::string& text) { return Json::array({Json{{"text", text}}}); }

class Gemini : public WireFormat {
 public:
  std::string path(const std::string& model) const override {
    return "/v1beta/models/" + escaped(model) + ":streamGenerateContent?alt=sse";
  }

  std::vector<std::string> headers(const std::string& key) const override {
    if (key.empty()) return {};
    return {"x-goog-api-key: " + key};
  }

  Json request(const std::string&, const Prompt& prompt, const Sampling& sampling) const override {
    Json request = {{"contents", Json::array()}};
    if (!prompt.system.empty()) request["systemInstruction"] = {{"parts", parts_of(prompt.system)}};
    for (const Turn& turn : prompt.turns) {
      request["contents"].push_back(
          {{"role", turn.speaker == Turn::Speaker::user ? "user" : "model"}, {"parts", parts_of(turn.text())}});
    }
    Json& config = request["generationConfig"];
    config = {{"maxOutputTokens", sampling.max_output_tokens}};
    if (sampling.temperature) config["temperature"] = *sampling.temperature;
    if (sampling.thinking_tokens > 0) config["thinkingConfig"] = {{"thinkingBudget", sampling.thinking_tokens}};
    return request;
  }

  // Every event is a whole answer that holds the next piece of text.
  void read_event(const Json& event, Reply& reply) const override { read_whole(event, reply); }

  void read_whole(const Json& answer, Reply& reply) const override {
    if (answer.is_array()) {  // a stream without alt=sse
      for (const Json& piece : answer) read_piece(piece, reply);
    } else {
      read_piece(answer, reply);
    }
  }

 private:
  static void read_piece(const Json& answer, Reply& reply) {
    if (auto error = read_error(answer)) reply.error = std::move(error);
    if (const std::string model = text_of(answer, "modelVersion"); !model.empty()) reply.model = model;
    if (const std::string reason = text_of(member(answer, "promptFeedback"), "blockReason"); !reason.empty()) {
      reply.stop = Reply::Stop::declined;
      reply.refusal = "the prompt was blocked: " + reason;
    }
    const Json& candidates = items_of(answer, "candidates");
    if (!candidates.empty()) {
      for (const Json& part : items_of(member(candidates.front(), "content"), "parts")) {
        const Json& thought = member(part, "thought");
        if (!(thought.is_boolean() && thought.get<bool>())) reply.text += text_of(part, "text");
      }
      read_stop(candidates.front(), reply);
    }
    read_usage(member(answer, "usageMetadata"), reply);
  }

  static void read_stop(const Json& candidate, Reply& reply) {
    constexpr std::array<std::string_view, 6> kBlocked = {"SAFETY",    "RECITATION",         "LANGUAGE",
                                                          "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"};
    const std::string reason = text_of(candidate, "finishReason");
    if (reason.empty() || reason == "FINISH_REASON_UNSPECIFIED") return;
    if (std::find(kBlocked.begin(), kBlocked.end(), reason) != kBlocked.end()) {
      reply.stop = Reply::Stop::declined;
      reply.refusal = "the answer was blocked: " + reason;
    } else {
      reply.stop = reason == "MAX_TOKENS" ? Reply::Stop::out_of_tokens : Reply::Stop::finished;
    }
  }

  // Counts are totals so far. promptTokenCount includes cached tokens; thinking is counted separately.
  static void read_usage(const Json& usage, Reply& reply) {
    if (!usage.is_object()) return;
    const int64_t prompt = count_of(usage, "promptTokenCount");
    const int64_t cached = std::min(prompt, count_of(usage, "cachedContentTokenCount"));
    const int64_t output = count_of(usage, "candidatesTokenCount") + count_of(usage, "thoughtsTokenCount");
    reply.usage =
        Usage{.input = prompt - cached, .cache_read = cached, .cache_written = 0, .output = output, .estimated = false};
  }
};
}  // namespace

std::unique_ptr<WireFormat> gemini_format() { return std::make_unique<Gemini>(); }

}  // namespace agent::models
