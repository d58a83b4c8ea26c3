#include "agent/models/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/hash.h"

namespace agent::models {
namespace {
std::string_view name_of_speaker(const Turn& turn) {
  return turn.speaker == Turn::Speaker::user ? "user" : "assistant";
}
}  // namespace

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

namespace {
enum class Kind { letter, digit, space, mark, other };

Kind kind_of(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Kind::letter;
  if (c >= '0' && c <= '9') return Kind::digit;
  if (c == ' ' || c == '\n' || c == '\t' || c == '\r') return Kind::space;
  return static_cast<signed char>(c) < 0 ? Kind::other : Kind::mark;
}
}  // namespace

int64_t estimate_tokens(std::string_view text) {
  // Least squares over the files named in the header: one token for each seven letters of a run, slightly more than one
  // for each digit or run of marks, one and a half for a line end with the next line's indentation. Spaces belong to
  // the word after them.
  constexpr size_t kLettersPerToken = 7;
  constexpr double kPerDigit = 1.13, kPerMarks = 1.08, kPerLineEnd = 1.4, kPerOther = 1;
  double tokens = 0;
  for (size_t i = 0; i < text.size();) {
    const Kind kind = kind_of(text[i]);
    size_t end = i + 1;
    while (end < text.size() && kind_of(text[end]) == kind) ++end;
    const std::string_view run = text.substr(i, end - i);
    i = end;
    switch (kind) {
      case Kind::letter:
        tokens += static_cast<double>((run.size() + kLettersPerToken - 1) / kLettersPerToken);
        break;
      case Kind::digit:
        tokens += kPerDigit * static_cast<double>(run.size());
        break;
      case Kind::mark:
        tokens += kPerMarks;
        break;
      case Kind::space:
        if (run.find('\n') != std::string_view::npos) tokens += kPerLineEnd;
        break;
      case Kind::other:  // beyond ASCII: about one token per character
        for (const char c : run) tokens += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? kPerOther : 0;
        break;
    }
  }
  return std::llround(tokens);
}

int64_t estimate_tokens(const Prompt& prompt) {
  constexpr int64_t kPerTurn = 4;  // a chat template's tokens around each turn
  int64_t tokens = estimate_tokens(prompt.system) + kPerTurn;
  for (const Turn& turn : prompt.turns) tokens += estimate_tokens(turn.text()) + kPerTurn;
  return tokens;
}

}  // namespace agent::models
