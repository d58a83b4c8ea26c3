#include "results/view/text_diff.h"

#include <algorithm>
#include <dtl/dtl.hpp>
#include <sstream>
#include <vector>

#include "core/text.h"

namespace results::view {
namespace {
constexpr int64_t kComparedLines = 3000;  // of each text
constexpr size_t kShownBytes = 256 << 10;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = core::split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();  // after the last newline
  return lines;
}
}  // namespace

std::string unified_diff(const std::string& before, const std::string& after) {
  dtl::Diff<std::string> diff(lines_of(before), lines_of(after));
  diff.compose();
  diff.composeUnifiedHunks();
  std::ostringstream text;
  diff.printUnifiedFormat(text);
  return text.str();
}

std::string shown_diff(const std::string& before, const std::string& after) {
  const auto is_long = [](const std::string& text) { return std::ranges::count(text, '\n') > kComparedLines; };
  if (is_long(before) || is_long(after)) return "";
  return core::clean_text(unified_diff(before, after), kShownBytes);
}

}  // namespace results::view
