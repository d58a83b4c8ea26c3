#include "agent/prompting/edits.h"

#include <algorithm>

#include "core/text.h"

namespace agent::prompting {
namespace {
using Lines = std::vector<std::string>;

std::string without_end_blanks(const std::string& line) { return line.substr(0, line.find_last_not_of(" \t\r") + 1); }

Lines lines_of(std::string_view text) {
  Lines lines = core::split(text, '\n');
  for (std::string& line : lines) line = without_end_blanks(line);
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// Blank lines around the searched text come from the model, not from the parent.
void trim_blank_lines(Lines& lines) {
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  const auto first = std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return !line.empty(); });
  lines.erase(lines.begin(), first);
}

// The first two occurrences of `part` in `whole`; linear even if lines repeat (Knuth, Morris and Pratt, 1977).
std::vector<size_t> places_of(const Lines& part, const Lines& whole) {
  std::vector<size_t> border(part.size(), 0);  // border[i]: longest proper prefix of `part` that ends at i
  for (size_t i = 1, matched = 0; i < part.size(); ++i) {
    while (matched > 0 && part[i] != part[matched]) matched = border[matched - 1];
    if (part[i] == part[matched]) ++matched;
    border[i] = matched;
  }
  std::vector<size_t> places;
  for (size_t i = 0, matched = 0; i < whole.size() && places.size() < 2; ++i) {
    while (matched > 0 && (matched == part.size() || whole[i] != part[matched])) matched = border[matched - 1];
    if (whole[i] == part[matched]) ++matched;
    if (matched == part.size()) places.push_back(i + 1 - matched);
  }
  return places;
}

std::string quoted(const Lines& lines) {
  constexpr size_t kShownLines = 6;
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kShownLines); ++i) text += (i == 0 ? "" : " | ") + lines[i];
  if (lines.size() > kShownLines) text += " | ...";
  return "`" + core::clean_line(text, 300) + "`";
}
}  // namespace

std::variant<std::string, EditFailed> apply_edits(std::string_view text, const std::vector<Edit>& edits) {
  Lines lines = lines_of(text);
  for (size_t e = 0; e < edits.size(); ++e) {
    Lines search = lines_of(edits[e].search), replace = lines_of(edits[e].replace);
    trim_blank_lines(search);
    const std::string which = "edit " + std::to_string(e + 1) + " of " + std::to_string(edits.size());
    if (search.empty()) return EditFailed{which + " has an empty search; quote the lines that it replaces"};
    const std::vector<size_t> places = places_of(search, lines);
    if (places.empty()) {
      return EditFailed{which + " searches for lines that do not occur exactly in the parent: " + quoted(search)};
    }
    if (places.size() > 1) {
      return EditFailed{
          which + " searches for lines that occur more than once in the parent; quote more of them: " + quoted(search)};
    }
    const auto from = lines.begin() + static_cast<std::ptrdiff_t>(places[0]);
    const auto at = lines.erase(from, from + static_cast<std::ptrdiff_t>(search.size()));
    lines.insert(at, replace.begin(), replace.end());
  }
  return core::join(lines, "\n") + "\n";
}

}  // namespace agent::prompting
