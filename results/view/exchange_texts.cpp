#include "results/view/exchange_texts.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "results/view/exchange.h"
#include "results/view/json.h"
#include "results/view/text_diff.h"
#include "results/view/tokens.h"

namespace results::view {
namespace {
using core::Json;
constexpr size_t kTextBytes = 256 << 10;  // of a section or a part
constexpr size_t kReplyBytes = 1 << 20;
constexpr size_t kParts = 200;
constexpr size_t kReasonBytes = 2000;

// The first heading, without its marks; for a part without one, `otherwise`.
std::string title_of(const std::string& text, const std::string& otherwise) {
  for (const std::string& line : core::split(text, '\n')) {
    if (line.starts_with("# ")) return line.substr(2);
  }
  return otherwise;
}

std::string shown(const std::string& text) { return core::clean_text(text, kTextBytes); }

Json section_json(const PromptSection& section) {
  return {{"speaker", section.speaker},
          {"title", core::clean_line(section.title)},
          {"tokens", section.tokens},
          {"text", shown(section.text)}};
}

Json reply_json(const archive::NewReply& reply) {
  Json parts = Json::array();
  for (const ReplyPart& part : parts_of(reply.reply.substr(0, kReplyBytes))) {
    if (parts.size() == kParts) break;
    parts.push_back({{"code", part.code}, {"text", shown(part.text)}});
  }
  return {{"complete", reply.complete},
          {"answered_by", core::clean_line(reply.model)},
          {"input_tokens", reply.input + reply.cache_read + reply.cache_written},
          {"output_tokens", reply.output},
          {"dollars", or_null(reply.dollars)},
          {"tries", reply.tries},
          {"seconds", reply.seconds},
          {"parts", std::move(parts)}};
}

void add_sources(const archive::Reader& archive, const archive::Brought& brought, Json& json) {
  const archive::SolutionRecord solution = archive.solution(brought.solution);
  json["source"] = shown(solution.source);
  json["parent"] = json["difference"] = Json();
  if (!brought.parent) return;
  const archive::SolutionRecord parent = archive.solution(*brought.parent);
  json["parent"] = {{"solution", core::clean_line(parent.name)}, {"hash", parent.hash}};
  json["difference"] = or_null(shown_diff(parent.source, solution.source));
}

// The sections of the next prompt that this one lacks. A model's own words are not among them.
Json told(const Json& prompt, const Json& next) {
  const std::vector<PromptSection> before = sections_of(prompt);
  Json all = Json::array();
  for (const PromptSection& section : sections_of(next)) {
    const auto same = [&](const PromptSection& other) { return other.text == section.text; };
    if (section.speaker == "assistant" || std::ranges::any_of(before, same)) continue;
    const auto older = std::ranges::find(before, section.title, &PromptSection::title);
    all.push_back(section_json(section));
    if (section.title == "User") all.back()["title"] = "The reasons that were sent back";
    all.back()["difference"] = older == before.end() ? Json() : or_null(shown_diff(older->text, section.text));
  }
  return all;
}

Json next_of(const archive::Reader& archive, const archive::Exchange& exchange) {
  const std::optional<archive::Exchange> next = archive::following_exchange(archive, exchange);
  if (!next) return {};
  const Json &prompt = exchange.record.request.prompt, &later = next->record.request.prompt;
  Json json = cleaned(json_of(*next));
  json["sent_back"] = later.at("turns").size() > prompt.at("turns").size();
  json["told"] = told(prompt, later);
  return json;
}
}  // namespace

std::vector<PromptSection> sections_of(const Json& prompt) {
  std::vector<PromptSection> sections;
  const auto add = [&](const std::string& speaker, const std::string& text, const std::string& title) {
    sections.push_back({speaker, title, estimate_tokens(text), text});
  };
  const std::string system = prompt.at("system").get<std::string>();
  add("system", system, "System");
  for (const Json& turn : prompt.at("turns")) {
    const std::string speaker = turn.at("speaker").get<std::string>();
    for (const Json& section : turn.at("sections")) {
      const std::string text = section.get<std::string>();
      add(speaker, text, title_of(text, speaker == "user" ? "User" : "Reply"));
    }
  }
  return sections;
}

std::vector<ReplyPart> parts_of(const std::string& reply) {
  std::vector<ReplyPart> parts;
  ReplyPart part;
  const auto end_part = [&](bool next_is_code) {
    if (!core::trimmed(part.text).empty()) parts.push_back(std::move(part));
    part = {next_is_code, ""};
  };
  for (const std::string& line : core::split(reply, '\n')) {
    if (core::trimmed(line).starts_with("```")) {
      end_part(!part.code);
    } else {
      part.text += line + "\n";
    }
  }
  end_part(false);
  return parts;
}

Json full_json_of(const archive::Reader& archive, const archive::Exchange& exchange) {
  Json json = cleaned(json_of(exchange));
  json["prompt"] = Json::array();
  int64_t tokens = 0;
  for (const PromptSection& section : sections_of(exchange.record.request.prompt)) {
    tokens += section.tokens;
    json["prompt"].push_back(section_json(section));
  }
  json["tokens"] = tokens;
  const std::optional<archive::NewReply>& reply = exchange.record.reply;
  json["reply"] = reply ? reply_json(*reply) : Json();
  const std::string why = reply && !exchange.answered() ? reply->what : exchange.why_nothing;
  json["why"] = or_null(core::clean_line(why, kReasonBytes));
  for (size_t i = 0; i < exchange.brought.size(); ++i) add_sources(archive, exchange.brought[i], json["brought"][i]);
  json["next"] = next_of(archive, exchange);
  return json;
}

}  // namespace results::view
