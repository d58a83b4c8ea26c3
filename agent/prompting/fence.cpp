#include "agent/prompting/fence.h"

#include <algorithm>

namespace agent {

std::string fenced(std::string_view text, std::string_view language) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<size_t>(3, longest + 1), '`');
  std::string block = fence + std::string(language) + "\n" + std::string(text);
  if (block.back() != '\n') block += '\n';
  return block + fence + "\n";
}

}  // namespace agent
