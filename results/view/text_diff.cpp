#include "results/view/text_diff.h"

#include <dtl/dtl.hpp>
#include <sstream>
#include <vector>

#include "core/text.h"

namespace results::view {
namespace {
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

}  // namespace results::view
