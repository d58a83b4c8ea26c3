// Replaces parts of a source.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace verifier {

struct Edit {
  size_t begin, end;  // bytes of the source, apart from other edits
  std::string text;
};

inline std::string rewrite(std::string_view source, std::vector<Edit> edits) {
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.begin > b.begin; });
  std::string rewritten(source);
  for (const Edit& edit : edits) rewritten.replace(edit.begin, edit.end - edit.begin, edit.text);
  return rewritten;
}

}  // namespace verifier
