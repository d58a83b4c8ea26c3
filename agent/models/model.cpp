#include "agent/models/model.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/hash.h"

namespace agent {
namespace {
using Cause = NoCompletion::Cause;

constexpr std::array<std::pair<Cause, std::string_view>, 12> kCauses = {{
    {Cause::unauthorized, "unauthorized"},
    {Cause::bad_request, "bad_request"},
    {Cause::rate_limited, "rate_limited"},
    {Cause::overloaded, "overloaded"},
    {Cause::unreachable, "unreachable"},
    {Cause::timed_out, "timed_out"},
    {Cause::cut_off, "cut_off"},
    {Cause::not_understood, "not_understood"},
    {Cause::empty, "empty"},
    {Cause::declined, "declined"},
    {Cause::exhausted, "exhausted"},
    {Cause::cancelled, "cancelled"},
}};

std::string_view name_of_speaker(const Turn& turn) {
  return turn.speaker == Turn::Speaker::user ? "user" : "assistant";
}
}  // namespace

std::string_view name_of(Cause cause) {
  return std::find_if(kCauses.begin(), kCauses.end(), [&](const auto& pair) { return pair.first == cause; })->second;
}

std::optional<Cause> cause_from_name(std::string_view name) {
  for (const auto& [cause, known] : kCauses) {
    if (known == name) return cause;
  }
  return std::nullopt;
}

std::string Turn::text() const {
  std::string text;
  for (const Section& section : sections) text += section.text;
  return text;
}

std::string Prompt::hash() const {
  core::Hasher hasher;
  hasher.field("system", system);
  for (const Turn& turn : turns) hasher.field(name_of_speaker(turn), turn.text());
  return hasher.hex();
}

std::string Prompt::as_text() const {
  std::string text = system;
  const auto begin_part = [&] {
    if (!text.empty()) text += text.back() == '\n' ? "\n" : "\n\n";
  };
  for (const Turn& turn : turns) {
    begin_part();
    if (turns.size() > 1) text += "=== " + std::string(name_of_speaker(turn)) + " ===\n";
    text += turn.text();
  }
  return text;
}

Usage& Usage::operator+=(const Usage& other) {
  input += other.input;
  cache_read += other.cache_read;
  cache_written += other.cache_written;
  output += other.output;
  estimated = estimated || other.estimated;
  return *this;
}

}  // namespace agent
