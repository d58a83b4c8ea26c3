#include "results/view/tokens.h"

#include <cmath>

namespace results::view {
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

}  // namespace results::view
